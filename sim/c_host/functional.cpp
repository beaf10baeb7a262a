// What commands mean, without a clock: each is executed as a whole before the next one.  Compared,
// command by command, with celosia.sim.devices.functional, which is the definition.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "arithmetic.h"
#include "array.h"
#include "backend.h"
#include "operand.h"
#include "passing.h"
#include "process.h"
#include "tokens.h"
#include "transform.h"

namespace celosia {

class Functional : public Backend {
 public:
  explicit Functional(const Configuration& c)
      : c_(c),
        dim_(c.dim),
        scratchpad_(size_t(c.scratchpad_rows) * c.dim),
        accumulator_(size_t(c.accumulator_rows) * c.dim),
        parameters_(size_t(c.parameter_rows) * c.dim) {
    for (ConfigLd& load : loads_) load.block_stride(c.dim);
    // Local memories hold garbage at first: a program must not depend on it.
    uint64_t state = 1;
    auto chance = [&state] { return int32_t((state = state * 6364136223846793005u + 1) >> 32); };
    for (auto& x : scratchpad_) x = int8_t(chance());
    for (auto& x : accumulator_) x = chance();
  }

  void command(const Command& command, uint64_t) override {
    Cause cause = run(command);
    if (cause) fail(std::string(kCauses[cause].name) + ": " + kCauses[cause].text);
    number_++;
  }

  void fence() override {}
  uint64_t cycles() const override { return number_; }
  uint32_t source(uint32_t) override { return uint32_t(number_); }
  std::vector<std::pair<std::string, uint64_t>> statistics() override {
    return {{"commands", number_}};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Failure{what, number_, true}; }

  [[noreturn]] void fail_at(Cause cause, uint64_t address) const {
    char text[160];
    snprintf(text, sizeof text, "%s at address 0x%" PRIx64 ": the process has no such memory",
             kCauses[cause].name, address);
    fail(text);
  }

  Cause run(const Command& command) {
    switch (command.funct) {
      case ConfigEx::kFunct:
        return configure(command);
      case Mvin::kFunct:
        return load(command, loads_[0]);
      case Mvin2::kFunct:
        return load(command, loads_[1]);
      case Mvin3::kFunct:
        return load(command, loads_[2]);
      case Mvout::kFunct:
        return store(Mvout(command));
      case Preload::kFunct:
        array_.preload(Preload(command));
        return kCauseNone;
      case ComputePreloaded::kFunct:
        return array_.compute(ComputePreloaded(command), true);
      case ComputeAccumulated::kFunct:
        return array_.compute(ComputePreloaded(command), false);
      case Flush::kFunct:
        return kCauseNone;
      case Fence::kFunct:
        tokens_.fence();
        return kCauseNone;
      case ConfigToken::kFunct:
        tokens_.configure(ConfigToken(command));
        return kCauseNone;
      case MvinParam::kFunct:
        return load_parameters(MvinParam(command));
      case ConfigDrain::kFunct:
        drain_ = ConfigDrain(command);
        return kCauseNone;
      case ConfigProducts::kFunct:
      case Products::kFunct:
      case Repeat::kFunct:
      case Stride::kFunct:  // Those that are well formed were expanded.
        return c_.loop_entries ? kCauseLoop : kCauseUnknownFunct;
      case ConfigTransform::kFunct:
        return c_.normalization ? transforms_.configure(command) : kCauseUnknownFunct;
      case Transform::kFunct:
        return c_.normalization ? transform(Transform(command)) : kCauseUnknownFunct;
      default:
        return kCauseUnknownFunct;
    }
  }

  Cause transform(const Transform& given) {
    if (!given.local_rows() || !given.local_cols()) return kCauseNone;
    const TransformOperation operation = transforms_.operation(given);
    if (Cause cause = operation.check()) return cause;
    std::string problem = transforms_.problem(operation);
    if (!problem.empty()) fail(problem);
    transforms_.execute(operation);
    return kCauseNone;
  }

  // A load begins, if it need not wait for stores that are not before it.
  void begin_load() const {
    std::string problem = tokens_.problem();
    if (!problem.empty()) fail(std::string(kCauses[kCauseWatchdog].name) + ": " + problem);
  }

  Cause configure(const Command& command) {
    switch (command.rs1 & 3) {
      case 0:
        return array_.configure(ConfigEx(command));
      case 1: {
        ConfigLd now(command);
        if (now.set() > 2 || (now.pixel_repeats() > 1 && !c_.convolution)) return kCauseUnsupported;
        loads_[now.set()] = now;
        return kCauseNone;
      }
      case 2: {
        ConfigSt now(command);
        bool pools = c_.convolution && now.pool_size();
        if ((now.activation() > 1 && !c_.bert) || (now.pool_stride() && !pools))
          return kCauseUnsupported;
        passing_.end_softmax();
        if (now.scale() == kKeepScale) now.scale(store_.scale());
        store_ = now;
        return kCauseNone;
      }
      default:
        return c_.bert && passing_.configure(ConfigBert(command)) ? kCauseNone : kCauseUnsupported;
    }
  }

  // Of a transfer: more columns than it may have, or rows that do not exist.
  Cause check(const Local& local, uint64_t rows, uint64_t cols, uint64_t pitch, bool wide) const {
    if (cols > dim_ * (wide ? c_.max_accumulator_blocks : c_.max_blocks)) return kCauseShape;
    uint64_t last = local.row + rows - 1 + ((cols + dim_ - 1) / dim_ - 1) * pitch;
    return last < rows_of(c_, local.accumulator) ? kCauseNone : kCauseLocalRange;
  }

  Cause load(const Command& command, const ConfigLd& how) {
    Mvin move(command);
    uint64_t rows = move.local_rows(), cols = move.local_cols();
    if (!rows || !cols) return kCauseNone;
    Local local(move.local());
    bool wide = local.accumulator && !how.shrunk();
    uint64_t repeats = local.accumulator ? 1 : std::max<uint64_t>(1, how.pixel_repeats());
    if (repeats > 1 && cols * repeats > dim_) return kCauseShape;
    if (Cause cause = check(local, rows, cols, how.block_stride(), wide)) return cause;
    begin_load();
    std::vector<int32_t> data(rows * cols);
    if (move.dram()) fetch(move.dram(), how, wide, rows, cols, data.data());
    for (uint64_t r = 0; r < rows; r++)
      for (uint64_t c = 0; c < cols; c++) {
        uint64_t row = local.row + r + c / dim_ * how.block_stride();
        int32_t value = data[r * cols + c];
        if (local.accumulator) {
          int32_t& place = accumulator_[row * dim_ + c % dim_];
          place = local.accumulate ? add(place, value) : value;
        } else if (repeats == 1) {
          scratchpad_[row * dim_ + c % dim_] = int8_t(value);
        }
      }
    for (uint64_t copy = 0; repeats > 1 && copy < repeats; copy++)
      put_copy(local.row, copy, rows, cols, data.data());
    return kCauseNone;
  }

  // Pixel repeats: rows that would leave the half of the scratchpad are left out.
  void put_copy(uint64_t first, uint64_t copy, uint64_t rows, uint64_t cols, const int32_t* data) {
    uint64_t half = c_.scratchpad_rows / 2, floor = first >= half ? half : 0;
    for (uint64_t r = 0; r < rows; r++) {
      if (first + r < floor + copy) continue;
      int8_t* row = &scratchpad_[(first + r - copy) * dim_ + copy * cols];
      for (uint64_t c = 0; c < cols; c++) row[c] = int8_t(data[r * cols + c]);
    }
  }

  void fetch(uint64_t address, const ConfigLd& how, bool wide, uint64_t rows, uint64_t cols,
             int32_t* data) {
    uint64_t size = wide ? 4 : 1;
    buffer_.resize(rows * cols * size);
    move(address, how.stride(), rows, cols * size, false);
    if (wide) {
      memcpy(data, buffer_.data(), buffer_.size());
      return;
    }
    float scale = as_float(how.scale());
    for (uint64_t i = 0; i < rows * cols; i++) data[i] = requantize(int8_t(buffer_[i]), scale);
  }

  // Rows between memory and the buffer, where they stand without gaps.  Nothing is written if one
  // of the rows does not exist, except where others of them do: the process ends then anyway.
  void move(uint64_t address, uint64_t stride, uint64_t rows, uint64_t bytes, bool write) {
    for (uint64_t first = 0; first < rows; first += ProcessMemory::kMaxPieces) {
      Piece pieces[ProcessMemory::kMaxPieces];
      uint64_t count = std::min<uint64_t>(ProcessMemory::kMaxPieces, rows - first);
      for (uint64_t i = 0; i < count; i++)
        pieces[i] = {&buffer_[(first + i) * bytes], address + (first + i) * stride, bytes};
      auto copy = write ? ProcessMemory::write : ProcessMemory::read;
      if (copy(pieces, unsigned(count))) continue;
      uint64_t bad = 0;
      while (bad + 1 < count && copy(pieces + bad, 1)) bad++;
      fail_at(write ? kCauseWriteLimit : kCauseReadLimit, pieces[bad].address);
    }
  }

  Cause load_parameters(const MvinParam& move) {
    if (!move.count()) return kCauseNone;
    if (move.row() + (move.count() + dim_ - 1) / dim_ > c_.parameter_rows) return kCauseLocalRange;
    begin_load();
    Piece piece{&parameters_[move.row() * dim_], move.dram(), move.count() * 4};
    if (!ProcessMemory::read(&piece, 1)) fail_at(kCauseReadLimit, move.dram());
    return kCauseNone;
  }

  Cause store(const Mvout& move) {
    bool pools = store_.pool_stride();
    uint64_t rows = pools ? store_.image_rows() * store_.image_cols() : move.local_rows();
    uint64_t cols = move.local_cols();
    if (!cols || !(pools ? store_.pool_rows() * store_.pool_cols() : rows)) return kCauseNone;
    Local local(move.local());
    bool wide = local.accumulator && local.full;
    uint64_t pitch = drain_.block_stride() ? drain_.block_stride() : dim_;
    if (pools && cols > dim_) return kCauseShape;
    if (Cause cause = check(local, rows, cols, pitch, wide)) return cause;
    bool biased = local.accumulator && drain_.bias();
    if (biased && drain_.bias_row() + (cols + dim_ - 1) / dim_ > c_.parameter_rows)
      return kCauseLocalRange;
    bool passes = c_.bert && local.accumulator && !wide;
    if ((local.norm && (!passes || pools)) || (pools && wide)) return kCauseUnsupported;
    bool leaves = collect(local, rows, cols, pitch, biased);
    if (leaves && pools)
      store_pooled(move.dram(), cols);
    else if (leaves)
      this->move(move.dram(), store_.stride(), rows, cols * (wide ? 4 : 1), true);
    tokens_.count_store();
    return kCauseNone;
  }

  // Rows as they leave, in the buffer; false if they only count in statistics.
  bool collect(const Local& local, uint64_t rows, uint64_t cols, uint64_t pitch, bool biased) {
    std::vector<int32_t> sums(local.accumulator ? rows * cols : 0);
    bool wide = local.accumulator && local.full;
    buffer_.resize(rows * cols * (wide ? 4 : 1));
    for (uint64_t at = 0; at < rows * cols; at++) {
      uint64_t c = at % cols, row = local.row + at / cols + c / dim_ * pitch;
      uint64_t place = row * dim_ + c % dim_;
      if (!local.accumulator) {
        buffer_[at] = uint8_t(scratchpad_[place]);
        continue;
      }
      int32_t bias = biased ? parameters_[drain_.bias_row() * dim_ + c] : 0;
      sums[at] = add(accumulator_[place], bias);
    }
    if (wide) memcpy(buffer_.data(), sums.data(), buffer_.size());
    if (!local.accumulator || wide) return true;
    float scale = as_float(store_.scale());
    return passing_.pass(sums, cols, local.norm, store_.activation(), scale, buffer_.data());
  }

  void store_pooled(uint64_t address, uint64_t cols) {
    std::vector<uint8_t> image;
    image.swap(buffer_);
    int64_t height = int64_t(store_.image_rows()), width = int64_t(store_.image_cols());
    int64_t stride = int64_t(store_.pool_stride()), size = int64_t(store_.pool_size());
    for (uint64_t prow = 0; prow < store_.pool_rows(); prow++) {
      buffer_.assign(store_.pool_cols() * cols, 0);
      for (uint64_t at = 0; at < buffer_.size(); at++) {
        int64_t top = int64_t(prow) * stride - int64_t(store_.pool_top_pad()), most = -128;
        int64_t left = int64_t(at / cols) * stride - int64_t(store_.pool_left_pad());
        for (int64_t r = top; r < top + size; r++)
          for (int64_t c = left; c < left + size; c++) {
            bool inside = r >= 0 && r < height && c >= 0 && c < width;
            int64_t x = inside ? int8_t(image[uint64_t(r * width + c) * cols + at % cols]) : 0;
            most = std::max(most, x);
          }
        buffer_[at] = uint8_t(most);
      }
      uint64_t row = address + prow * store_.pool_pitch() * store_.stride();
      move(row, store_.stride(), store_.pool_cols(), cols, true);
    }
  }

  const Configuration& c_;
  const uint64_t dim_;
  std::vector<int8_t> scratchpad_;
  std::vector<int32_t> accumulator_, parameters_;
  std::vector<uint8_t> buffer_;  // Rows on their way from or to memory.
  ConfigLd loads_[3];
  ConfigSt store_;
  PassingRows passing_;
  ConfigDrain drain_;
  Tokens tokens_;
  const LocalMemories memories_{scratchpad_.data(), accumulator_.data(), parameters_.data()};
  Array array_{c_, memories_};
  TransformUnit transforms_{c_, memories_};
  uint64_t number_ = 0;
};

std::unique_ptr<Backend> open_functional(const Configuration& configuration) {
  return std::make_unique<Functional>(configuration);
}

}  // namespace celosia
