/* What the examples share: random data, the result of a comparison, and words for fields.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <celosia.h>
#include <stdio.h>

#include "include/gemmini_params.h" /* DIM, elem_t, acc_t, ACC_SCALE and other sizes. */

/* The same numbers on every machine: -limit to limit. */
static inline int random_number(int limit) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (2 * (uint32_t)limit + 1)) - limit;
}

/* Where bytes are, as commands name it. */
static inline uint64_t address(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* Two or three fields of 16 bits. */
static inline uint64_t fields(unsigned high, unsigned middle, unsigned low) {
  return (uint64_t)high << 32 | (uint64_t)middle << 16 | low;
}

/* Prints what was found, and returns the exit code of a program. */
static inline int verdict(const char *what, int wrong, int all) {
  printf("%s: %d of %d elements differ, %llu cycles\n", what, wrong, all,
         (unsigned long long)celosia_cycles());
  return wrong != 0;
}

#endif
