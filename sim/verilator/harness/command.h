// A command as it stands in a ring in memory (`celosia.isa.encoding.RING_ENTRY`).
#pragma once

#include <cstdint>

namespace celosia {

struct Command {
  uint32_t funct, zero;
  uint64_t rs1, rs2;
};

}  // namespace celosia
