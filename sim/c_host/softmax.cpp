#include "softmax.h"

namespace celosia {

namespace {

constexpr uint64_t kInfinity = 0x7F800000;  // Bits of larger numbers, or of no positive ones.
constexpr uint64_t kMaxColumns = 4096;

// `x` / 2^shift, to nearest, halves up.
int64_t round_half_up(int64_t x, unsigned shift) {
  return (x + (int64_t(1) << shift >> 1)) >> shift;
}

// float32(x) times a scale, rounded, in low to high.
int64_t scaled(int32_t x, float scale, int64_t low, int64_t high) {
  double whole = std::nearbyint(float(x) * scale);
  if (std::isnan(whole)) return std::clamp<int64_t>(0, low, high);
  return int64_t(std::clamp(whole, double(low), double(high)));
}

}  // namespace

Cause SoftmaxUnit::configure(const Command& command) {
  switch (command.rs1 & 7) {
    case 0:
      how_ = ConfigTransform(command);
      return kCauseNone;
    case 1:
      rows_ = ConfigRows(command);
      return kCauseNone;
    case 3:
      mask_ = ConfigMask(command);
      return kCauseNone;
    case 4:
      exponent_ = ConfigExponent(command);
      return kCauseNone;
    case 2:
    case 5:  // Of functions that are not here.
      return kCauseNone;
    default:
      return kCauseUnsupported;
  }
}

Cause SoftmaxUnit::run(const Transform& given) {
  if (!given.local_rows() || !given.local_cols()) return kCauseNone;
  if (Cause cause = check(given)) return cause;
  for (uint64_t row = 0; row < given.local_rows(); row++) {
    uint64_t slot = how_.statistics() + row;
    begin(slot, given, row);
    for (uint64_t col = 0; col < given.local_cols() && how_.function() != kMaximum; col++) {
      int64_t value = result(element(given, row, col), slot, row, col);
      if (has_result()) write(given, row, col, value);
    }
    finish(slot);
  }
  return kCauseNone;
}

Cause SoftmaxUnit::check(const Transform& given) const {
  Local local(given.local()), target(given.target());
  uint64_t function = how_.function(), type = how_.type(), rows = given.local_rows();
  bool scores = function >= kMaximum && function <= kProbability;
  if (!local.accumulator || (has_result() && target.accumulator)) return kCauseUnsupported;
  if (function == kExponent ? type != kUint8 : has_result() && function && type == kInt32)
    return kCauseUnsupported;
  if (scores && (!how_.scale() || how_.scale() >= kInfinity || how_.column_scale()))
    return kCauseScale;
  if (given.local_cols() > kMaxColumns) return kCauseShape;
  uint64_t parts = blocks(given.local_cols()), results = blocks(given.local_cols() * bytes());
  bool exists = local.row + rows + (parts - 1) * rows_.source_stride() <= c_.accumulator_rows;
  if (has_result())
    exists &= target.row + rows + (results - 1) * rows_.target_stride() <= c_.scratchpad_rows;
  if (how_.bias()) exists &= rows_.bias_row() + parts <= c_.parameter_rows;
  if (how_.column_scale()) exists &= rows_.scale_row() + parts <= c_.parameter_rows;
  if (function) exists &= how_.statistics() + rows <= c_.statistics_rows;
  return exists ? kCauseNone : kCauseLocalRange;
}

int32_t SoftmaxUnit::element(const Transform& given, uint64_t row, uint64_t col) const {
  uint64_t block = col / c_.dim * rows_.source_stride(), place = Local(given.local()).row + row;
  int32_t x = memories_.accumulator[(place + block) * c_.dim + col % c_.dim];
  return how_.bias() ? add(x, memories_.parameters[rows_.bias_row() * c_.dim + col]) : x;
}

bool SoftmaxUnit::is_visible(uint64_t row, uint64_t col) const {
  uint64_t key = mask_.first_key() + col, none = ConfigMask().keys();  // No limit is the default.
  return (mask_.keys() == none || key < mask_.keys()) &&
         !(mask_.causal() && key > mask_.first_row() + row);
}

// Of a score's distance from the row's maximum.
int64_t SoftmaxUnit::exponent(int32_t x, int32_t maximum) const {
  float scale = as_float(how_.scale());
  int64_t d = scaled(x, scale, -32768, 32767) - scaled(maximum, scale, -32768, 32767);
  d = std::max(std::min<int64_t>(d, 0), -int64_t(exponent_.lowest()));
  int64_t z = -d * int64_t(exponent_.inverse_ln2()) >> 24, r = d + z * int64_t(exponent_.ln2());
  int64_t p = (r + int64_t(exponent_.b())) * r + int64_t(exponent_.c());
  return p >> exponent_.shift() >> z;
}

int64_t SoftmaxUnit::requantized(int32_t x, uint64_t col) const {
  if (how_.type() == kInt32) return x;
  uint64_t bits = how_.scale();
  if (how_.column_scale())
    bits = uint32_t(memories_.parameters[rows_.scale_row() * c_.dim + col]);
  bool is_signed = how_.type() != kUint8;
  int64_t zero = is_signed ? 0 : int64_t(how_.zero_point());
  int64_t low = how_.relu() ? 0 : is_signed ? -top() - 1 : -zero;
  return scaled(x, as_float(bits), low, top() - zero) + zero;
}

// What leaves; for EXPONENT and SUM, also what is added up.
int64_t SoftmaxUnit::result(int32_t x, uint64_t slot, uint64_t row, uint64_t col) {
  if (how_.function() == kRequantize) return requantized(x, col);
  if (how_.function() == kContext)
    return requantized(int32_t(round_half_up(int64_t(x) * int64_t(reciprocal_[slot]), 16)), col);
  int64_t e = is_visible(row, col) ? exponent(x, maximum_[slot]) : 0;
  if (how_.function() == kProbability) {
    unsigned __int128 product = (unsigned __int128)(e) * reciprocal_[slot] * uint64_t(top());
    return std::min(int64_t((product + (uint64_t(1) << 31)) >> 32), top());
  }
  if (how_.function() == kExponent)
    e = std::min<int64_t>(round_half_up(e * int64_t(exponent_.unit()), 24), 255);
  total_[slot] = add(total_[slot], e);
  return e;
}

void SoftmaxUnit::begin(uint64_t slot, const Transform& given, uint64_t row) {
  if (how_.function() == kMaximum) {
    int32_t most = how_.start() ? INT32_MIN : maximum_[slot];
    for (uint64_t col = 0; col < given.local_cols(); col++)
      if (is_visible(row, col)) most = std::max(most, element(given, row, col));
    maximum_[slot] = most;
  } else if (how_.start() && (how_.function() == kSum || how_.function() == kExponent)) {
    total_[slot] = 0;
  }
}

void SoftmaxUnit::finish(uint64_t slot) {
  if (!how_.finish() || (how_.function() != kSum && how_.function() != kExponent)) return;
  uint64_t divisor = std::max<uint64_t>(1, uint32_t(total_[slot]));
  reciprocal_[slot] = uint32_t((uint64_t(1) << 32) / divisor);
}

void SoftmaxUnit::write(const Transform& given, uint64_t row, uint64_t col, int64_t value) {
  for (uint64_t byte = col * bytes(); byte < (col + 1) * bytes(); byte++, value >>= 8) {
    uint64_t place = Local(given.target()).row + row + byte / c_.dim * rows_.target_stride();
    memories_.scratchpad[place * c_.dim + byte % c_.dim] = int8_t(value);
  }
}

}  // namespace celosia
