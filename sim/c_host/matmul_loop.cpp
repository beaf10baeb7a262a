// LOOP_WS.  Loads of a tile come right before the product that needs it first: they move ahead of
// older products as far as the accelerator's queues allow.
#include <algorithm>

#include "loops.h"

namespace celosia {

namespace {

constexpr uint64_t kLayernorm = 2, kSoftmax = 4;  // Activations of whole rows.
constexpr uint64_t kStatistics = 2;               // Rows that are normalized side by side.

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
      loop_ = LoopWs(command);
      run(emit);
      return true;
    default:
      return false;
  }
}

void MatmulLoop::run(const Emit& emit) {
  Places at = places();
  if (loop_.residual()) return add(emit, at.accumulator);
  if (dc_.d()) load_bias(emit, at.accumulator);
  bool normalized = loop_.activation() == kLayernorm || loop_.activation() == kSoftmax;
  uint64_t blocks = loop_.full_c() ? 1 : c_.max_blocks, stored = 0;
  for (uint64_t k = 0; k < bounds_.k(); k++) {
    for (uint64_t j = 0; j < bounds_.j(); j++) {
      if (ab_.b()) load_b(emit, at.b, k, j);
      for (uint64_t i = 0; i < bounds_.i(); i++) {
        if (!j && ab_.a()) load_a(emit, at.a, i, k);
        compute(emit, at, k, j, i);
      }
      bool last = k + 1 == bounds_.k() && dc_.c() && !normalized;
      if (!last || (j + 1 - stored < blocks && j + 1 < bounds_.j())) continue;
      store(emit, at.accumulator, stored, j + 1 - stored);
      stored = j + 1;
    }
  }
  if (normalized && dc_.c()) store_normalized(emit, at.accumulator);
}

MatmulLoop::Places MatmulLoop::places() {
  uint32_t half = c_.scratchpad_rows / 2;
  Places at;
  at.a = a_half_.choose(loop_.a_half()) * half;
  at.b = (b_half_.choose(loop_.b_half()) + 1) * half -
         uint32_t(bounds_.k() * bounds_.j()) * c_.dim;
  // The half of the accumulator changes with each loop that stores, if halves are large enough.
  uint64_t rows = bounds_.i() * bounds_.j() * c_.dim;
  bool fits = rows <= c_.accumulator_rows / 2;
  uint32_t first = fits ? accumulator_half_.now() * (c_.accumulator_rows / 2) : 0;
  at.accumulator = kAccumulatorBit | first;
  if (dc_.c()) accumulator_half_.turn();
  return at;
}

void MatmulLoop::load_bias(const Emit& emit, uint32_t accumulator) const {
  uint64_t size = loop_.low_d() ? 1 : 4;
  uint64_t most = loop_.low_d() ? c_.max_blocks : c_.max_accumulator_blocks;
  for (uint64_t i = 0; i < bounds_.i(); i++) {
    for (uint64_t j = 0; j < bounds_.j(); j += most) {
      uint64_t blocks = std::min(most, bounds_.j() - j);
      emit(Mvin3()
               .dram(dc_.d() + (i * dc_strides_.d_stride() + j) * c_.dim * size)
               .local(accumulator + (i * bounds_.j() + j) * c_.dim)
               .local_cols(extent(j, blocks, bounds_.j(), bounds_.pad_j()))
               .local_rows(extent(i, 1, bounds_.i(), bounds_.pad_i()))
               .command);
    }
  }
}

// Tile (i, k) of A, and those behind it in the same rows of memory, when it is the first of them.
void MatmulLoop::load_a(const Emit& emit, uint32_t first, uint64_t i, uint64_t k) const {
  bool turned = loop_.a_transpose();
  uint64_t row = turned ? k : i, col = turned ? i : k;
  uint64_t rows = turned ? bounds_.k() : bounds_.i(), cols = turned ? bounds_.i() : bounds_.k();
  uint64_t row_pad = turned ? bounds_.pad_k() : bounds_.pad_i();
  uint64_t col_pad = turned ? bounds_.pad_i() : bounds_.pad_k();
  if (col % c_.max_blocks) return;
  uint64_t blocks = std::min<uint64_t>(c_.max_blocks, cols - col);
  emit(Mvin()
           .dram(ab_.a() + (row * ab_strides_.a_stride() + col) * c_.dim)
           .local(first + (row * cols + col) * c_.dim)
           .local_cols(extent(col, blocks, cols, col_pad))
           .local_rows(extent(row, 1, rows, row_pad))
           .command);
}

// The same of B's tile (k, j).
void MatmulLoop::load_b(const Emit& emit, uint32_t first, uint64_t k, uint64_t j) const {
  bool turned = loop_.b_transpose();
  uint64_t row = turned ? j : k, col = turned ? k : j;
  uint64_t rows = turned ? bounds_.j() : bounds_.k(), cols = turned ? bounds_.k() : bounds_.j();
  uint64_t row_pad = turned ? bounds_.pad_j() : bounds_.pad_k();
  uint64_t col_pad = turned ? bounds_.pad_k() : bounds_.pad_j();
  if (col % c_.max_blocks) return;
  uint64_t blocks = std::min<uint64_t>(c_.max_blocks, cols - col);
  emit(Mvin2()
           .dram(ab_.b() + (row * ab_strides_.b_stride() + col) * c_.dim)
           .local(first + (row * cols + col) * c_.dim)
           .local_cols(extent(col, blocks, cols, col_pad))
           .local_rows(extent(row, 1, rows, row_pad))
           .command);
}

void MatmulLoop::compute(const Emit& emit, const Places& at, uint64_t k, uint64_t j,
                         uint64_t i) const {
  uint64_t rows = extent(i, 1, bounds_.i(), bounds_.pad_i());
  uint64_t inner = extent(k, 1, bounds_.k(), bounds_.pad_k());
  uint64_t cols = extent(j, 1, bounds_.j(), bounds_.pad_j());
  uint64_t a = loop_.a_transpose() ? k * bounds_.i() + i : i * bounds_.k() + k;
  uint64_t b = loop_.b_transpose() ? j * bounds_.k() + k : k * bounds_.j() + j;
  uint64_t c = at.accumulator + (i * bounds_.j() + j) * c_.dim;
  bool adds = k || loop_.accumulate();
  emit(Preload()
           .b(i ? kGarbage : at.b + b * c_.dim)
           .b_cols(cols)
           .b_rows(inner)
           .c(c | (adds ? kAccumulateBit : 0))
           .c_cols(cols)
           .c_rows(rows)
           .command);
  ComputePreloaded product;
  product.a(at.a + a * c_.dim).a_cols(inner).a_rows(rows);
  product.d(kGarbage).d_cols(cols).d_rows(rows);
  if (i) product.command.funct = ComputeAccumulated::kFunct;
  emit(product.command);
}

// Columns of tiles from `j` on, all rows.
void MatmulLoop::store(const Emit& emit, uint32_t accumulator, uint64_t j, uint64_t blocks) const {
  uint64_t size = loop_.full_c() ? 4 : 1;
  for (uint64_t i = 0; i < bounds_.i(); i++)
    emit(Mvout()
             .dram(dc_.c() + (i * dc_strides_.c_stride() + j) * c_.dim * size)
             .local((accumulator | (loop_.full_c() ? kFullBit : 0)) +
                    (i * bounds_.j() + j) * c_.dim)
             .local_cols(extent(j, blocks, bounds_.j(), bounds_.pad_j()))
             .local_rows(extent(i, 1, bounds_.i(), bounds_.pad_i()))
             .command);
}

// Row by row, three times: statistics of the whole row, twice, then the row itself.
void MatmulLoop::store_normalized(const Emit& emit, uint32_t accumulator) const {
  auto passes = loop_.activation() == kLayernorm ? kLayernormPasses : kSoftmaxPasses;
  uint64_t rows = extent(0, bounds_.i(), bounds_.i(), bounds_.pad_i());
  for (uint64_t first = 0; first < rows; first += kStatistics) {
    for (int pass = 0; pass < 3; pass++) {
      for (uint64_t row = first; row < std::min(first + kStatistics, rows); row++) {
        uint64_t i = row / c_.dim, r = row % c_.dim;
        emit(ConfigBert().statistics(row - first).statistics_only(1).command);
        for (uint64_t j = 0; j < bounds_.j(); j += c_.max_blocks) {
          uint64_t blocks = std::min<uint64_t>(c_.max_blocks, bounds_.j() - j);
          uint64_t norm = passes[pass][j + blocks == bounds_.j()];
          emit(Mvout()
                   .dram(dc_.c() + row * dc_strides_.c_stride() + j * c_.dim)
                   .local((accumulator | norm << kNormLow) + (i * bounds_.j() + j) * c_.dim + r)
                   .local_cols(extent(j, blocks, bounds_.j(), bounds_.pad_j()))
                   .local_rows(1)
                   .command);
        }
      }
    }
  }
}

// C = A + B.
void MatmulLoop::add(const Emit& emit, uint32_t accumulator) const {
  for (uint64_t i = 0; i < bounds_.i(); i++) {
    for (uint64_t j = 0; j < bounds_.j(); j += c_.max_blocks) {
      uint64_t blocks = std::min<uint64_t>(c_.max_blocks, bounds_.j() - j);
      uint64_t cols = extent(j, blocks, bounds_.j(), bounds_.pad_j());
      uint64_t rows = extent(i, 1, bounds_.i(), bounds_.pad_i());
      uint64_t local = accumulator + (i * bounds_.j() + j) * c_.dim;
      auto at = [&](uint64_t base, uint64_t stride) { return base + (i * stride + j) * c_.dim; };
      emit(Mvin()
               .dram(at(ab_.a(), ab_strides_.a_stride()))
               .local(local)
               .local_cols(cols)
               .local_rows(rows)
               .command);
      emit(Mvin2()
               .dram(at(ab_.b(), ab_strides_.b_stride()))
               .local(local | kAccumulateBit)
               .local_cols(cols)
               .local_rows(rows)
               .command);
      emit(Mvout()
               .dram(at(dc_.c(), dc_strides_.c_stride()))
               .local(local)
               .local_cols(cols)
               .local_rows(rows)
               .command);
    }
  }
}

}  // namespace celosia
