/* Softmax of rows of int32 scores, in three walks over the accumulator: the rows' maxima, the sums of
 * their exponentials, and the probabilities, of which 255 is a real 1.  Celosia's own TRANSFORM does
 * it (docs/isa.md); accelerators built without `normalization` do not have it. */
#include <math.h>

#include "common.h"

enum { ROWS = DIM + 1, COLS = 3 * DIM - 1, BLOCKS = 3 };
enum { CONFIG_TRANSFORM = 35, TRANSFORM = 36, MAXIMUM = 1, SUM = 3, PROBABILITY = 4, UINT8 = 1 };
static const float unit = 1.0f / 64; /* Of a score. */

static acc_t scores[ROWS][COLS];
static uint8_t probabilities[ROWS][COLS];

/* One walk; with `start`, sums and maxima begin afresh, with `finish` they are complete. */
static void walk(int function, int start, int finish) {
  uint64_t how = (uint64_t)function << 3 | UINT8 << 7 | (uint64_t)start << 15 | (uint64_t)finish << 16;
  /* Scores enter the exponential with 10 fraction bits. */
  celosia_cmd(CONFIG_TRANSFORM, how, celosia_bits(unit * 1024));
  celosia_cmd(TRANSFORM, 0, celosia_tile(CELOSIA_ACCUMULATOR, COLS, ROWS));
}

int main(void) {
  int wrong = 0;
  for (int row = 0; row < ROWS; row++)
    for (int col = 0; col < COLS; col++) scores[row][col] = random_number(200);

  /* A block of DIM columns takes ROWS local rows, of the accumulator and of the scratchpad. */
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(ROWS, 0), sizeof scores[0]);
  for (int block = 0; block < BLOCKS; block++)
    celosia_cmd(CELOSIA_MVIN, address(&scores[0][block * DIM]),
                celosia_tile(CELOSIA_ACCUMULATOR + (uint32_t)(block * ROWS),
                             block < BLOCKS - 1 ? DIM : COLS - block * DIM, ROWS));
  celosia_cmd(CONFIG_TRANSFORM, (uint64_t)ROWS << 32 | ROWS << 16 | 1, 0);
  walk(MAXIMUM, 1, 0);
  walk(SUM, 1, 1);
  walk(PROBABILITY, 0, 0);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(0), celosia_store(sizeof probabilities[0], 1));
  for (int block = 0; block < BLOCKS; block++)
    celosia_cmd(CELOSIA_MVOUT, address(&probabilities[0][block * DIM]),
                celosia_tile((uint32_t)(block * ROWS),
                             block < BLOCKS - 1 ? DIM : COLS - block * DIM, ROWS));
  celosia_fence();

  for (int row = 0; row < ROWS; row++) {
    double sum = 0;
    for (int col = 0; col < COLS; col++) sum += exp(scores[row][col] * (double)unit);
    for (int col = 0; col < COLS; col++) {
      double exact = 255 * exp(scores[row][col] * (double)unit) / sum;
      wrong += fabs(probabilities[row][col] - exact) > 1;
    }
  }
  return verdict("softmax (to within 1)", wrong, ROWS * COLS);
}
