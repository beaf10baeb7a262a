#include "passing.h"

namespace celosia {

namespace {

int32_t wrap(int64_t x) { return int32_t(uint32_t(uint64_t(x))); }
int64_t square(int32_t x) { return int64_t(x) * x; }
int32_t product(int64_t a, int64_t b) { return wrap(int64_t(wrap(a)) * wrap(b)); }

}  // namespace

bool PassingRows::configure(const ConfigBert& now) {
  if (now.statistics() >= kRecords) return false;
  if (now.statistics_only()) {
    state_.statistics(now.statistics());
    return true;
  }
  state_ = now;
  (now.second_constant() ? ln2_inverse_ : ln2_) = uint32_t(now.constant());
  return true;
}

bool PassingRows::pass(const std::vector<int32_t>& rows, uint64_t cols, uint32_t norm,
                       uint64_t activation, float scale, uint8_t* result) {
  Record& record = records_[state_.statistics()];
  if (norm != kReset) {
    for (size_t first = 0; first < rows.size(); first += cols) {
      gather(&rows[first], cols, norm, record);
      finish(norm, scale, record);
    }
    return false;
  }
  if (activation == kNone && state_.softmax()) activation = kSoftmax;
  for (size_t i = 0; i < rows.size(); i++)
    result[i] = uint8_t(leave(rows[i], record, activation, scale));
  record.total = 0, record.count = 0, record.running = INT32_MIN;
  return true;
}

int8_t PassingRows::leave(int32_t x, const Record& record, uint64_t activation,
                          float scale) const {
  switch (activation) {
    case kIgelu:
      return requantize(gelu(x), scale);
    case kLayernorm:
      return requantize(wrap(int64_t(x) - record.mean), record.deviation);
    case kSoftmax:
      return requantize(exponential(int64_t(x) - record.largest), record.probability);
    default:
      int8_t scaled = requantize(x, scale);
      return activation == kRelu && scaled < 0 ? 0 : scaled;
  }
}

int32_t PassingRows::gelu(int32_t x) const {
  int64_t qb = wrap(int64_t(state_.qb())), qc = wrap(int64_t(state_.qc()));
  int32_t q = std::min(wrap(std::abs(int64_t(x))), wrap(-qb));
  int64_t curve = wrap(square(wrap(q + qb)) + qc);
  return product(x, wrap((x < 0 ? -curve : curve) + qc));
}

int32_t PassingRows::exponential(int64_t x) const {
  int64_t q = wrap(x);
  int32_t places = product(-q, int32_t(ln2_inverse_)) >> 16;
  int64_t base = wrap(q + product(places, int32_t(ln2_)));
  int32_t sum = wrap(square(wrap(base + wrap(int64_t(state_.qb())))) + wrap(int64_t(state_.qc())));
  return sum >> std::clamp(places, 0, 31);
}

void PassingRows::gather(const int32_t* row, uint64_t cols, uint32_t norm, Record& record) const {
  if (norm == kSumExp || norm == kInvSumExp) record.largest = record.running;
  for (uint64_t col = 0; col < cols; col++) {
    int32_t x = row[col];
    if (norm == kMax)
      record.running = std::max(record.running, x);
    else if (norm == kSumExp || norm == kInvSumExp)
      record.total = add(record.total, exponential(int64_t(x) - record.largest));
    else if (norm == kVariance || norm == kInvStddev)
      record.total = add(record.total, square(wrap(int64_t(x) - record.mean)));
    else
      record.total = add(record.total, x);
  }
  if (norm <= kInvStddev) record.count += uint32_t(cols);
}

void PassingRows::finish(uint32_t norm, float scale, Record& record) const {
  if (norm == kMean) record.mean = int32_t(int64_t(record.total) / int64_t(record.count));
  if (norm == kInvStddev) {
    uint64_t deviation = root(uint32_t(std::max(0, record.total)) / record.count);
    record.deviation = 1.0f / float(deviation ? deviation : 1) * scale;
  }
  if (norm == kInvSumExp) record.probability = 127.0f / float(record.total) * scale;
  if (norm == kMean || norm == kInvStddev) record.total = 0, record.count = 0;
}

}  // namespace celosia
