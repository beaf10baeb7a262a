/* Moves a matrix into the scratchpad and out again, and one into the accumulator, where the rows of
 * another are added.  The data are on the stack, and no stride is that of another. */
#include "common.h"

enum { ROWS = 2 * DIM - 1, COLS = 2 * DIM, PITCH = COLS + 3 };

int main(void) {
  elem_t from[ROWS][PITCH], to[ROWS][COLS + 1];
  acc_t first[DIM][DIM], second[DIM][DIM], sum[DIM][DIM];
  int wrong = 0;
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < PITCH; c++) from[r][c] = (elem_t)random_number(127);
  for (int r = 0; r < DIM; r++)
    for (int c = 0; c < DIM; c++)
      first[r][c] = random_number(1 << 20), second[r][c] = random_number(1 << 20);

  /* A block of DIM columns behind the other: the second one is 2*DIM local rows further. */
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(2 * DIM, 0), sizeof from[0]);
  celosia_cmd(CELOSIA_MVIN, address(from), celosia_tile(0, DIM, ROWS));
  celosia_cmd(CELOSIA_MVIN, address(&from[0][DIM]), celosia_tile(2 * DIM, COLS - DIM, ROWS));
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(0), celosia_store(sizeof to[0], 1));
  celosia_cmd(CELOSIA_MVOUT, address(to), celosia_tile(0, DIM, ROWS));
  celosia_cmd(CELOSIA_MVOUT, address(&to[0][DIM]), celosia_tile(2 * DIM, COLS - DIM, ROWS));

  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(DIM, 1), sizeof first[0]);
  celosia_cmd(CELOSIA_MVIN2, address(first), celosia_tile(CELOSIA_ACCUMULATOR, DIM, DIM));
  celosia_cmd(CELOSIA_MVIN2, address(second), celosia_tile(CELOSIA_ACCUMULATE, DIM, DIM));
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(0), celosia_store(sizeof sum[0], 1));
  celosia_cmd(CELOSIA_MVOUT, address(sum), celosia_tile(CELOSIA_FULL, DIM, DIM));
  celosia_fence();

  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLS; c++) wrong += to[r][c] != from[r][c];
  for (int r = 0; r < DIM; r++)
    for (int c = 0; c < DIM; c++) wrong += sum[r][c] != first[r][c] + second[r][c];
  return verdict("move", wrong, ROWS * COLS + DIM * DIM);
}
