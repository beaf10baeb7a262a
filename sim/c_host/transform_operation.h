// TRANSFORM with its configuration resolved, and the rules that it keeps.  The definition is
// celosia.isa.operations.transforms.
#pragma once

#include <string>
#include <vector>

#include "isa.h"
#include "operand.h"
#include "presets.h"

namespace celosia {

// What the CONFIG_TRANSFORM commands leave behind.
struct TransformState {
  explicit TransformState(const Configuration& c) {
    rows.source_stride(c.dim).target_stride(c.dim).residual_stride(c.dim);
    norm.target2_stride(c.dim);
  }

  // False if there is no such form of the command.
  bool configure(const Command& command);

  ConfigTransform how;
  ConfigRows rows;
  ConfigNorm norm;
  ConfigMask mask;
  ConfigExponent exponent;
  ConfigGelu gelu;
};

// A matrix in a local memory: block b of row r is local row `local.row + r + b * stride`.
struct Rows {
  Local local;
  uint64_t stride, blocks;

  uint64_t last(uint64_t rows) const { return local.row + rows - 1 + (blocks - 1) * stride; }
};

// At least one row and one column.
class TransformOperation {
 public:
  TransformOperation(const Configuration& c, const TransformState& state, const Transform& given)
      : c_(c), state_(state), given_(given) {}

  const TransformState& state() const { return state_; }
  uint64_t rows() const { return given_.local_rows(); }
  uint64_t cols() const { return given_.local_cols(); }
  uint64_t function() const { return state_.how.function(); }
  const FunctionRules& rules() const { return kFunctionRules[function()]; }

  // Of the first result, and of the second one.
  uint64_t type(bool second) const { return second ? state_.norm.type2() : state_.how.type(); }
  uint64_t results() const { return !rules().types ? 0 : is_double() ? 2 : 1; }
  bool counts_moments() const {
    return function() == kFunctionMoments ||
           (function() == kFunctionResidual && state_.how.moments());
  }

  Rows source() const;
  Rows residual() const;
  Rows result(bool second) const;

  // The first rule that it breaks.
  Cause check() const;

 private:
  bool is_double() const { return function() == kFunctionLayernorm && state_.norm.two(); }
  bool uses_statistics() const { return rules().statistics || counts_moments(); }
  uint64_t blocks(uint64_t bytes) const { return (cols() * bytes + c_.dim - 1) / c_.dim; }
  std::vector<Rows> read() const;
  bool is_supported() const;
  bool keeps_order() const;
  bool has_shape() const;
  bool exists() const;
  bool has_parameters() const;
  bool overlaps() const;

  const Configuration& c_;
  const TransformState& state_;
  const Transform given_;
};

}  // namespace celosia
