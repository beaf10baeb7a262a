// What TRANSFORMs know of a row, from one to the next: registers of the widths that
// celosia.sim.devices.transforms.Statistics has.
#pragma once

#include <cstdint>

namespace celosia {

struct RowStatistics {
  int32_t maximum = 0;
  int32_t total = 0;     // Of exponents, numerators or elements.
  uint64_t squares = 0;  // Of elements: 48 bits.
  int32_t mean = 0;      // 17 bits.
  uint32_t reciprocal = 0;
};

}  // namespace celosia
