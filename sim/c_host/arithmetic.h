// The arithmetic of celosia.isa.numerics, for one element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace celosia {

inline float as_float(uint64_t bits) {
  uint32_t word = uint32_t(bits);
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

inline int8_t saturate(int64_t x) { return int8_t(std::clamp<int64_t>(x, -128, 127)); }

// float32(x) times a scale, rounded to nearest, ties to even; NaN is 0.
inline int8_t requantize(int32_t x, float scale) {
  float whole = std::nearbyint(float(x) * scale);
  if (std::isnan(whole)) return 0;
  return int8_t(std::clamp(whole, -128.0f, 127.0f));
}

inline int64_t round_shift(int64_t x, unsigned shift) {
  if (!shift) return x;
  int64_t half = int64_t(1) << (shift - 1), kept = x >> shift, rest = x - kept * 2 * half;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

inline int32_t add(int32_t a, int64_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }

}  // namespace celosia
