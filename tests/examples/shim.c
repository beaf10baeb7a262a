/* The C driver, compiled for a simulator: register accesses and the ring are calls to the test. */
#include <stddef.h>
#include <stdint.h>

struct bus {
  uint32_t (*read32)(uint32_t offset);
  void (*write32)(uint32_t offset, uint32_t value);
  void (*publish)(const void *entries, uint64_t bytes);
};

#define CELOSIA_READ32(base, offset) (((const struct bus *)(base))->read32(offset))
#define CELOSIA_WRITE32(base, offset, value) (((const struct bus *)(base))->write32(offset, value))

static const struct bus *the_bus;
#define CELOSIA_PUBLISH(pointer, bytes) the_bus->publish((const void *)(pointer), (uint64_t)(bytes))

#include "celosia.h"

static struct celosia device;

int shim_init(const struct bus *bus, unsigned dim, unsigned bus_bits) {
  the_bus = bus;
  return (int)celosia_init(&device, (uintptr_t)bus, dim, bus_bits);
}

int shim_permit(uint64_t read_base, uint64_t read_limit, uint64_t write_base,
                uint64_t write_limit) {
  return (int)celosia_permit(&device, read_base, read_limit, write_base, write_limit);
}

int shim_set_patience(uint64_t cycle_budget, uint32_t watchdog) {
  return (int)celosia_set_patience(&device, cycle_budget, watchdog);
}

int shim_open_ring(void *entries, uint64_t address, uint32_t size) {
  return (int)celosia_open_ring(&device, entries, address, size);
}

uint64_t shim_submit(const struct celosia_command *commands, uint64_t count) {
  return celosia_submit(&device, commands, (size_t)count);
}

int shim_run(const struct celosia_command *commands, uint64_t count) {
  return (int)celosia_run(&device, commands, (size_t)count);
}

int shim_poll(void) { return (int)celosia_poll(&device); }
int shim_wait(void) { return (int)celosia_wait(&device); }
int shim_clear(void) { return (int)celosia_clear(&device); }
int shim_busy(void) { return celosia_busy(&device); }
void shim_enable_interrupts(int done, int error) {
  celosia_enable_interrupts(&device, done, error);
}
uint32_t shim_acknowledge(void) { return celosia_acknowledge(&device); }
void shim_error(struct celosia_error *error) { *error = celosia_error(&device); }
uint64_t shim_commands(void) {
  return celosia_counter(&device, CELOSIA_COUNTER_COMMANDS_LO);
}
