// For GCC, before the C++ of a model: its branches are conditions of the RTL, and most of these hold
// in few cycles.  So GCC puts what they guard elsewhere, and a cycle goes straight on.  What follows
// branches.h has usual branches.
#pragma once

#include "Vtop.h"
#include "verilated.h"

#define if(...) if (__builtin_expect(!!(__VA_ARGS__), 0))
