// Given to the compiler with -include: sign extension as two shifts, which is what a processor
// does best.  Verilator's own functions take about twice as many instructions, and a systolic
// array does little else.  Meaning is unchanged: tests run with and without this file.
#pragma once

#include "verilated.h"

#define CELOSIA_SIGNED(bits, value) (int32_t(IData(value) << (32 - (bits))) >> (32 - (bits)))
#define VL_EXTENDS_II(obits, lbits, lhs) (IData(CELOSIA_SIGNED(lbits, lhs)))
#define VL_MULS_III(lbits, lhs, rhs) \
  (IData(CELOSIA_SIGNED(lbits, lhs)) * IData(CELOSIA_SIGNED(lbits, rhs)))
