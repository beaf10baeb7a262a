// The pins of the memory port: what the accelerator and the memory drive on AXI4's five channels.
// Each structure has a twin in `binding.py`; a test compares their sizes.
#pragma once

#include <cstdint>

namespace celosia {

constexpr unsigned kMaxBusBytes = 64;
constexpr uint64_t kPageBytes = 4096;
constexpr unsigned kIds = 16;
enum Response : uint8_t { kOkay = 0, kExokay = 1, kSlverr = 2, kDecerr = 3 };
enum Channel : unsigned { kAr, kR, kAw, kW, kB, kChannels };

// A read or write address.
struct Address {
  uint64_t address;
  uint8_t beats_minus_1, size, burst, id, lock, cache, protection, quality;

  bool operator==(const Address& o) const {
    return address == o.address && beats_minus_1 == o.beats_minus_1 && size == o.size &&
           burst == o.burst && id == o.id && lock == o.lock && cache == o.cache &&
           protection == o.protection && quality == o.quality;
  }
};

// What the accelerator drives, as one edge sees it.
struct MasterPins {
  Address ar, aw;
  uint64_t w_strobe;
  uint8_t w_data[kMaxBusBytes];
  uint8_t ar_valid, r_ready, aw_valid, w_valid, w_last, b_ready, zero[2];
};

// What the memory drives, until the next edge has seen it.
struct MemoryPins {
  uint8_t r_data[kMaxBusBytes];
  uint8_t ar_ready, r_valid, r_response, r_last, r_id;
  uint8_t aw_ready, w_ready, b_valid, b_response, b_id;
  uint8_t zero[6];
};

}  // namespace celosia
