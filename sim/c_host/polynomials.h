// GELU and the exponential of TRANSFORM.  The definitions are celosia.isa.numerics.activation and
// celosia.isa.numerics.exponential.
#pragma once

#include <string>

#include "isa.h"

namespace celosia {

// Of a score's distance from the row's maximum, at most 0.
int64_t exponential(const ConfigExponent& constants, int64_t distance);

// Of int16 with 10 fraction bits.
int64_t raw_gelu(const ConfigGelu& constants, int64_t q);

// What exceeds its width with these constants, so that the result is not defined; else nothing.
std::string problem(const ConfigExponent& constants);
std::string problem(const ConfigGelu& constants);

}  // namespace celosia
