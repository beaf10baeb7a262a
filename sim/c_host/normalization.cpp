#include "normalization.h"

#include "arithmetic.h"

namespace celosia {

namespace {

constexpr uint64_t kSquares = (uint64_t(1) << kRootBits) - 1;

int64_t floor_quotient(int64_t x, int64_t by) { return x / by - (x % by < 0); }

}  // namespace

void add_moments(const TransformState& state, const std::vector<int64_t>& elements,
                 RowStatistics& kept) {
  if (state.how.start()) kept.total = 0, kept.squares = 0;
  for (int64_t q : elements) {
    kept.total = add(kept.total, q);
    kept.squares = (kept.squares + uint64_t(q * q)) & kSquares;
  }
  if (!state.how.finish()) return;
  int64_t channels = int64_t(state.norm.channels()), total = kept.total;
  int64_t mean = wrap(floor_quotient(2 * total + channels, 2 * channels), kMeanBits);
  // Sums that no row has wrap, as registers do.
  uint64_t distances = kept.squares + uint64_t(channels * mean * mean - 2 * mean * total);
  kept.mean = int32_t(mean);
  uint64_t divisor = std::max<uint64_t>(1, root(distances & kSquares));
  kept.reciprocal = uint32_t((uint64_t(1) << kRootReciprocalBits) / divisor);
}

int64_t normalized(int64_t q, const RowStatistics& kept) {
  int64_t product = (q - kept.mean) * int64_t(kept.reciprocal);
  int64_t y = round_half_up(product, kRootReciprocalBits - kNormalizedFractionBits);
  return wrap(y, kNormalizedBits);
}

int64_t affine(int64_t y, int32_t gamma, int32_t beta, uint64_t shift, uint64_t type) {
  int64_t x = round_half_up(y * int16_t(gamma) + beta, unsigned(shift)), top = kElementMax[type];
  return std::clamp<int64_t>(x, -top - 1, top);
}

}  // namespace celosia
