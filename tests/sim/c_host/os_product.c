/* C = relu(round(A*B + D, shift)), output-stationary, with the headers of Gemmini's programs and the
 * macros that gemmini.h has on top of them; A transposed, C in the scratchpad and on the way out.
 * Then C once more in the place of each operand, without a fence before the results are compared:
 * the clock is read instead. */
#include "include/gemmini_params.h"

#include "rocc-software/src/xcustom.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROCC_INSTRUCTION_RS1_RS2(x, rs1, rs2, funct) ROCC_INSTRUCTION_0_R_R(x, rs1, rs2, funct)
#define SIZE_AND_PLACE(place, cols, rows) \
  ((uint64_t)(rows) << (ADDR_LEN + 16)) | ((uint64_t)(cols) << ADDR_LEN) | (uint64_t)(place)
#define BOTH(rs1, rs2, first, second)                        \
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, rs1, rs2, first) \
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, rs1, rs2, second)

static acc_scale_t_bits bits_of(acc_scale_t x) {
  union {
    acc_scale_t f;
    acc_scale_t_bits b;
  } both;
  both.f = x;
  return both.b;
}

static uint32_t read_counter(size_t index) {
  uint32_t setting = (index & 7) << 4, result, placeholder = 0;
  ROCC_INSTRUCTION(XCUSTOM_ACC, result, setting, placeholder, 126)
  return result;
}

static int differences(elem_t x[DIM][DIM], elem_t y[DIM][DIM]) {
  int count = 0;
  for (size_t i = 0; i < DIM; i++)
    for (size_t j = 0; j < DIM; j++) count += x[i][j] != y[i][j];
  return count;
}

int main(void) {
  static elem_t a[DIM][DIM] row_align(1), b[DIM][DIM] row_align(1), c[DIM][DIM] row_align(1);
  static elem_t d[DIM][DIM] row_align(1);
  static acc_t unused[DIM] row_align_acc(1);
  const int shift = 5;
  const scale_t scale = MVIN_SCALE_IDENTITY;
  uint64_t cycles[3];
  int wrong = unused[0];
  for (size_t i = 0; i < DIM; i++)
    for (size_t j = 0; j < DIM; j++)
      a[i][j] = rand() % 64 - 32, b[i][j] = rand() % 64 - 32, d[i][j] = rand() % 256 - 128;
  BOTH(0, 0, 7, 7) /* Flush. */
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC,
                           (uint64_t)bits_of(ACC_SCALE_IDENTITY) << 32 | 1 << 16 | 1 << 8 | 1 << 3,
                           (uint64_t)1 << 48 | shift, 0)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, (uint64_t)bits_of(scale) << 32 | DIM << 16 | 1 << 8 | 1,
                           DIM * sizeof(elem_t), 0)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, 2, (uint64_t)bits_of(1) << 32 | DIM * sizeof(elem_t), 0)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, a, SIZE_AND_PLACE(0, DIM, DIM), 2)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, b, SIZE_AND_PLACE(DIM, DIM, DIM), 2)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, d, SIZE_AND_PLACE(2 * DIM, DIM, DIM), 2)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, SIZE_AND_PLACE(2 * DIM, DIM, DIM),
                           SIZE_AND_PLACE(3 * DIM, DIM, DIM), 6)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, SIZE_AND_PLACE(0, DIM, DIM),
                           SIZE_AND_PLACE(DIM, DIM, DIM), 4)
  ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, c, SIZE_AND_PLACE(3 * DIM, DIM, DIM), 3)
  celosia_fence();
  for (size_t i = 0; i < DIM; i++)
    for (size_t j = 0; j < DIM; j++) {
      full_t sum = d[i][j];
      for (size_t k = 0; k < DIM; k++) sum += a[k][i] * b[k][j];
      full_t shifted = ROUNDING_RIGHT_SHIFT(sum, shift);
      elem_t wanted = shifted > elem_t_max ? elem_t_max : shifted < 0 ? 0 : shifted;
      wrong += c[i][j] != wanted;
    }
  for (int operand = 0; operand < 3; operand++) {
    const int place = operand * DIM;
    static elem_t again[3][DIM][DIM] row_align(1);
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, a, SIZE_AND_PLACE(0, DIM, DIM), 2)
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, b, SIZE_AND_PLACE(DIM, DIM, DIM), 2)
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, d, SIZE_AND_PLACE(2 * DIM, DIM, DIM), 2)
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, SIZE_AND_PLACE(2 * DIM, DIM, DIM),
                             SIZE_AND_PLACE(place, DIM, DIM), 6)
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, SIZE_AND_PLACE(0, DIM, DIM),
                             SIZE_AND_PLACE(DIM, DIM, DIM), 4)
    ROCC_INSTRUCTION_RS1_RS2(XCUSTOM_ACC, again[operand], SIZE_AND_PLACE(place, DIM, DIM), 3)
    cycles[operand] = celosia_cycles();
    wrong += differences(again[operand], c);
  }
  wrong += cycles[2] <= cycles[1] || cycles[1] <= cycles[0] || cycles[2] != celosia_cycles();
  for (int x = -300; x <= 300; x++) { /* Ties to even, and saturation. */
    int half = x / 2 + (x % 2 && (x / 2) % 2 ? (x > 0 ? 1 : -1) : 0);
    half = half > 127 ? 127 : half < -128 ? -128 : half;
    wrong += ACC_SCALE(x, 0.5f) != half;
    wrong += x == (elem_t)x && MVIN_SCALE((elem_t)x, 0.5f) != half;
    int even = x / 2 + (x % 2 && (x / 2) % 2 ? (x > 0) - (x < 0) : 0);
    wrong += ROUNDING_RIGHT_SHIFT((full_t)x, 1) != even;
    wrong += ROUNDING_RIGHT_SHIFT_BITS((full_t)x, 1) != even;
  }
  printf("%d wrong, counter %u\n", wrong, read_counter(0));
  return wrong != 0;
}
