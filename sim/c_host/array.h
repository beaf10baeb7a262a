// The systolic array: what it holds, and products with it.
#pragma once

#include <vector>

#include "operand.h"

namespace celosia {

class Array {
 public:
  Array(const Configuration& c, const LocalMemories& memories)
      : c_(c), dim_(c.dim), memories_(memories), weights_(dim_ * dim_), sums_(dim_ * dim_) {
    execute_.weight_stationary(c.weight_stationary);
  }

  Cause configure(const ConfigEx& now);
  void preload(const Preload& now) { preload_ = now; }

  // COMPUTE_PRELOADED, or COMPUTE_ACCUMULATED, whose operands are the same.
  Cause compute(const ComputePreloaded& given, bool preloaded);

 private:
  int32_t element(int8_t x) const { return execute_.a_unsigned() ? uint8_t(x) : x; }
  void multiply(const Maybe& a, const Maybe& d, const Operand& c);
  void accumulate(const Maybe& a, const Maybe& d, bool preloaded);
  std::vector<int8_t> matrix(const Maybe& from, uint64_t rows) const;
  template <typename Value>
  void write(const Operand& c, Value value);

  const Configuration& c_;
  const uint64_t dim_;
  LocalMemories memories_;
  std::vector<int8_t> weights_;
  std::vector<int32_t> sums_;  // What output-stationary products add to.
  ConfigEx execute_;
  Preload preload_ = Preload().b(kGarbage).c(kGarbage);
};

}  // namespace celosia
