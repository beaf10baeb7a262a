// The bytes behind the memory's port, and the only place that turns an address into a pointer:
// either some of its own, or those of the process that it runs in.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "axi.h"
#include "process.h"

namespace celosia {

// Bytes of its own are zero at first, rounded up to whole beats of the widest bus.  With no bytes,
// every address is one of the process: a burst is then copied at once, because a copy is a call of
// the system, and writes to it take effect when it `ends`.
class Store {
 public:
  Store(uint64_t base, uint64_t bytes)
      : base_(base),
        bytes_((bytes + kMaxBusBytes - 1) & ~uint64_t(kMaxBusBytes - 1)),
        is_process_(!bytes),
        data_(static_cast<uint8_t*>(calloc(bytes_ ? bytes_ : 1, 1)), free) {}

  uint8_t* data() { return data_.get(); }

  // A beat of a burst of which `beats` are left; null unless all of it is there.
  const uint8_t* read(uint64_t address, unsigned size, unsigned beats, bool first) {
    if (!is_process_) return at(address, size);
    if (first || address < line_first_ || address + size > line_first_ + line_bytes_) {
      uint64_t most = kPageBytes - address % kPageBytes;
      line_first_ = address;
      line_bytes_ = uint64_t(size) * beats < most ? uint64_t(size) * beats : most;
      Piece piece{line_, line_first_, line_bytes_};
      if (!ProcessMemory::read(&piece, 1)) line_bytes_ = 0;
    }
    return line_bytes_ ? line_ + (address - line_first_) : nullptr;
  }

  // The bytes of a beat whose lanes are set; false if the beat is not there.
  bool write(uint64_t address, unsigned size, const uint8_t* data, uint64_t lanes) {
    if (is_process_) return collect(address, data, lanes);
    uint8_t* target = at(address, size);
    if (!target) return false;
    if (lanes == ~uint64_t(0) >> (64 - size)) {
      memcpy(target, data, size);
      return true;
    }
    for (; lanes; lanes &= lanes - 1) {
      unsigned lane = unsigned(__builtin_ctzll(lanes));
      target[lane] = data[lane];
    }
    return true;
  }

  // After the last beat of a burst; false if something of it could not be written.
  bool end() {
    if (!pieces_) return true;
    bool written = ProcessMemory::write(piece_, pieces_);
    pieces_ = 0, collected_ = 0;
    return written;
  }

 private:
  // Null unless all of [address, address + size) is inside.
  uint8_t* at(uint64_t address, uint64_t size) {
    uint64_t offset = address - base_;
    return offset < bytes_ && size <= bytes_ - offset ? data_.get() + offset : nullptr;
  }

  bool collect(uint64_t address, const uint8_t* data, uint64_t lanes) {
    bool good = true;
    for (unsigned lane = 0; lanes >> lane; lane++) {
      if (!(lanes >> lane & 1)) continue;
      bool follows = pieces_ && piece_[pieces_ - 1].address + piece_[pieces_ - 1].bytes == address + lane;
      if (!follows) {
        if (pieces_ == ProcessMemory::kMaxPieces || collected_ == kPageBytes) good &= end();
        piece_[pieces_++] = {collect_ + collected_, address + lane, 0};
      }
      piece_[pieces_ - 1].bytes++;
      collect_[collected_++] = data[lane];
      if (collected_ == kPageBytes) good &= end();
    }
    return good;
  }

  uint64_t base_, bytes_;
  bool is_process_;
  std::unique_ptr<uint8_t, decltype(&free)> data_;
  uint64_t line_first_ = 0, line_bytes_ = 0;  // What was read of a burst of the process.
  unsigned pieces_ = 0, collected_ = 0;       // What is to be written of one.
  Piece piece_[ProcessMemory::kMaxPieces];
  uint8_t line_[kPageBytes], collect_[kPageBytes];
};

}  // namespace celosia
