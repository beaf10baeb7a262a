// The memory behind the accelerator: one model for every RTL simulator.
//
// Five AXI4 channels, sampled at each rising clock edge; every output is a register, that is, it
// depends on earlier edges only.  "At edge t" below means: seen by the edge with number t.
//
//   latency L          The read address taken at edge t has its first beat on offer at edge t + L.
//                      The last write beat taken at edge t has its response on offer at t + L.
//   bytes_per_cycle    Token bucket per direction, in bus beats: at most one beat per cycle, and
//                      over time no more than this many bytes.  An idle bus saves up one beat.
//   stall_percent      In each cycle, each channel refuses (AR, AW, W) or holds back (R, B) with
//                      this chance, by a generator of its own.  An offer once made stands.
//
// Responses come in the order of their addresses.  Bursts are pipelined: with enough of them in
// flight, R carries a beat in every cycle.  W is ready only while the address of its burst is
// known.  A beat that is not wholly inside the memory has response DECERR and touches nothing.
// Everything is O(1) per cycle, without allocation.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace celosia {

constexpr unsigned kMaxBusBytes = 64;
constexpr uint64_t kPageBytes = 4096;
constexpr uint8_t kUnmappedByte = 0xDE;  // What a read beyond the memory returns, in every byte.
enum Response : uint8_t { kOkay = 0, kSlverr = 2, kDecerr = 3 };

// A read or write address; laid out like its ctypes twin in `binding.py`.
struct Address {
  uint64_t address;
  uint8_t beats_minus_1, size, burst, id;
  uint32_t zero;

  bool operator==(const Address& o) const {
    return address == o.address && beats_minus_1 == o.beats_minus_1 && size == o.size &&
           burst == o.burst && id == o.id;
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

struct MemoryConfig {
  uint64_t base, bytes;
  uint32_t bus_bytes, latency, bytes_per_cycle, stall_percent;
  uint64_t seed;
};

struct MemoryCounts {
  uint64_t read_beats, read_bytes, write_beats, write_bytes, bursts_read, bursts_written;
};

// A queue in an array: no allocation, `capacity` is a power of two.
template <typename T, unsigned capacity>
class Ring {
 public:
  unsigned size() const { return tail_ - head_; }
  bool empty() const { return tail_ == head_; }
  bool full() const { return size() == capacity; }
  T& front() { return items_[head_ % capacity]; }
  T& push() { return items_[tail_++ % capacity]; }
  void pop() { head_++; }
  void clear() { head_ = tail_ = 0; }

 private:
  T items_[capacity];
  unsigned head_ = 0, tail_ = 0;
};

// The bytes themselves, zero at first, rounded up to whole beats of the widest bus.  The only
// place that turns an address into a pointer.
class Store {
 public:
  Store(uint64_t base, uint64_t bytes)
      : base_(base),
        bytes_((bytes + kMaxBusBytes - 1) & ~uint64_t(kMaxBusBytes - 1)),
        data_(static_cast<uint8_t*>(calloc(bytes_, 1)), free) {}

  uint8_t* data() { return data_.get(); }

  // Null unless all of [address, address + size) is inside.
  uint8_t* at(uint64_t address, uint64_t size) {
    uint64_t offset = address - base_;
    return offset < bytes_ && size <= bytes_ - offset ? data_.get() + offset : nullptr;
  }

 private:
  uint64_t base_, bytes_;
  std::unique_ptr<uint8_t, decltype(&free)> data_;
};

// Decides, once per cycle, whether a channel stalls (xorshift64*).
class Stall {
 public:
  Stall(uint64_t seed, uint64_t channel, uint32_t percent)
      : state_((seed + 1) * 0x9E3779B97F4A7C15u ^ (channel + 1) * 0xD1B54A32D192ED03u),
        percent_(percent) {
    if (!state_) state_ = 1;
    for (int i = 0; i < 8; i++) (*this)();
  }

  bool operator()() {
    if (!percent_) return false;
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    uint64_t high = (state_ * 0x2545F4914F6CDD1Du) >> 32;
    return high * 100 >> 32 < percent_;
  }

 private:
  uint64_t state_;
  uint32_t percent_;
};

class Memory {
 public:
  explicit Memory(const MemoryConfig& config)
      : config_(config),
        store_(config.base, config.bytes),
        stall_{{config.seed, 0, config.stall_percent},
               {config.seed, 1, config.stall_percent},
               {config.seed, 2, config.stall_percent},
               {config.seed, 3, config.stall_percent},
               {config.seed, 4, config.stall_percent}} {
    while (1u << size_log2_ < config.bus_bytes) size_log2_++;
    rate_ = config.bytes_per_cycle < config.bus_bytes ? config.bytes_per_cycle : config.bus_bytes;
    reset();
  }

  // Forgets everything in flight; keeps the contents, the counts and the clock.
  void reset() {
    memset(&pins_, 0, sizeof pins_);
    reads_.clear(), writes_.clear(), responses_.clear();
    reads_in_flight_ = writes_in_flight_ = 0;
    read_tokens_ = write_tokens_ = config_.bus_bytes;
    ar_held_ = aw_held_ = w_held_ = false;
    error_[0] = 0;
  }

  // One rising edge: takes what `m` offers, then decides what the next edge will see.
  void edge(const MasterPins& m) {
    now_++;
    moved_ = false;
    check_address("AR", m.ar_valid, pins_.ar_ready, m.ar, ar_held_, ar_seen_);
    check_address("AW", m.aw_valid, pins_.aw_ready, m.aw, aw_held_, aw_seen_);
    check_write_data(m);
    if (error_[0]) return;
    read_address(m), read_data(m);
    write_data(m), write_address(m), write_response(m);
    pins_.w_ready = write_tokens_ >= config_.bus_bytes && !writes_.empty() && !stall_[kW]();
  }

  const MemoryPins& pins() const { return pins_; }
  const char* error() const { return error_; }  // Empty as long as no rule was broken.
  const MemoryCounts& counts() const { return counts_; }
  Store& store() { return store_; }
  uint64_t now() const { return now_; }
  bool moved() const { return moved_; }              // The last edge had a handshake...
  bool responded() const { return responded_; }      // ...on B.
  unsigned reads_in_flight() const { return reads_in_flight_; }
  unsigned writes_in_flight() const { return writes_in_flight_; }

 private:
  enum Channel { kAr, kR, kAw, kW, kB };

  struct Burst {
    uint64_t address;  // Of the next beat; exact for the first one.
    uint64_t ready_at;
    unsigned beats;  // Left.
    uint8_t id, response;
  };

  void read_address(const MasterPins& m) {
    if (m.ar_valid && pins_.ar_ready) {
      reads_.push() = {m.ar.address & ~uint64_t(config_.bus_bytes - 1), now_ + config_.latency,
                       m.ar.beats_minus_1 + 1u, m.ar.id, kOkay};
      reads_in_flight_++, counts_.bursts_read++, moved_ = true;
    }
    pins_.ar_ready = !reads_.full() && !stall_[kAr]();
  }

  void read_data(const MasterPins& m) {
    if (pins_.r_valid && m.r_ready) {
      counts_.read_beats++, counts_.read_bytes += config_.bus_bytes, moved_ = true;
      reads_in_flight_ -= pins_.r_last;
      pins_.r_valid = false;
    }
    if (read_tokens_ < config_.bus_bytes) read_tokens_ += rate_;
    bool held_back = stall_[kR]();
    if (pins_.r_valid || held_back || reads_.empty() || read_tokens_ < config_.bus_bytes) return;
    Burst& burst = reads_.front();
    if (burst.ready_at > now_ + 1) return;
    const uint8_t* source = store_.at(burst.address, config_.bus_bytes);
    if (source)
      memcpy(pins_.r_data, source, config_.bus_bytes);
    else
      memset(pins_.r_data, kUnmappedByte, config_.bus_bytes);
    pins_.r_valid = true, pins_.r_id = burst.id, pins_.r_last = burst.beats == 1;
    pins_.r_response = source ? kOkay : kDecerr;
    burst.address += config_.bus_bytes, burst.beats--;
    read_tokens_ -= config_.bus_bytes;
    if (pins_.r_last) reads_.pop();
  }

  void write_address(const MasterPins& m) {
    if (m.aw_valid && pins_.aw_ready) {
      writes_.push() = {m.aw.address, 0, m.aw.beats_minus_1 + 1u, m.aw.id, kOkay};
      writes_in_flight_++, counts_.bursts_written++, moved_ = true;
    }
    pins_.aw_ready = writes_in_flight_ < kCapacity && !stall_[kAw]();
  }

  void write_data(const MasterPins& m) {
    if (m.w_valid && pins_.w_ready) {
      moved_ = true;
      write_tokens_ -= config_.bus_bytes;
      Burst& burst = writes_.front();
      write_beat(burst, m);
      burst.address = (burst.address & ~uint64_t(config_.bus_bytes - 1)) + config_.bus_bytes;
      if (!--burst.beats) {
        responses_.push() = {0, now_ + config_.latency, 0, burst.id, burst.response};
        writes_.pop();
      }
    }
    if (write_tokens_ < config_.bus_bytes) write_tokens_ += rate_;
  }

  void write_beat(Burst& burst, const MasterPins& m) {
    uint8_t* target = store_.at(burst.address & ~uint64_t(config_.bus_bytes - 1), config_.bus_bytes);
    counts_.write_beats++;
    counts_.write_bytes += unsigned(__builtin_popcountll(m.w_strobe));
    if (!target) {
      burst.response = kDecerr;
      return;
    }
    if (m.w_strobe == all_lanes()) {
      memcpy(target, m.w_data, config_.bus_bytes);
      return;
    }
    for (uint64_t lanes = m.w_strobe; lanes; lanes &= lanes - 1) {
      unsigned lane = unsigned(__builtin_ctzll(lanes));
      target[lane] = m.w_data[lane];
    }
  }

  void write_response(const MasterPins& m) {
    responded_ = pins_.b_valid && m.b_ready;
    if (responded_) {
      writes_in_flight_--, moved_ = true;
      pins_.b_valid = false;
    }
    bool held_back = stall_[kB]();
    if (pins_.b_valid || held_back || responses_.empty()) return;
    Burst& burst = responses_.front();
    if (burst.ready_at > now_ + 1) return;
    pins_.b_valid = true, pins_.b_id = burst.id, pins_.b_response = burst.response;
    responses_.pop();
  }

  void check_address(const char* name, bool valid, bool ready, const Address& seen, bool& held,
                     Address& before) {
    if (!valid) {
      if (held) fail("%s: valid was withdrawn before ready (%#llx)", name, hex(before.address));
      return;
    }
    if (held) {
      if (!(seen == before))
        fail("%s: the payload changed while it waited for ready (%#llx, then %#llx)", name,
             hex(before.address), hex(seen.address));
    } else {
      check_burst(name, seen);
    }
    held = !ready;
    before = seen;
  }

  void check_burst(const char* name, const Address& a) {
    uint64_t offset = a.address & (kPageBytes - 1) & ~uint64_t(config_.bus_bytes - 1);
    if (a.burst != 1) fail("%s: burst type %u is not INCR (1)", name, a.burst);
    if (a.size != size_log2_)
      fail("%s: size %u is not the bus width (%u)", name, a.size, size_log2_);
    if (offset + (a.beats_minus_1 + 1u) * config_.bus_bytes > kPageBytes)
      fail("%s: a burst of %u beats at %#llx crosses a 4 KiB boundary", name,
           a.beats_minus_1 + 1u, hex(a.address));
  }

  void check_write_data(const MasterPins& m) {
    if (w_held_ && !m.w_valid) fail("W: valid was withdrawn before ready");
    if (!m.w_valid) return;
    if (w_held_ && (m.w_strobe != w_strobe_ || m.w_last != w_last_ ||
                    memcmp(m.w_data, w_data_, config_.bus_bytes)))
      fail("W: the payload changed while it waited for ready");
    w_held_ = !pins_.w_ready;
    if (w_held_) {
      w_strobe_ = m.w_strobe, w_last_ = m.w_last;
      memcpy(w_data_, m.w_data, config_.bus_bytes);
      return;
    }
    const Burst& burst = writes_.front();
    if (bool(m.w_last) != (burst.beats == 1))
      fail("W: last is %u with %u beats of the burst left", m.w_last, burst.beats);
    uint64_t below = (uint64_t(1) << (burst.address & (config_.bus_bytes - 1))) - 1;
    if (m.w_strobe & below)
      fail("W: strobe %#llx covers bytes below the address %#llx", hex(m.w_strobe),
           hex(burst.address));
    if (m.w_strobe & ~all_lanes()) fail("W: strobe %#llx is wider than the bus", hex(m.w_strobe));
  }

  uint64_t all_lanes() const { return ~uint64_t(0) >> (64 - config_.bus_bytes); }
  static unsigned long long hex(uint64_t value) { return value; }

  __attribute__((format(printf, 2, 3), cold, noinline)) void fail(const char* format, ...) {
    if (error_[0]) return;
    int used = snprintf(error_, sizeof error_, "cycle %llu: ", hex(now_));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_ + used, sizeof error_ - size_t(used), format, arguments);
    va_end(arguments);
  }

  static constexpr unsigned kCapacity = 256;

  MemoryConfig config_;
  Store store_;
  Stall stall_[5];
  MemoryPins pins_;
  MemoryCounts counts_{};
  Ring<Burst, kCapacity> reads_, writes_, responses_;
  uint64_t now_ = 0;
  uint32_t size_log2_ = 0, rate_ = 0, read_tokens_ = 0, write_tokens_ = 0;
  unsigned reads_in_flight_ = 0, writes_in_flight_ = 0;
  bool moved_ = false, responded_ = false;
  // Offers that were not taken, to compare with the next edge.
  bool ar_held_ = false, aw_held_ = false, w_held_ = false;
  Address ar_seen_{}, aw_seen_{};
  uint64_t w_strobe_ = 0;
  uint8_t w_last_ = 0, w_data_[kMaxBusBytes];
  char error_[256];
};

}  // namespace celosia
