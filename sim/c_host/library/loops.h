// LOOP_WS and LOOP_CONV_WS: the commands that they stand for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

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

// A LOOP_WS: what it was given, and where its tiles are.
class MatmulRun {
 public:
  MatmulRun(const Configuration& configuration, LoopWsBounds bounds, LoopWsAddressesAb ab,
            LoopWsAddressesDc dc, LoopWsStridesAb ab_strides, LoopWsStridesDc dc_strides,
            LoopWs flags)
      : c_(configuration), bounds_(bounds), ab_(ab), dc_(dc), ab_strides_(ab_strides),
        dc_strides_(dc_strides), flags_(flags) {}

  bool has_a() const { return ab_.a() && !flags_.skip_a(); }
  bool has_b() const { return ab_.b() && !flags_.skip_b(); }
  bool has_c() const { return dc_.c() && !flags_.skip_c(); }
  bool has_d() const { return dc_.d() && !flags_.skip_d(); }

  // Whether loads may come between the products of `held`.
  bool beside(const MatmulRun& held) const;

  void load(const Emit& emit) const;
  uint64_t products() const;
  void multiply(uint64_t number, const Emit& emit) const;
  void store(const Emit& emit) const;

  uint32_t a, b, c;                 // First rows.
  uint32_t a_half, b_half, c_half;  // That these are in,
  bool fits;                        // and whether all tiles are within them.

 private:
  // Tiles in a row, and how many elements the last one lacks.
  struct Axis {
    uint64_t tiles, pad;
  };
  struct Matrix {
    uint64_t dram, stride;
    uint32_t local, size;  // Of an element, in bytes.
    Axis rows, cols;
  };
  template <typename Move>
  void move(const Matrix& matrix, const Emit& emit) const;
  void store_normalized(const Emit& emit) const;
  void store_line(uint64_t row, const uint32_t* norms, const Emit& emit) const;

  // Elements of some tiles from the one numbered `first` on.
  uint64_t extent(const Axis& axis, uint64_t first, uint64_t tiles) const {
    return tiles * c_.dim - (first + tiles == axis.tiles ? axis.pad : 0);
  }

  const Configuration& c_;
  LoopWsBounds bounds_;
  LoopWsAddressesAb ab_;
  LoopWsAddressesDc dc_;
  LoopWsStridesAb ab_strides_;
  LoopWsStridesDc dc_strides_;
  LoopWs flags_;
};

// Products of tiles (functs 8 to 13).
class MatmulLoop {
 public:
  explicit MatmulLoop(const Configuration& configuration) : c_(configuration) {}

  // Whether it is one of these commands; if so, what it lets go out was emitted.
  bool take(const Command& command, const Emit& emit);

  // Emits what waits for a command behind the last one.
  void finish(const Emit& emit);

 private:
  void begin(const LoopWs& flags, const Emit& emit);
  MatmulRun place(const LoopWs& flags);

  const Configuration& c_;
  LoopWsBounds bounds_;
  LoopWsAddressesAb ab_;
  LoopWsAddressesDc dc_;
  LoopWsStridesAb ab_strides_;
  LoopWsStridesDc dc_strides_;
  Halves a_half_, b_half_, c_half_;
  std::optional<MatmulRun> held_;  // Its loads are over.
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

}  // namespace celosia
