#include "transform_operation.h"

#include <algorithm>
#include <cmath>

#include "arithmetic.h"

namespace celosia {

namespace {

constexpr uint64_t kStagedBytes = kElementBytes[kTypeInt16];

}  // namespace

bool TransformState::configure(const Command& command) {
  if (ConfigTransform::matches(command))
    how = ConfigTransform(command);
  else if (ConfigRows::matches(command))
    rows = ConfigRows(command);
  else if (ConfigNorm::matches(command))
    norm = ConfigNorm(command);
  else if (ConfigMask::matches(command))
    mask = ConfigMask(command);
  else if (ConfigExponent::matches(command))
    exponent = ConfigExponent(command);
  else if (ConfigGelu::matches(command))
    gelu = ConfigGelu(command);
  else
    return false;
  return true;
}

Rows TransformOperation::source() const {
  uint64_t bytes = rules().staged ? kStagedBytes : 1;
  return {Local(given_.local()), state_.rows.source_stride(), blocks(bytes)};
}

Rows TransformOperation::residual() const {
  return {Local(state_.rows.residual()), state_.rows.residual_stride(), blocks(kStagedBytes)};
}

Rows TransformOperation::result(bool second) const {
  uint64_t count = blocks(kElementBytes[type(second)]);
  if (second) return {Local(given_.target2()), state_.norm.target2_stride(), count};
  return {Local(given_.target()), state_.rows.target_stride(), count};
}

std::vector<Rows> TransformOperation::read() const {
  std::vector<Rows> all{source()};
  if (function() == kFunctionResidual) all.push_back(residual());
  return all;
}

Cause TransformOperation::check() const {
  if (function() >= kFunctions || !is_supported()) return kCauseUnsupported;
  if (rules().scores && !keeps_order()) return kCauseScale;
  if (!has_shape()) return kCauseShape;
  if (!exists()) return kCauseLocalRange;
  return overlaps() ? kCauseOverlap : kCauseNone;
}

bool TransformOperation::is_supported() const {
  if (source().local.accumulator == rules().staged) return false;
  if (function() == kFunctionResidual && residual().local.accumulator) return false;
  for (uint64_t i = 0; i < results(); i++)
    if (result(i).local.accumulator || !(rules().types >> type(i) & 1)) return false;
  return true;
}

// Scores are compared before they are scaled.
bool TransformOperation::keeps_order() const {
  float scale = as_float(state_.how.scale());
  return scale > 0 && std::isfinite(scale) && !state_.how.column_scale();
}

bool TransformOperation::has_shape() const {
  uint64_t channels = state_.norm.channels();
  bool finishes = counts_moments() && state_.how.finish();
  return cols() <= kMaxColumns && !(finishes && (!channels || channels > kMaxColumns));
}

bool TransformOperation::exists() const {
  std::vector<Rows> all = read();
  for (uint64_t i = 0; i < results(); i++) all.push_back(result(i));
  for (const Rows& each : all)
    if (each.last(rows()) >= rows_of(c_, each.local.accumulator)) return false;
  if (uses_statistics() && state_.how.statistics() + rows() > c_.statistics_rows) return false;
  return has_parameters();
}

bool TransformOperation::has_parameters() const {
  auto exist = [this](uint64_t first, uint64_t count) {
    return first + count <= c_.parameter_rows;
  };
  if (function() == kFunctionLayernorm)
    return exist(state_.norm.parameter_row(), 2 * blocks(kStagedBytes));
  if (rules().staged) return true;
  return !(state_.how.bias() && !exist(state_.rows.bias_row(), blocks(1))) &&
         !(state_.how.column_scale() && !exist(state_.rows.scale_row(), blocks(1)));
}

bool TransformOperation::overlaps() const {
  auto meet = [this](const Rows& one, const Rows& other) {
    return one.local.row <= other.last(rows()) && other.local.row <= one.last(rows());
  };
  for (uint64_t i = 0; i < results(); i++)
    for (const Rows& each : read())
      if (!each.local.accumulator && meet(result(i), each)) return true;
  return results() == 2 && meet(result(false), result(true));
}

}  // namespace celosia
