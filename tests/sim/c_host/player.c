/* Plays a program: player BASE memory.bin commands.bin result.bin
 * Memory of the image's size is made at BASE; a command is 24 bytes, as in a ring. */
#define _GNU_SOURCE
#include <celosia.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct command {
  uint32_t funct, zero;
  uint64_t rs1, rs2;
};

static size_t read_file(const char *path, void *target, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  size = fread(target, 1, size, file);
  fclose(file);
  return size;
}

int main(int count, char **words) {
  static unsigned char image[1 << 22];
  static struct command commands[1 << 16];
  if (count != 5) return 2;
  size_t size = read_file(words[2], image, sizeof image);
  size_t bytes = read_file(words[3], commands, sizeof commands);
  unsigned char *memory = mmap((void *)(uintptr_t)strtoull(words[1], NULL, 0), size,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) return 2;
  for (size_t i = 0; i < size; i++) memory[i] = image[i];
  for (size_t i = 0; i < bytes / sizeof *commands; i++)
    celosia_cmd(commands[i].funct, commands[i].rs1, commands[i].rs2);
  celosia_fence();
  FILE *file = fopen(words[4], "wb");
  if (!file || fwrite(memory, 1, size, file) != size) return 2;
  fclose(file);
  return 0;
}
