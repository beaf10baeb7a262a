// I-GELU, LayerNorm and softmax of MVOUT: records of statistics, and what becomes of rows.  The
// definition is celosia.sim.devices.norm_commands.
#pragma once

#include <vector>

#include "arithmetic.h"
#include "isa.h"

namespace celosia {

class PassingRows {
 public:
  enum Activation : uint64_t { kNone, kRelu, kLayernorm, kIgelu, kSoftmax };

  // CONFIG_BERT; false if there is no such record.
  bool configure(const ConfigBert& now);

  // CONFIG_ST ends a softmax.
  void end_softmax() { state_.softmax(0); }

  // Rows of `cols` sums pass with a norm command: whether they leave, scaled, in `result`.
  bool pass(const std::vector<int32_t>& rows, uint64_t cols, uint32_t norm, uint64_t activation,
            float scale, uint8_t* result);

 private:
  enum Norm { kReset, kSum, kMean, kVariance, kInvStddev, kMax, kSumExp, kInvSumExp };
  static constexpr uint64_t kRecords = 4;

  struct Record {
    int32_t total = 0;
    uint32_t count = 0;
    int32_t running = INT32_MIN, largest = 0, mean = 0;
    float deviation = 0, probability = 0;
  };

  int32_t gelu(int32_t x) const;
  int32_t exponential(int64_t x) const;
  int8_t leave(int32_t x, const Record& record, uint64_t activation, float scale) const;
  void gather(const int32_t* row, uint64_t cols, uint32_t norm, Record& record) const;
  void finish(uint32_t norm, float scale, Record& record) const;

  ConfigBert state_;
  uint32_t ln2_ = 0, ln2_inverse_ = 0;
  Record records_[kRecords];
};

}  // namespace celosia
