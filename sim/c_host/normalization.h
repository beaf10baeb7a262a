// TRANSFORMs that layer normalization needs.  The definition is
// celosia.isa.numerics.normalization.
#pragma once

#include "statistics.h"
#include "transform_operation.h"

namespace celosia {

// Elements of a row, int16, count in its statistics.
void add_moments(const TransformState& state, const std::vector<int64_t>& elements,
                 RowStatistics& kept);

// An element of int16 becomes one with 16 fraction bits.
int64_t normalized(int64_t q, const RowStatistics& kept);

// What becomes of that: one of the results.
int64_t affine(int64_t y, int32_t gamma, int32_t beta, uint64_t shift, uint64_t type);

}  // namespace celosia
