// TRANSFORMs that softmax needs: requantize, maximum, exponent, sum, probability and context.
#pragma once

#include <vector>

#include "arithmetic.h"
#include "operand.h"
#include "presets.h"

namespace celosia {

// The local memories that it works on.
struct LocalMemories {
  int8_t* scratchpad;
  int32_t *accumulator, *parameters;
};

class SoftmaxUnit {
 public:
  SoftmaxUnit(const Configuration& c, const LocalMemories& memories)
      : c_(c),
        memories_(memories),
        maximum_(c.statistics_rows),
        total_(c.statistics_rows),
        reciprocal_(c.statistics_rows) {
    rows_.source_stride(c.dim).target_stride(c.dim).residual_stride(c.dim);
  }

  // CONFIG_TRANSFORM, whose forms are told by `select`.
  Cause configure(const Command& command);

  // Whether this unit knows the function that is set.
  bool knows() const { return how_.function() <= kContext; }

  Cause run(const Transform& given);

 private:
  enum Function { kRequantize, kMaximum, kExponent, kSum, kProbability, kContext };
  enum Type { kInt8, kUint8, kInt16, kInt32 };

  Cause check(const Transform& given) const;
  bool has_result() const { return how_.function() != kMaximum && how_.function() != kSum; }
  uint64_t bytes() const { return how_.type() == kInt32 ? 4 : how_.type() == kInt16 ? 2 : 1; }
  uint64_t blocks(uint64_t bytes) const { return (bytes + c_.dim - 1) / c_.dim; }
  int64_t top() const { return how_.type() == kInt8 ? 127 : how_.type() == kUint8 ? 255 : 32767; }
  int32_t element(const Transform& given, uint64_t row, uint64_t col) const;
  bool is_visible(uint64_t row, uint64_t col) const;
  int64_t exponent(int32_t x, int32_t maximum) const;
  int64_t requantized(int32_t x, uint64_t col) const;
  int64_t result(int32_t x, uint64_t slot, uint64_t row, uint64_t col);
  void begin(uint64_t slot, const Transform& given, uint64_t row);
  void finish(uint64_t slot);
  void write(const Transform& given, uint64_t row, uint64_t col, int64_t value);

  const Configuration& c_;
  LocalMemories memories_;
  ConfigTransform how_;
  ConfigRows rows_;
  ConfigMask mask_;
  ConfigExponent exponent_;
  std::vector<int32_t> maximum_, total_;
  std::vector<uint32_t> reciprocal_;
};

}  // namespace celosia
