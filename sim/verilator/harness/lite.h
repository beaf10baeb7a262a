// The host of the accelerator's registers: AXI4-Lite, one access at a time.
//
// It looks at its pins only while an access is under way, and holds the accelerator to the rules:
// responses come after what they answer and never without, stand unchanged until they are taken,
// and are OKAY, SLVERR or DECERR.
#pragma once

#include "parts.h"
#include "rules.h"

namespace celosia {

// What the accelerator drives, as one edge sees it.
struct LiteSlavePins {
  uint32_t r_data;
  uint8_t aw_ready, w_ready, b_valid, b_response, ar_ready, r_valid, r_response;
  uint8_t zero[5];
};

// What the host drives, until the next edge has seen it.
struct LiteHostPins {
  uint32_t aw_address, w_data, ar_address;
  uint8_t aw_valid, w_valid, w_strobe, b_ready, ar_valid, r_ready;
  uint8_t zero[6];
};

struct Access {
  uint32_t write, address, data, strobe;
};

class AxiLiteHost {
 public:
  // Each channel waits with this chance in a cycle.  With `late`, ready waits for valid.
  AxiLiteHost(uint64_t seed, uint32_t stall_percent, bool late)
      : stall_(seed, kChannels + 1, stall_percent), late_(late) {}

  void reset() {
    memset(&pins_, 0, sizeof pins_);
    active_ = false;
    complaint_.clear();
  }

  // Begins at the next edge.
  void start(const Access& access) {
    access_ = access;
    active_ = true;
    address_offered_ = data_offered_ = address_taken_ = data_taken_ = seen_ = false;
  }

  bool active() const { return active_; }
  uint32_t response() const { return response_; }  // Of the last access.
  uint32_t data() const { return data_; }
  const char* error() const { return complaint_.text(); }
  const LiteHostPins& pins() const { return pins_; }

  // Whether the last edge was the one after which a write to `address` has been taken as a whole.
  bool wrote(uint32_t address) const {
    return taken_now_ && access_.write && access_.address == address;
  }

  // One rising edge, while there is an access.
  void edge(uint64_t now, const LiteSlavePins& slave) {
    check(now, slave);
    taken_now_ = false;
    if (access_.write)
      write(slave);
    else
      read(slave);
  }

 private:
  void write(const LiteSlavePins& slave) {
    bool before = address_taken_ && data_taken_;
    take(pins_.aw_valid, slave.aw_ready, address_taken_);
    take(pins_.w_valid, slave.w_ready, data_taken_);
    taken_now_ = !before && address_taken_ && data_taken_;
    if (slave.b_valid && pins_.b_ready) return finish(slave.b_response, 0);
    offer(pins_.aw_valid, address_offered_);
    offer(pins_.w_valid, data_offered_);
    pins_.aw_address = access_.address, pins_.w_data = access_.data;
    pins_.w_strobe = uint8_t(access_.strobe);
    pins_.b_ready = willing(slave.b_valid);
  }

  void read(const LiteSlavePins& slave) {
    take(pins_.ar_valid, slave.ar_ready, address_taken_);
    if (slave.r_valid && pins_.r_ready) return finish(slave.r_response, slave.r_data);
    offer(pins_.ar_valid, address_offered_);
    pins_.ar_address = access_.address;
    pins_.r_ready = willing(slave.r_valid);
  }

  void take(uint8_t& valid, bool ready, bool& taken) {
    if (valid && ready) valid = 0, taken = true;
  }

  void offer(uint8_t& valid, bool& offered) {
    if (!offered && !stall_()) valid = 1, offered = true;
  }

  bool willing(bool valid) { return (!late_ || valid) && !stall_(); }

  void finish(uint32_t response, uint32_t data) {
    response_ = response, data_ = data;
    memset(&pins_, 0, sizeof pins_);
    active_ = false;
  }

  void check(uint64_t now, const LiteSlavePins& slave) {
    bool written = access_.write && address_taken_ && data_taken_;
    bool asked = !access_.write && address_taken_;
    if (slave.b_valid && !written)
      complaint_.make(now, "register port: B without a write, or before all of it was taken");
    if (slave.r_valid && !asked)
      complaint_.make(now, "register port: R without a read, or before its address was taken");
    bool valid = access_.write ? slave.b_valid : slave.r_valid;
    uint32_t response = access_.write ? slave.b_response : slave.r_response;
    uint32_t data = access_.write ? 0 : slave.r_data;
    if (valid && response == kExokay) complaint_.make(now, "register port: response EXOKAY");
    if (seen_ && !valid) complaint_.make(now, "register port: a response was withdrawn");
    if (seen_ && valid && (response != response_ || data != data_))
      complaint_.make(now, "register port: a response changed while it waited for ready");
    seen_ = valid, response_ = response, data_ = data;
  }

  Chance stall_;
  bool late_;
  LiteHostPins pins_{};
  Access access_{};
  bool active_ = false, address_offered_ = false, data_offered_ = false, address_taken_ = false,
       data_taken_ = false, taken_now_ = false;
  bool seen_ = false;  // A response was on offer at the last edge: this one.
  uint32_t response_ = 0, data_ = 0;
  Complaint complaint_;
};

}  // namespace celosia
