// Local addresses, and matrices in local memories.
#pragma once

#include <optional>

#include "isa.h"
#include "presets.h"

namespace celosia {

struct Local {
  uint32_t row;
  bool accumulator, accumulate, full;
  uint32_t norm;

  explicit Local(uint64_t word)
      : row(uint32_t(word) & kRowMask),
        accumulator(word & kAccumulatorBit),
        accumulate(word & kAccumulateBit),
        full(word & kFullBit),
        norm(uint32_t(word) >> kNormLow & kNormMask) {}

  static bool is_garbage(uint64_t word) {
    return (uint32_t(word) | kNormMask << kNormLow) == kGarbage;
  }
};

struct LocalMemories {
  int8_t* scratchpad;
  int32_t *accumulator, *parameters;
};

struct Operand {
  Local local;
  uint64_t rows, cols;  // After transposition.
  uint64_t stride = 1;
  bool transposed = false;

  uint64_t lines() const { return transposed ? cols : rows; }
  uint64_t end() const { return lines() ? local.row + (lines() - 1) * stride + 1 : 0; }
  bool overlaps(const Operand& o) const {
    return !local.accumulator && !o.local.accumulator && local.row < o.end() && o.local.row < end();
  }
  // Line i of this is line i of the other one.
  bool replaces(const Operand& o) const { return local.row == o.local.row && stride == o.stride; }
};
using Maybe = std::optional<Operand>;

inline uint32_t rows_of(const Configuration& known, bool accumulator) {
  return accumulator ? known.accumulator_rows : known.scratchpad_rows;
}

// The first rule that C = A*W + D breaks; with `stays`, the result is what stays in the array.
inline Cause check_product(const Configuration& known, const Maybe& a, const Maybe& w,
                           const Maybe& d, const Maybe& c, bool stays) {
  uint64_t dim = known.dim;
  for (const Maybe* x : {&a, &w, &d})
    if (*x && (*x)->local.accumulator) return kCauseUnsupported;
  if (stays)
    for (const Maybe* x : {&a, &c, &d})
      if (*x && (*x)->rows > dim) return kCauseShape;
  if ((w && w->rows > dim) || (a && a->transposed && a->rows > dim)) return kCauseShape;
  for (const Maybe* x : {&a, &w, &c, &d})
    if (*x && (*x)->cols > dim) return kCauseShape;
  for (const Maybe* x : {&a, &w, &d, &c})
    if (*x && (*x)->end() > rows_of(known, (*x)->local.accumulator)) return kCauseLocalRange;
  for (const Maybe* x : {&a, &w, &d})
    if (c && *x && c->overlaps(**x) && !(stays && c->replaces(**x))) return kCauseOverlap;
  return kCauseNone;
}

}  // namespace celosia
