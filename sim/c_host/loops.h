// LOOP_WS and LOOP_CONV_WS: the commands that they stand for.
#pragma once

#include <functional>

#include "isa.h"
#include "presets.h"

namespace celosia {

using Emit = std::function<void(const Command&)>;

// Which half of a memory a loop works in.
class Halves {
 public:
  uint32_t now() const { return now_; }
  void turn() { now_ ^= 1; }

  // 1 or 2: that half; 0: the other one than the last time.
  uint32_t choose(uint64_t given) {
    if (given) return uint32_t(given - 1) & 1;
    turn();
    return now_ ^ 1;
  }

 private:
  uint32_t now_ = 0;
};

// A product of tiles (functs 8 to 13).
class MatmulLoop {
 public:
  explicit MatmulLoop(const Configuration& configuration) : c_(configuration) {}

  // Whether it is one of these commands; if so, what it stands for was emitted.
  bool take(const Command& command, const Emit& emit);

 private:
  struct Places {
    uint32_t a, b, accumulator;
  };
  void run(const Emit& emit);
  void add(const Emit& emit, uint32_t accumulator) const;
  Places places();
  void load_bias(const Emit& emit, uint32_t accumulator) const;
  void load_a(const Emit& emit, uint32_t first, uint64_t i, uint64_t k) const;
  void load_b(const Emit& emit, uint32_t first, uint64_t k, uint64_t j) const;
  void compute(const Emit& emit, const Places& at, uint64_t k, uint64_t j, uint64_t i) const;
  void store(const Emit& emit, uint32_t accumulator, uint64_t j, uint64_t blocks) const;
  void store_normalized(const Emit& emit, uint32_t accumulator) const;

  // Elements of some tiles from the one numbered `first` on, without the padding of the last one.
  uint64_t extent(uint64_t first, uint64_t tiles, uint64_t all, uint64_t pad) const {
    return tiles * c_.dim - (first + tiles >= all ? pad : 0);
  }

  const Configuration& c_;
  LoopWsBounds bounds_;
  LoopWsAddressesAb ab_;
  LoopWsAddressesDc dc_;
  LoopWsStridesAb ab_strides_;
  LoopWsStridesDc dc_strides_;
  LoopWs loop_;
  Halves a_half_, b_half_, accumulator_half_;
};

// A tile of a convolution (functs 15 to 21).
class ConvolutionLoop {
 public:
  explicit ConvolutionLoop(const Configuration& configuration) : c_(configuration) {}

  // Whether it is one of these commands; if so, what it stands for was emitted.
  bool take(const Command& command, const Emit& emit);

 private:
  struct Sizes;
  void run(const Emit& emit);
  void load_bias(const Emit& emit, const Sizes& s) const;
  void load_input(const Emit& emit, const Sizes& s) const;
  void load_weights(const Emit& emit, const Sizes& s) const;
  void compute(const Emit& emit, const Sizes& s) const;
  void compute_rows(const Emit& emit, const Sizes& s, const int64_t* at) const;
  void store(const Emit& emit, const Sizes& s) const;
  void store_pooled(const Emit& emit, const Sizes& s) const;

  const Configuration& c_;
  LoopConv1 one_;
  LoopConv2 two_;
  LoopConv3 three_;
  LoopConv4 four_;
  LoopConv5 five_;
  LoopConv6 six_;
  LoopConvWs loop_;
  Halves a_half_, b_half_, output_half_;
};

// LOOP_WS and LOOP_CONV_WS together.
class Loops {
 public:
  explicit Loops(const Configuration& configuration)
      : matmul_(configuration), convolution_(configuration) {}

  bool take(const Command& command, const Emit& emit) {
    return matmul_.take(command, emit) || convolution_.take(command, emit);
  }

 private:
  MatmulLoop matmul_;
  ConvolutionLoop convolution_;
};

}  // namespace celosia
