// Commands in words, as celosia.sw.driver.assembly writes them.
#pragma once

#include <string>

#include "isa.h"

namespace celosia {

std::string format_command(const Command& command);

}  // namespace celosia
