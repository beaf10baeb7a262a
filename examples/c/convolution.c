/* A 3x3 convolution of two small images with bias, padding, ReLU and 2x2 max-pooling, as one
 * LOOP_CONV_WS.  Only accelerators built with `convolution` pool; on others, the program pools. */
#include "common.h"

enum { IMAGES = 2, SIZE = 6, IN = 3, OUT = DIM + 2, KERNEL = 3, PAD = 1, POOL = 2 };
#ifdef HAS_FIRST_LAYER_OPTIMIZATIONS /* Those that pool can pack pixels, too. */
enum { POOLS = 1, POOLED = SIZE / POOL, PACKED = KERNEL };
#else
enum { POOLS = 0, POOLED = SIZE, PACKED = 1 };
#endif

static elem_t input[IMAGES][SIZE][SIZE][IN], weights[KERNEL][KERNEL][IN][OUT];
static elem_t output[IMAGES][POOLED][POOLED][OUT];
static acc_t bias[OUT];
static const float scale = 0.005f;

/* Four fields of 16 bits. */
static uint64_t four(unsigned d, unsigned c, unsigned b, unsigned a) {
  return (uint64_t)d << 48 | fields(c, b, a);
}

static void convolve(void) {
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ex(1, 0, 0), (uint64_t)1 << 48);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(1), celosia_store(OUT, scale));
  /* Tensors in memory; then this tile, which is all of them. */
  celosia_cmd(16, four(OUT, IN, SIZE, IMAGES), four(PAD << 8 | 1, SIZE, POOLED, SIZE));
  celosia_cmd(17, four(KERNEL, POOLED, POOL, POOL << 8), four(IMAGES, POOLED, POOLED, OUT));
  celosia_cmd(18, four(KERNEL, KERNEL, IN, PAD), four(PAD, PAD, PAD << 8, SIZE));
  celosia_cmd(19, four(SIZE, 0, 0, 1), four(IN, OUT, OUT, SIZE));
  celosia_cmd(20, address(weights), address(output));
  celosia_cmd(21, address(bias), address(input));
  celosia_cmd(CELOSIA_LOOP_CONV_WS, PACKED << 8, (uint64_t)1 << 3 | !POOLS);
  celosia_fence();
}

/* A pixel before pooling. */
static elem_t pixel(int image, int row, int col, int och) {
  acc_t sum = bias[och];
  for (int r = row - PAD; r < row - PAD + KERNEL; r++)
    for (int c = col - PAD; c < col - PAD + KERNEL; c++)
      for (int i = 0; r >= 0 && r < SIZE && c >= 0 && c < SIZE && i < IN; i++)
        sum += input[image][r][c][i] * weights[r - row + PAD][c - col + PAD][i][och];
  acc_t scaled = ACC_SCALE(sum, scale);
  return (elem_t)(scaled < 0 ? 0 : scaled);
}

static elem_t pooled(int image, int row, int col, int och) {
  if (!POOLS) return pixel(image, row, col, och);
  elem_t most = 0;
  for (int i = 0; i < POOL * POOL; i++) {
    elem_t one = pixel(image, row * POOL + i / POOL, col * POOL + i % POOL, och);
    if (one > most) most = one;
  }
  return most;
}

int main(void) {
  int wrong = 0;
  for (size_t i = 0; i < sizeof input; i++) (&input[0][0][0][0])[i] = (elem_t)random_number(127);
  for (size_t i = 0; i < sizeof weights; i++) (&weights[0][0][0][0])[i] = (elem_t)random_number(127);
  for (int och = 0; och < OUT; och++) bias[och] = random_number(5000);
  convolve();
  for (int image = 0; image < IMAGES; image++)
    for (int row = 0; row < POOLED; row++)
      for (int col = 0; col < POOLED; col++)
        for (int och = 0; och < OUT; och++)
          wrong += output[image][row][col][och] != pooled(image, row, col, och);
  return verdict("convolution", wrong, IMAGES * POOLED * POOLED * OUT);
}
