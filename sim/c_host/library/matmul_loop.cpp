// LOOP_WS, as celosia.isa.operations.loop_ws says.
#include <algorithm>

#include "loops.h"

namespace celosia {

namespace {

constexpr uint64_t kLayernorm = 2, kSoftmax = 4;  // Activations of whole rows.

// Commands to the normalization unit, in MVOUT's address: on all blocks of a row but the last, on
// the last; one row of this table for each pass over the row.
constexpr uint32_t kLayernormPasses[3][2] = {{1, 2}, {3, 4}, {0, 0}};
constexpr uint32_t kSoftmaxPasses[3][2] = {{5, 5}, {6, 7}, {0, 0}};

}  // namespace

bool MatmulLoop::take(const Command& command, const Emit& emit) {
  switch (command.funct) {
    case LoopWsBounds::kFunct:
      return bounds_ = LoopWsBounds(command), true;
    case LoopWsAddressesAb::kFunct:
      return ab_ = LoopWsAddressesAb(command), true;
    case LoopWsAddressesDc::kFunct:
      return dc_ = LoopWsAddressesDc(command), true;
    case LoopWsStridesAb::kFunct:
      return ab_strides_ = LoopWsStridesAb(command), true;
    case LoopWsStridesDc::kFunct:
      return dc_strides_ = LoopWsStridesDc(command), true;
    case LoopWs::kFunct:
      if (command.rs2 & kToScratchpad) return false;
      begin(LoopWs(command), emit);
      return true;
    default:
      return false;
  }
}

void MatmulLoop::finish(const Emit& emit) {
  if (!held_) return;
  for (uint64_t number = 0; number < held_->products(); number++) held_->multiply(number, emit);
  held_->store(emit);
  held_.reset();
}

void MatmulLoop::begin(const LoopWs& flags, const Emit& emit) {
  MatmulRun run = place(flags);
  std::vector<Command> loads;
  run.load([&](const Command& each) { loads.push_back(each); });
  auto next = loads.begin();
  if (held_ && run.beside(*held_)) {
    // As long as it takes to load.
    uint64_t spacing = std::max(1u, kMaxRequestBytes / c_.bus_bytes);
    for (uint64_t number = 0; number < held_->products(); number++) {
      held_->multiply(number, emit);
      if (number % spacing == 0 && next != loads.end()) emit(*next++);
    }
    std::for_each(next, loads.end(), emit);
    held_->store(emit);
  } else {
    finish(emit);
    std::for_each(next, loads.end(), emit);
  }
  held_.emplace(run);
}

MatmulRun MatmulLoop::place(const LoopWs& flags) {
  MatmulRun run(c_, bounds_, ab_, dc_, ab_strides_, dc_strides_, flags);
  uint32_t rows = c_.scratchpad_rows / 2, words = c_.accumulator_rows / 2;
  uint64_t i = bounds_.i(), j = bounds_.j(), k = bounds_.k();
  run.a_half = a_half_.choose(flags.a_half());
  run.b_half = b_half_.choose(flags.b_half());
  run.a = run.a_half * rows;
  run.b = (run.b_half + 1) * rows - uint32_t(k * j) * c_.dim;
  // The half of the accumulator changes with each loop that stores, if halves are large enough.
  bool fits = i * j * c_.dim <= words;
  run.c_half = fits ? c_half_.now() : 0;
  run.c = kAccumulatorBit | run.c_half * words;
  if (run.has_c()) c_half_.turn();
  run.fits = fits && (i + j) * k * c_.dim <= rows;
  return run;
}

bool MatmulRun::beside(const MatmulRun& held) const {
  auto reads = [&](uint32_t half) { return half == held.a_half || half == held.b_half; };
  bool meets_a = has_a() && reads(a_half), meets_b = has_b() && reads(b_half);
  bool meets_c = (has_d() || flags_.residual()) && c_half == held.c_half;
  return fits && held.fits && !meets_a && !meets_b && !meets_c;
}

void MatmulRun::load(const Emit& emit) const {
  Axis i{bounds_.i(), bounds_.pad_i()}, j{bounds_.j(), bounds_.pad_j()};
  Axis k{bounds_.k(), bounds_.pad_k()};
  uint32_t size = flags_.low_d() ? 1 : 4;
  bool adds = flags_.residual(), a_turned = flags_.a_transpose(), b_turned = flags_.b_transpose();
  if (has_d() && !adds) move<Mvin3>({dc_.d(), dc_strides_.d_stride(), c, size, i, j}, emit);
  Matrix a_plain{ab_.a(), ab_strides_.a_stride(), adds ? c : a, 1, i, adds ? j : k};
  Matrix b_plain{ab_.b(), ab_strides_.b_stride(), adds ? c | kAccumulateBit : b, 1, adds ? i : k, j};
  if (!adds && a_turned) std::swap(a_plain.rows, a_plain.cols);
  if (!adds && b_turned) std::swap(b_plain.rows, b_plain.cols);
  if (has_a()) move<Mvin>(a_plain, emit);
  if (has_b()) move<Mvin2>(b_plain, emit);
}

uint64_t MatmulRun::products() const {
  bool none = flags_.residual() || flags_.skip_products();
  return none ? 0 : bounds_.i() * bounds_.j() * bounds_.k();
}

void MatmulRun::multiply(uint64_t number, const Emit& emit) const {
  uint64_t all_i = bounds_.i(), all_j = bounds_.j(), all_k = bounds_.k();
  uint64_t i = number % all_i, j = number / all_i % all_j, k = number / all_i / all_j;
  uint64_t rows = extent({all_i, bounds_.pad_i()}, i, 1);
  uint64_t cols = extent({all_j, bounds_.pad_j()}, j, 1);
  uint64_t inner = extent({all_k, bounds_.pad_k()}, k, 1);
  uint64_t a_tile = flags_.a_transpose() ? k * all_i + i : i * all_k + k;
  uint64_t b_tile = flags_.b_transpose() ? j * all_k + k : k * all_j + j;
  bool adds = k || flags_.accumulate();
  emit(Preload()
           .b(i ? kGarbage : b + b_tile * c_.dim)
           .b_cols(cols)
           .b_rows(inner)
           .c(uint32_t(c + (i * all_j + j) * c_.dim) | (adds ? kAccumulateBit : 0))
           .c_cols(cols)
           .c_rows(rows)
           .command);
  ComputePreloaded product;
  product.a(a + a_tile * c_.dim).a_cols(inner).a_rows(rows);
  product.d(kGarbage).d_cols(cols).d_rows(rows);
  if (i) product.command.funct = ComputeAccumulated::kFunct;
  emit(product.command);
}

void MatmulRun::store(const Emit& emit) const {
  if (!has_c()) return;
  if (flags_.activation() == kLayernorm || flags_.activation() == kSoftmax)
    return store_normalized(emit);
  Axis i{bounds_.i(), bounds_.pad_i()}, j{bounds_.j(), bounds_.pad_j()};
  bool full = flags_.full_c();
  uint32_t local = c | (full ? kFullBit : 0), size = full ? 4 : 1;
  move<Mvout>({dc_.c(), dc_strides_.c_stride(), local, size, i, j}, emit);
}

template <typename Move>
void MatmulRun::move(const Matrix& x, const Emit& emit) const {
  uint64_t most = x.size == 1 ? c_.max_blocks : c_.max_accumulator_blocks;
  for (uint64_t row = 0; row < x.rows.tiles; row++) {
    for (uint64_t col = 0; col < x.cols.tiles; col += most) {
      uint64_t tiles = std::min(most, x.cols.tiles - col);
      emit(Move()
               .dram(x.dram + (row * x.stride + col) * c_.dim * x.size)
               .local(x.local + (row * x.cols.tiles + col) * c_.dim)
               .local_cols(extent(x.cols, col, tiles))
               .local_rows(extent(x.rows, row, 1))
               .command);
    }
  }
}

// Row by row, three times: statistics of the whole row, twice, then the row itself.
void MatmulRun::store_normalized(const Emit& emit) const {
  auto passes = flags_.activation() == kLayernorm ? kLayernormPasses : kSoftmaxPasses;
  uint64_t rows = uint32_t(bounds_.i() * c_.dim - bounds_.pad_i());
  for (uint64_t first = 0; first < rows; first += kStatistics) {
    for (int pass = 0; pass < 3; pass++) {
      for (uint64_t row = first; row < std::min(first + kStatistics, rows); row++) {
        emit(ConfigBert().statistics(row - first).statistics_only(1).command);
        store_line(row, passes[pass], emit);
      }
    }
  }
}

void MatmulRun::store_line(uint64_t row, const uint32_t* norms, const Emit& emit) const {
  uint64_t i = row / c_.dim, line = row % c_.dim, all = bounds_.j();
  for (uint64_t j = 0; j < all; j += c_.max_blocks) {
    uint64_t tiles = std::min<uint64_t>(c_.max_blocks, all - j);
    uint32_t local = uint32_t(c + (i * all + j) * c_.dim + line);
    emit(Mvout()
             .dram(dc_.c() + row * dc_strides_.c_stride() + j * c_.dim)
             .local(local | norms[j + tiles == all] << kNormLow)
             .local_cols(extent({all, bounds_.pad_j()}, j, tiles))
             .local_rows(1)
             .command);
  }
}

}  // namespace celosia
