/* C = ReLU(scale * (A*B + D)), twice: once by moves and products of tiles, and once by LOOP_WS, which
 * stands for all of them. */
#include "common.h"

enum { I = 3, J = 2, K = 4, ROWS = I * DIM - 1, COLS = J * DIM - 2, INNER = K * DIM - 1 };
enum { B_ROW = I * K * DIM }; /* Where B begins in the scratchpad: behind A. */

static elem_t a[ROWS][INNER], b[INNER][COLS], c[ROWS][COLS];
static acc_t d[ROWS][COLS];
static const float scale = 0.01f;

/* Rows or columns of the tile with this number, where the last one may lack some. */
static unsigned extent(int tile, int all) {
  return (unsigned)(all - tile * DIM < DIM ? all - tile * DIM : DIM);
}

static void configure(void) {
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ex(1, 0, 0), (uint64_t)1 << 48);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(DIM, 0), sizeof a[0]);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(DIM, 1), sizeof b[0]);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_ld(DIM, 2), sizeof d[0]);
  celosia_cmd(CELOSIA_CONFIG, celosia_config_st(1), celosia_store(sizeof c[0], scale));
}

static void load(void) {
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < I; i++)
      celosia_cmd(CELOSIA_MVIN, address(&a[i * DIM][k * DIM]),
                  celosia_tile((uint32_t)((i * K + k) * DIM), extent(k, INNER), extent(i, ROWS)));
    for (int j = 0; j < J; j++)
      celosia_cmd(CELOSIA_MVIN2, address(&b[k * DIM][j * DIM]),
                  celosia_tile((uint32_t)(B_ROW + (k * J + j) * DIM), extent(j, COLS),
                               extent(k, INNER)));
  }
}

static void multiply(int i, int j, uint32_t sum) {
  unsigned rows = extent(i, ROWS), cols = extent(j, COLS);
  celosia_cmd(CELOSIA_MVIN3, address(&d[i * DIM][j * DIM]),
              celosia_tile(CELOSIA_ACCUMULATOR + sum, cols, rows));
  for (int k = 0; k < K; k++) {
    unsigned inner = extent(k, INNER);
    celosia_cmd(CELOSIA_PRELOAD, celosia_tile((uint32_t)(B_ROW + (k * J + j) * DIM), cols, inner),
                celosia_tile(CELOSIA_ACCUMULATE + sum, cols, rows));
    celosia_cmd(CELOSIA_COMPUTE_PRELOADED, celosia_tile((uint32_t)((i * K + k) * DIM), inner, rows),
                celosia_tile(CELOSIA_GARBAGE, cols, rows));
  }
  celosia_cmd(CELOSIA_MVOUT, address(&c[i * DIM][j * DIM]),
              celosia_tile(CELOSIA_ACCUMULATOR + sum, cols, rows));
}

static void by_primitives(void) {
  load();
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) multiply(i, j, (uint32_t)((i * J + j) * DIM));
}

static void by_loop(void) {
  celosia_cmd(CELOSIA_LOOP_WS + 1, fields(K * DIM - INNER, J * DIM - COLS, I * DIM - ROWS),
              fields(K, J, I));
  celosia_cmd(CELOSIA_LOOP_WS + 2, address(a), address(b));
  celosia_cmd(CELOSIA_LOOP_WS + 3, address(d), address(c));
  celosia_cmd(CELOSIA_LOOP_WS + 4, INNER, COLS);
  celosia_cmd(CELOSIA_LOOP_WS + 5, COLS, COLS);
  celosia_cmd(CELOSIA_LOOP_WS, 1, 0); /* Add to what is there: D. */
}

static int count_wrong(void) {
  int wrong = 0;
  for (int row = 0; row < ROWS; row++)
    for (int col = 0; col < COLS; col++) {
      acc_t sum = d[row][col];
      for (int k = 0; k < INNER; k++) sum += a[row][k] * b[k][col];
      acc_t scaled = ACC_SCALE(sum, scale);
      wrong += c[row][col] != (scaled < 0 ? 0 : scaled);
      c[row][col] = 85; /* So that the next one has to write it. */
    }
  return wrong;
}

int main(void) {
  for (int k = 0; k < INNER; k++) {
    for (int row = 0; row < ROWS; row++) a[row][k] = (elem_t)random_number(127);
    for (int col = 0; col < COLS; col++) b[k][col] = (elem_t)random_number(127);
  }
  for (int row = 0; row < ROWS; row++)
    for (int col = 0; col < COLS; col++) d[row][col] = random_number(1000);
  configure();
  by_primitives();
  celosia_fence();
  int wrong = verdict("product by primitives", count_wrong(), ROWS * COLS);
  by_loop();
  celosia_fence();
  return verdict("product by LOOP_WS", count_wrong(), ROWS * COLS) | wrong;
}
