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

// float32(x) times a scale, rounded to nearest, ties to even; NaN is 0.  The range has up to 24
// bits, so that float32 holds its bounds.
inline int64_t requantize(int32_t x, float scale, int64_t low, int64_t high) {
  float whole = std::nearbyint(float(x) * scale);
  if (std::isnan(whole)) whole = 0;
  return int64_t(std::clamp(whole, float(low), float(high)));
}

inline int8_t requantize(int32_t x, float scale) {
  return int8_t(requantize(x, scale, -128, 127));
}

inline int64_t requantize_int16(int64_t x, float scale) {
  return requantize(int32_t(x), scale, INT16_MIN, INT16_MAX);
}

inline int64_t round_shift(int64_t x, unsigned shift) {
  if (!shift) return x;
  int64_t half = int64_t(1) << (shift - 1), kept = x >> shift, rest = x - kept * 2 * half;
  return kept + (rest > half || (rest == half && (kept & 1)));
}

// `x` / 2^shift, to nearest, halves upwards.
inline int64_t round_half_up(int64_t x, unsigned shift) {
  return (x + (int64_t(1) << shift >> 1)) >> shift;
}

// The low `bits` of a number, as a signed one.
inline int64_t wrap(int64_t x, unsigned bits) {
  return int64_t(uint64_t(x) << (64 - bits)) >> (64 - bits);
}

// Of up to 48 bits: a float64 tells the root of k^2 - 1 from k.
inline uint64_t root(uint64_t x) { return uint64_t(std::sqrt(double(x))); }

inline int32_t add(int32_t a, int64_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }

}  // namespace celosia
