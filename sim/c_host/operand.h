// Local addresses, and matrices in local memories.
#pragma once

#include <optional>

#include "isa.h"

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
};
using Maybe = std::optional<Operand>;

}  // namespace celosia
