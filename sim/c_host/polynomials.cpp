#include "polynomials.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace celosia {

namespace {

constexpr int64_t kHalf = int64_t(1) << 31;

// The steps of an exponential.
struct Exponential {
  Exponential(const ConfigExponent& constants, int64_t distance) {
    int64_t d = std::clamp<int64_t>(distance, -int64_t(constants.lowest()), 0);
    quotient = -d * int64_t(constants.inverse_ln2()) >> kQuotientShift;
    int64_t r = d + quotient * int64_t(constants.ln2());
    polynomial = (r + int64_t(constants.b())) * r + int64_t(constants.c());
    shifted = polynomial >> constants.shift();
  }

  int64_t result() const { return shifted >> quotient; }

  int64_t quotient, polynomial, shifted;
};

std::string outside(const char* name, int64_t x, int64_t low, int64_t high) {
  char text[120];
  if (low <= x && x <= high) return "";
  snprintf(text, sizeof text, "%s: %" PRId64 " is not in %" PRId64 "..%" PRId64, name, x, low,
           high);
  return text;
}

}  // namespace

int64_t exponential(const ConfigExponent& constants, int64_t distance) {
  return Exponential(constants, distance).result();
}

int64_t raw_gelu(const ConfigGelu& constants, int64_t q) {
  int64_t b = int64_t(constants.b()), c = int64_t(constants.c());
  int64_t rest = b - std::min(std::abs(q), b), y = c - rest * rest;
  return q * (((q < 0 ? -y : y) + c) >> constants.shift());
}

std::string problem(const ConfigExponent& constants) {
  const int64_t one = Exponential(constants, 0).result();
  std::string found = outside("exponent: exp(0)", one, 1, UINT16_MAX);
  // Every distance is tried, as they are where the constants are defined.
  for (int64_t d = -int64_t(constants.lowest()); d <= 0 && found.empty(); d++) {
    Exponential e(constants, d);
    found = outside("exponent: quotient", e.quotient, 0, kQuotientMax);
    if (found.empty()) found = outside("exponent: polynomial", e.polynomial, 0, kHalf - 1);
    if (found.empty()) found = outside("exponent: result", e.result(), 0, one);
  }
  return found;
}

std::string problem(const ConfigGelu& constants) {
  int64_t b = int64_t(constants.b()), c = int64_t(constants.c());
  std::string found = outside("gelu: c", c, b * b / 2, kHalf / 2 - 1);
  if (!found.empty()) return found;
  return outside("gelu: 2 * c >> shift", 2 * c >> constants.shift(), 0, UINT16_MAX);
}

}  // namespace celosia
