#include "softmax.h"

#include "arithmetic.h"
#include "polynomials.h"

namespace celosia {

namespace {

bool is_visible(const ConfigMask& mask, uint64_t row, uint64_t col) {
  uint64_t key = mask.first_key() + col;
  return (mask.keys() == kNoKeyLimit || key < mask.keys()) &&
         !(mask.causal() && key > mask.first_row() + row);
}

int64_t probability(int64_t e, uint32_t reciprocal, uint64_t type) {
  int64_t top = kElementMax[type];
  return std::min(round_half_up(e * (int64_t(reciprocal) * top), kSumReciprocalBits), top);
}

int64_t numerator(int64_t e, uint64_t unit) {
  return std::min<int64_t>(round_half_up(e * int64_t(unit), kNumeratorShift), kNumeratorMax);
}

}  // namespace

void softmax_row(const TransformOperation& operation, uint64_t row, std::vector<int64_t>& elements,
                 RowStatistics& kept) {
  const TransformState& state = operation.state();
  const uint64_t function = operation.function();
  const bool counts = function == kFunctionExponent || function == kFunctionSum;
  float scale = as_float(state.how.scale());
  if (state.how.start() && function == kFunctionMaximum) kept.maximum = INT32_MIN;
  if (state.how.start() && counts) kept.total = 0;
  const int64_t top = requantize_int16(kept.maximum, scale);
  for (uint64_t col = 0; col < elements.size(); col++) {
    bool visible = is_visible(state.mask, row, col);
    int64_t& x = elements[col];
    if (function == kFunctionMaximum) {
      if (visible) kept.maximum = std::max(kept.maximum, int32_t(x));
      continue;
    }
    int64_t distance = std::min<int64_t>(requantize_int16(x, scale) - top, 0);
    x = visible ? exponential(state.exponent, distance) : 0;
    if (function == kFunctionProbability) x = probability(x, kept.reciprocal, state.how.type());
    if (function == kFunctionExponent) x = numerator(x, state.exponent.unit());
    if (counts) kept.total = add(kept.total, x);
  }
  if (!state.how.finish() || !counts) return;
  uint64_t divisor = std::max<uint64_t>(1, uint32_t(kept.total));
  kept.reciprocal = uint32_t((uint64_t(1) << kSumReciprocalBits) / divisor);
}

}  // namespace celosia
