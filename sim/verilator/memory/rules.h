// The rules of AXI4 that the accelerator has to keep as a master, looked at edge by edge.
//
//   * An offer, once made, stands unchanged until it is taken.
//   * Bursts are INCR, as wide as the bus, and cross no 4 KiB boundary; exclusive accesses and the
//     reserved kinds of cache attributes do not occur.
//   * Write data come with their address or later, `last` is at the last beat, strobes lie within
//     the bus and never below the address.
//
// That no valid waits for ready shows as a deadlock of `MemoryConfig::ready_after_valid`.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "axi.h"

namespace celosia {

// The first rule that was broken, in words; empty until then.
class Complaint {
 public:
  const char* text() const { return text_; }
  bool made() const { return text_[0]; }
  void clear() { text_[0] = 0; }

  __attribute__((format(printf, 3, 4), cold, noinline)) void make(uint64_t cycle,
                                                                  const char* format, ...) {
    if (made()) return;
    int used = snprintf(text_, sizeof text_, "cycle %llu: ", (unsigned long long)cycle);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text_ + used, sizeof text_ - size_t(used), format, arguments);
    va_end(arguments);
  }

 private:
  char text_[256] = "";
};

// The burst that the next write beat belongs to.
struct WriteInProgress {
  uint64_t address;  // Of the next beat; exact for the first one.
  unsigned beats;    // Left; 0: no address was taken that still wants data.
};

class MasterRules {
 public:
  explicit MasterRules(unsigned bus_bytes) : bus_bytes_(bus_bytes) {
    while (1u << size_ < bus_bytes) size_++;
  }

  const char* error() const { return complaint_.text(); }
  bool broken() const { return complaint_.made(); }

  void reset() {
    ar_.held = aw_.held = w_held_ = false;
    complaint_.clear();
  }

  // One edge: what the master offers, against what the memory `shows`.
  void check(uint64_t now, const MasterPins& m, const MemoryPins& shown,
             const WriteInProgress& writing) {
    now_ = now;
    check_address("AR", m.ar_valid, shown.ar_ready, m.ar, ar_);
    check_address("AW", m.aw_valid, shown.aw_ready, m.aw, aw_);
    check_data(m, shown, writing);
  }

 private:
  struct Offer {
    bool held;  // Not taken: it stands at the next edge.
    Address seen;
  };

  void check_address(const char* name, bool valid, bool ready, const Address& seen, Offer& offer) {
    if (!valid) {
      if (offer.held)
        complain("%s: valid was withdrawn before ready (%#llx)", name, hex(offer.seen.address));
      return;
    }
    if (offer.held) {
      if (!(seen == offer.seen))
        complain("%s: the payload changed while it waited for ready (%#llx, then %#llx)", name,
                 hex(offer.seen.address), hex(seen.address));
    } else {
      check_burst(name, seen);
    }
    offer.held = !ready;
    offer.seen = seen;
  }

  void check_burst(const char* name, const Address& a) {
    unsigned beats = a.beats_minus_1 + 1u;
    uint64_t offset = a.address & (kPageBytes - 1) & ~uint64_t(bus_bytes_ - 1);
    if (a.burst != 1) complain("%s: burst type %u is not INCR (1)", name, a.burst);
    if (a.size != size_) complain("%s: size %u is not the bus width (%u)", name, a.size, size_);
    if (offset + beats * bus_bytes_ > kPageBytes)
      complain("%s: a burst of %u beats at %#llx crosses a 4 KiB boundary", name, beats,
               hex(a.address));
    if (a.id >= kIds) complain("%s: ID %u has more than 4 bits", name, a.id);
    if (a.lock) complain("%s: an exclusive access", name);
    if ((a.cache & 0b1100) && !(a.cache & 0b0010))
      complain("%s: cache attributes %#x are reserved", name, a.cache);
  }

  void check_data(const MasterPins& m, const MemoryPins& shown, const WriteInProgress& writing) {
    if (w_held_ && !m.w_valid) complain("W: valid was withdrawn before ready");
    if (!m.w_valid) return;
    if (w_held_ && (m.w_strobe != w_strobe_ || m.w_last != w_last_ ||
                    memcmp(m.w_data, w_data_, bus_bytes_)))
      complain("W: the payload changed while it waited for ready");
    if (!writing.beats && !m.aw_valid) complain("W: data before their address");
    w_held_ = !shown.w_ready;
    if (w_held_) {
      w_strobe_ = m.w_strobe, w_last_ = m.w_last;
      memcpy(w_data_, m.w_data, bus_bytes_);
      return;
    }
    if (bool(m.w_last) != (writing.beats == 1))
      complain("W: last is %u with %u beats of the burst left", m.w_last, writing.beats);
    uint64_t below = (uint64_t(1) << (writing.address & (bus_bytes_ - 1))) - 1;
    if (m.w_strobe & below)
      complain("W: strobe %#llx covers bytes below the address %#llx", hex(m.w_strobe),
               hex(writing.address));
    if (m.w_strobe & ~(~uint64_t(0) >> (64 - bus_bytes_)))
      complain("W: strobe %#llx is wider than the bus", hex(m.w_strobe));
  }

  static unsigned long long hex(uint64_t value) { return value; }

  template <typename... Values>
  void complain(const char* format, Values... values) {
    complaint_.make(now_, format, values...);
  }

  unsigned bus_bytes_, size_ = 0;
  uint64_t now_ = 0;
  Offer ar_{}, aw_{};
  bool w_held_ = false;
  // Write data that were not taken, to compare with the next edge.
  uint64_t w_strobe_ = 0;
  uint8_t w_last_ = 0, w_data_[kMaxBusBytes];
  Complaint complaint_;
};

}  // namespace celosia
