// What TRANSFORM does to the local memories.  The definition is celosia.sim.devices.transforms.
#pragma once

#include "polynomials.h"
#include "statistics.h"
#include "transform_operation.h"

namespace celosia {

class TransformUnit {
 public:
  TransformUnit(const Configuration& c, const LocalMemories& memories)
      : c_(c), memories_(memories), state_(c), statistics_(c.statistics_rows) {}

  // CONFIG_TRANSFORM, whose forms are told by their fixed bits.
  Cause configure(const Command& command);

  TransformOperation operation(const Transform& given) const { return {c_, state_, given}; }

  // Why a legal TRANSFORM has no defined result; else nothing.
  std::string problem(const TransformOperation& operation) const;

  // Does a legal one that has a defined result.
  void execute(const TransformOperation& operation);

 private:
  using Elements = std::vector<int64_t>;

  void run(const TransformOperation& operation, uint64_t row, RowStatistics& kept);
  Elements accumulated(const Rows& rows, uint64_t row, uint64_t cols) const;
  Elements staged(const Rows& rows, uint64_t row, uint64_t cols) const;
  int32_t parameter(uint64_t first, uint64_t col) const {
    return memories_.parameters[first * c_.dim + col];
  }
  float scale(uint64_t col) const;
  int64_t narrow(int64_t x, float scale, bool rectify) const;
  int64_t requantized(int64_t x, uint64_t col) const;
  void add_residual(const TransformOperation& operation, uint64_t row, Elements& x) const;
  Elements normalized_row(const Elements& q, const RowStatistics& kept, bool second) const;
  void write(const TransformOperation& operation, bool second, uint64_t row, const Elements& x);

  const Configuration& c_;
  LocalMemories memories_;
  TransformState state_;
  std::string exponent_problem_, gelu_problem_;
  std::vector<RowStatistics> statistics_;
};

}  // namespace celosia
