#include "array.h"

#include "arithmetic.h"

namespace celosia {

namespace {

Maybe operand(uint64_t word, uint64_t rows, uint64_t cols) {
  if (Local::is_garbage(word)) return {};
  return Operand{Local(word), rows, cols};
}

}  // namespace

Cause Array::configure(const ConfigEx& now) {
  bool ws = now.weight_stationary(), a = now.a_transpose(), b = now.b_transpose();
  bool known = ws ? c_.weight_stationary && !(a && b) : c_.output_stationary && b <= a;
  if (!now.strides_only() && !known) return kCauseUnsupported;
  if (now.strides_only())
    execute_.a_stride(now.a_stride()).c_stride(now.c_stride());
  else
    execute_ = now;
  return kCauseNone;
}

Cause Array::compute(const ComputePreloaded& given, bool preloaded) {
  bool stays = !execute_.weight_stationary();  // The result, rather than the weights.
  Maybe a = operand(given.a(), given.a_rows(), given.a_cols());
  Maybe second = operand(given.d(), given.d_rows(), given.d_cols());
  Maybe first = operand(preload_.b(), preload_.b_rows(), preload_.b_cols());
  Maybe c = operand(preload_.c(), preload_.c_rows(), preload_.c_cols());
  Maybe w = stays ? second : preloaded ? first : Maybe();
  Maybe d = !stays ? second : preloaded ? first : Maybe();
  if (a) a->stride = execute_.a_stride(), a->transposed = execute_.a_transpose();
  if (w) w->transposed = execute_.b_transpose();
  if (c) c->stride = execute_.c_stride();
  if (Cause cause = check_product(c_, a, w, d, c, stays)) return cause;
  if (preloaded || stays) weights_ = matrix(w, dim_);
  if (stays) {
    accumulate(a, d, preloaded);
    if (c) write(*c, [&](uint64_t r, uint64_t col) {
      return round_shift(sums_[r * dim_ + col], execute_.shift() & 31);
    });
  } else if (c && c->rows) {
    multiply(a, d, *c);
  }
  return kCauseNone;
}

// Weight-stationary.
void Array::multiply(const Maybe& a, const Maybe& d, const Operand& c) {
  std::vector<int8_t> rows = matrix(a, c.rows), bias = d ? matrix(d, c.rows) : rows;
  std::vector<int64_t> sum(c.rows * dim_);
  for (uint64_t r = 0; r < c.rows; r++) {
    for (uint64_t k = 0; k < dim_; k++) {
      int32_t x = element(rows[r * dim_ + k]);
      for (uint64_t j = 0; x && j < dim_; j++) sum[r * dim_ + j] += x * weights_[k * dim_ + j];
    }
    for (uint64_t j = 0; d && j < dim_; j++) sum[r * dim_ + j] += bias[r * dim_ + j];
  }
  write(c, [&](uint64_t r, uint64_t col) { return sum[r * dim_ + col]; });
}

// Output-stationary: the array's sums += A*B, after they were D or zeros.
void Array::accumulate(const Maybe& a, const Maybe& d, bool preloaded) {
  std::vector<int8_t> rows = matrix(a, dim_);
  if (preloaded) {
    std::vector<int8_t> start = matrix(d, dim_);
    std::copy(start.begin(), start.end(), sums_.begin());
  }
  for (uint64_t r = 0; r < dim_; r++)
    for (uint64_t k = 0; k < dim_; k++)
      for (uint64_t j = 0; j < dim_; j++)
        sums_[r * dim_ + j] =
            add(sums_[r * dim_ + j], element(rows[r * dim_ + k]) * weights_[k * dim_ + j]);
}

// The operand's elements, `rows` x dim: cut, or filled up with zeros.
std::vector<int8_t> Array::matrix(const Maybe& from, uint64_t rows) const {
  std::vector<int8_t> result(rows * dim_);
  if (!from) return result;
  for (uint64_t r = 0; r < std::min(rows, from->rows); r++)
    for (uint64_t c = 0; c < from->cols; c++) {
      uint64_t line = from->transposed ? c : r, place = from->transposed ? r : c;
      uint64_t row = from->local.row + line * from->stride;
      result[r * dim_ + c] = memories_.scratchpad[row * dim_ + place];
    }
  return result;
}

template <typename Value>
void Array::write(const Operand& c, Value value) {
  bool relu = execute_.activation() == 1;
  for (uint64_t r = 0; r < c.rows; r++)
    for (uint64_t col = 0; col < c.cols; col++) {
      int64_t x = value(r, col);
      uint64_t place = (c.local.row + r * c.stride) * dim_ + col;
      if (c.local.accumulator) {
        int32_t& sum = memories_.accumulator[place];
        sum = c.local.accumulate ? add(sum, x) : add(0, x);
      } else {
        memories_.scratchpad[place] = saturate(relu && x < 0 ? 0 : x);
      }
    }
}

}  // namespace celosia
