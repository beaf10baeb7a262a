#include "transform.h"

#include "arithmetic.h"
#include "normalization.h"
#include "softmax.h"

namespace celosia {

Cause TransformUnit::configure(const Command& command) {
  if (!state_.configure(command)) return kCauseUnsupported;
  if (ConfigExponent::matches(command)) exponent_problem_ = celosia::problem(state_.exponent);
  if (ConfigGelu::matches(command)) gelu_problem_ = celosia::problem(state_.gelu);
  return kCauseNone;
}

std::string TransformUnit::problem(const TransformOperation& operation) const {
  if (operation.function() == kFunctionGelu) return gelu_problem_;
  bool exponents = operation.rules().scores && operation.function() != kFunctionMaximum;
  return exponents ? exponent_problem_ : "";
}

void TransformUnit::execute(const TransformOperation& operation) {
  // Functions without statistics may name slots that do not exist.
  const bool known = operation.rules().statistics || operation.counts_moments();
  RowStatistics none;
  for (uint64_t row = 0; row < operation.rows(); row++)
    run(operation, row, known ? statistics_[state_.how.statistics() + row] : none);
}

void TransformUnit::run(const TransformOperation& operation, uint64_t row, RowStatistics& kept) {
  const Rows source = operation.source();
  const uint64_t cols = operation.cols();
  Elements x = operation.rules().staged ? staged(source, row, cols)
                                        : accumulated(source, row, cols);
  switch (operation.function()) {
    case kFunctionLayernorm:
      for (uint64_t i = 0; i < operation.results(); i++)
        write(operation, i, row, normalized_row(x, kept, i));
      return;
    case kFunctionRequantize:
      for (uint64_t col = 0; col < cols; col++) x[col] = requantized(x[col], col);
      break;
    case kFunctionContext:
      for (uint64_t col = 0; col < cols; col++) {
        int64_t product = x[col] * int64_t(kept.reciprocal);
        int64_t quotient = round_half_up(product, kSumReciprocalBits - kContextFractionBits);
        x[col] = requantized(int32_t(quotient), col);
      }
      break;
    case kFunctionGelu:
      for (uint64_t col = 0; col < cols; col++) {
        int64_t raw = raw_gelu(state_.gelu, requantize_int16(x[col], scale(col)));
        x[col] = narrow(raw, as_float(state_.how.scale2()), false);
      }
      break;
    case kFunctionResidual:
      add_residual(operation, row, x);
      break;
    default:
      if (operation.rules().scores) softmax_row(operation, row, x, kept);
  }
  if (operation.counts_moments()) add_moments(state_, x, kept);
  if (operation.results()) write(operation, false, row, x);
}

// A row of the accumulator.
TransformUnit::Elements TransformUnit::accumulated(const Rows& rows, uint64_t row,
                                                   uint64_t cols) const {
  Elements x(cols);
  for (uint64_t col = 0; col < cols; col++) {
    uint64_t place = rows.local.row + row + col / c_.dim * rows.stride;
    x[col] = memories_.accumulator[place * c_.dim + col % c_.dim];
    if (state_.how.bias()) x[col] = add(int32_t(x[col]), parameter(state_.rows.bias_row(), col));
  }
  return x;
}

// A row of int16 in the scratchpad.
TransformUnit::Elements TransformUnit::staged(const Rows& rows, uint64_t row,
                                              uint64_t cols) const {
  auto byte = [&](uint64_t number) {
    uint64_t place = rows.local.row + row + number / c_.dim * rows.stride;
    return memories_.scratchpad[place * c_.dim + number % c_.dim];
  };
  Elements x(cols);
  for (uint64_t col = 0; col < cols; col++)
    x[col] = byte(2 * col + 1) * 256 + uint8_t(byte(2 * col));
  return x;
}

float TransformUnit::scale(uint64_t col) const {
  if (!state_.how.column_scale()) return as_float(state_.how.scale());
  return as_float(uint32_t(parameter(state_.rows.scale_row(), col)));
}

// Scaled into the type of the result.
int64_t TransformUnit::narrow(int64_t x, float scale, bool rectify) const {
  uint64_t type = state_.how.type();
  int64_t zero = type == kTypeUint8 ? int64_t(state_.how.zero_point()) : 0;
  int64_t low = rectify ? 0 : kElementMin[type] - zero;
  return requantize(int32_t(x), scale, low, kElementMax[type] - zero) + zero;
}

int64_t TransformUnit::requantized(int64_t x, uint64_t col) const {
  return state_.how.type() == kTypeInt32 ? x : narrow(x, scale(col), state_.how.relu());
}

void TransformUnit::add_residual(const TransformOperation& operation, uint64_t row,
                                 Elements& x) const {
  Elements stream = staged(operation.residual(), row, x.size());
  for (uint64_t col = 0; col < x.size(); col++) {
    int64_t sum = requantize_int16(x[col], scale(col)) +
                  requantize_int16(stream[col], as_float(state_.how.scale2()));
    x[col] = std::clamp<int64_t>(sum, INT16_MIN, INT16_MAX);
  }
}

// Gamma and beta of a result are its half of each parameter row, one behind the other.
TransformUnit::Elements TransformUnit::normalized_row(const Elements& q, const RowStatistics& kept,
                                                      bool second) const {
  const ConfigNorm& norm = state_.norm;
  const uint64_t half = c_.dim / 2, shift = second ? norm.shift2() : norm.shift();
  const uint64_t type = second ? norm.type2() : state_.how.type();
  Elements y(q.size());
  for (uint64_t col = 0; col < q.size(); col++) {
    uint64_t row = norm.parameter_row() + col / half * 2, place = second * half + col % half;
    y[col] = affine(normalized(q[col], kept), parameter(row, place), parameter(row + 1, place),
                    shift, type);
  }
  return y;
}

void TransformUnit::write(const TransformOperation& operation, bool second, uint64_t row,
                          const Elements& x) {
  const Rows rows = operation.result(second);
  const uint64_t bytes = kElementBytes[operation.type(second)];
  for (uint64_t number = 0; number < x.size() * bytes; number++) {
    uint64_t place = rows.local.row + row + number / c_.dim * rows.stride;
    memories_.scratchpad[place * c_.dim + number % c_.dim] =
        int8_t(x[number / bytes] >> number % bytes * 8);
  }
}

}  // namespace celosia
