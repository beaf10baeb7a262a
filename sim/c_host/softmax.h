// TRANSFORMs that softmax needs: maximum, exponent, sum and probability.
#pragma once

#include "statistics.h"
#include "transform_operation.h"

namespace celosia {

// What such a function makes of row number `row`: of its statistics, and of its elements, which
// become the result, if there is one.
void softmax_row(const TransformOperation& operation, uint64_t row, std::vector<int64_t>& elements,
                 RowStatistics& kept);

}  // namespace celosia
