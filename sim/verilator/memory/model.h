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
//   reorder            Responses come in order within an ID only: each burst takes between one
//                      and two latencies, and beats of different IDs are mixed by chance.
//                      Without, they come in the order of their addresses.
//   ready_after_valid  Ready rises in the cycle after valid, for one cycle; AW's waits for W's
//                      valid, too.  AXI4 lets a memory do so: a master whose valid waits for
//                      ready, or whose write data wait for their address to be taken, hangs here.
//
// Bursts are pipelined: with enough of them in flight, R carries a beat in every cycle.  W is
// ready only while the address of its burst is known.  A beat that is not wholly inside the memory
// has response DECERR and touches nothing.  A `Fault` makes bursts fail that are legal; a write
// burst that is to fail touches nothing.
//
// Everything is O(1) per cycle, without allocation.
#pragma once

#include <cstring>
#include <vector>

#include "axi.h"
#include "parts.h"
#include "rules.h"
#include "store.h"

namespace celosia {

constexpr uint8_t kUnmappedByte = 0xDE;  // What a failed read returns, in every byte.

// With no `bytes`, memory is that of the process itself, at its own addresses.
struct MemoryConfig {
  uint64_t base, bytes, seed;
  uint32_t bus_bytes, latency, bytes_per_cycle;
  uint8_t stall_percent[kChannels];  // AR, R, AW, W, B.
  uint8_t reorder, ready_after_valid;
  uint8_t zero[5];
};

// Which bursts fail.  By number: the one that so many others of its direction precede, from the
// moment on that the fault was set; all of its beats fail.  Else: those with a beat that holds the
// byte at this address, in that beat.
struct Fault {
  uint64_t place;
  uint8_t write, by_number, response;
  uint8_t zero[5];
};

struct MemoryCounts {
  uint64_t read_beats, read_bytes, write_beats, write_bytes, bursts_read, bursts_written;
};

class Memory {
 public:
  explicit Memory(const MemoryConfig& config)
      : config_(config),
        store_(config.base, config.bytes),
        rules_(config.bus_bytes),
        stall_{{config.seed, kAr, config.stall_percent[kAr]},
               {config.seed, kR, config.stall_percent[kR]},
               {config.seed, kAw, config.stall_percent[kAw]},
               {config.seed, kW, config.stall_percent[kW]},
               {config.seed, kB, config.stall_percent[kB]}},
        order_(config.seed, kChannels) {
    rate_ = config.bytes_per_cycle < config.bus_bytes ? config.bytes_per_cycle : config.bus_bytes;
    reset();
  }

  // Forgets everything in flight; keeps the contents, the faults, the counts and the clock.
  void reset() {
    memset(&pins_, 0, sizeof pins_);
    for (unsigned id = 0; id < kIds; id++) reads_[id].clear(), responses_[id].clear();
    writes_.clear();
    reads_waiting_ = reads_in_flight_ = writes_in_flight_ = 0;
    read_tokens_ = write_tokens_ = config_.bus_bytes;
    rules_.reset();
  }

  // From now on; `place` counts the bursts that are still to come.
  void add(Fault fault) {
    if (fault.by_number) fault.place += fault.write ? counts_.bursts_written : counts_.bursts_read;
    faults_.push_back(fault);
  }
  void forget_faults() { faults_.clear(); }

  // One rising edge: takes what `m` offers, then decides what the next edge will see.
  void edge(const MasterPins& m) {
    now_++;
    moved_ = false;
    rules_.check(now_, m, pins_, writing());
    if (rules_.broken()) return;
    read_address(m), read_data(m);
    bool data_taken = write_data(m);
    write_address(m), write_response(m);
    pins_.w_ready = write_tokens_ >= config_.bus_bytes && !writes_.empty() &&
                    willing(m.w_valid, data_taken) && !stall_[kW]();
  }

  const MemoryPins& pins() const { return pins_; }
  const char* error() const { return rules_.error(); }  // Empty as long as no rule was broken.
  const MemoryCounts& counts() const { return counts_; }
  Store& store() { return store_; }
  uint64_t now() const { return now_; }
  bool moved() const { return moved_; }              // The last edge had a handshake...
  bool responded() const { return responded_; }      // ...on B.
  unsigned reads_in_flight() const { return reads_in_flight_; }
  unsigned writes_in_flight() const { return writes_in_flight_; }

 private:
  static constexpr unsigned kCapacity = 256;
  static constexpr uint64_t kEveryBeat = ~uint64_t(0);

  struct Burst {
    uint64_t address;  // Of the next beat; exact for the first one.
    uint64_t ready_at;
    uint64_t fails_at;  // The beat with `response`; others are OKAY.
    unsigned beats;     // Left.
    uint8_t id, response;
    bool fresh;  // No beat was read yet.
  };
  using Queue = Ring<Burst, kCapacity>;

  void read_address(const MasterPins& m) {
    bool taken = m.ar_valid && pins_.ar_ready;
    if (taken) {
      Burst burst = accept(m.ar, false, counts_.bursts_read);
      burst.address &= ~uint64_t(config_.bus_bytes - 1);
      burst.ready_at = due();
      queue(reads_, burst.id).push() = burst;
      reads_waiting_++, reads_in_flight_++, counts_.bursts_read++, moved_ = true;
    }
    pins_.ar_ready = reads_waiting_ < kCapacity && willing(m.ar_valid, taken) && !stall_[kAr]();
  }

  void read_data(const MasterPins& m) {
    if (pins_.r_valid && m.r_ready) {
      counts_.read_beats++, counts_.read_bytes += config_.bus_bytes, moved_ = true;
      reads_in_flight_ -= pins_.r_last;
      pins_.r_valid = false;
    }
    if (read_tokens_ < config_.bus_bytes) read_tokens_ += rate_;
    bool held_back = stall_[kR]();
    if (pins_.r_valid || held_back || !reads_waiting_ || read_tokens_ < config_.bus_bytes) return;
    Queue* from = next(reads_);
    if (from) read_beat(*from);
  }

  void read_beat(Queue& from) {
    Burst& burst = from.front();
    const uint8_t* source =
        store_.read(burst.address, config_.bus_bytes, burst.beats, burst.fresh);
    burst.fresh = false;
    pins_.r_response = source ? kOkay : kDecerr;
    if (burst.response && (burst.fails_at == kEveryBeat || burst.fails_at == burst.address))
      pins_.r_response = burst.response, source = nullptr;
    if (source)
      memcpy(pins_.r_data, source, config_.bus_bytes);
    else
      memset(pins_.r_data, kUnmappedByte, config_.bus_bytes);
    pins_.r_valid = true, pins_.r_id = burst.id, pins_.r_last = burst.beats == 1;
    burst.address += config_.bus_bytes, burst.beats--;
    read_tokens_ -= config_.bus_bytes;
    if (pins_.r_last) from.pop(), reads_waiting_--;
  }

  void write_address(const MasterPins& m) {
    bool taken = m.aw_valid && pins_.aw_ready;
    if (taken) {
      writes_.push() = accept(m.aw, true, counts_.bursts_written);
      writes_in_flight_++, counts_.bursts_written++, moved_ = true;
    }
    pins_.aw_ready = writes_in_flight_ < kCapacity && willing(m.aw_valid && m.w_valid, taken) &&
                     !stall_[kAw]();
  }

  bool write_data(const MasterPins& m) {
    bool taken = m.w_valid && pins_.w_ready;
    if (taken) {
      moved_ = true;
      write_tokens_ -= config_.bus_bytes;
      Burst& burst = writes_.front();
      write_beat(burst, m);
      burst.address = (burst.address & ~uint64_t(config_.bus_bytes - 1)) + config_.bus_bytes;
      if (!--burst.beats) {
        burst.ready_at = due();
        queue(responses_, burst.id).push() = burst;
        writes_.pop();
      }
    }
    if (write_tokens_ < config_.bus_bytes) write_tokens_ += rate_;
    return taken;
  }

  void write_beat(Burst& burst, const MasterPins& m) {
    counts_.write_beats++;
    counts_.write_bytes += unsigned(__builtin_popcountll(m.w_strobe));
    if (burst.response) return;
    uint64_t beat = burst.address & ~uint64_t(config_.bus_bytes - 1);
    bool written = store_.write(beat, config_.bus_bytes, m.w_data, m.w_strobe);
    if (burst.beats == 1) written &= store_.end();
    if (!written) burst.response = kDecerr;
  }

  void write_response(const MasterPins& m) {
    responded_ = pins_.b_valid && m.b_ready;
    if (responded_) {
      writes_in_flight_--, moved_ = true;
      pins_.b_valid = false;
    }
    bool held_back = stall_[kB]();
    if (pins_.b_valid || held_back || !writes_in_flight_) return;
    Queue* from = next(responses_);
    if (!from) return;
    pins_.b_valid = true, pins_.b_id = from->front().id, pins_.b_response = from->front().response;
    from->pop();
  }

  // The burst of an address that was just taken, as the faults have it.
  Burst accept(const Address& a, bool write, uint64_t number) {
    Burst burst{a.address, 0, kEveryBeat, a.beats_minus_1 + 1u, a.id, kOkay, true};
    for (const Fault& fault : faults_) {
      if (bool(fault.write) != write) continue;
      uint64_t beat = fault.place & ~uint64_t(config_.bus_bytes - 1);
      uint64_t first = a.address & ~uint64_t(config_.bus_bytes - 1);
      bool here = fault.by_number ? fault.place == number
                                  : (beat - first) / config_.bus_bytes < burst.beats;
      if (!here) continue;
      burst.response = fault.response;
      burst.fails_at = fault.by_number ? kEveryBeat : beat;
    }
    return burst;
  }

  uint64_t due() {
    return now_ + config_.latency + (config_.reorder ? order_.below(config_.latency + 1) : 0);
  }

  // All are in one queue if their order is that of their addresses.
  Queue& queue(Queue* queues, uint8_t id) { return queues[config_.reorder ? id % kIds : 0]; }

  // The queue whose front comes next, if one is due.
  Queue* next(Queue* queues) {
    auto is_due = [this](Queue& q) { return !q.empty() && q.front().ready_at <= now_ + 1; };
    if (!config_.reorder) return is_due(queues[0]) ? queues : nullptr;
    unsigned first = order_.below(kIds);
    for (unsigned i = 0; i < kIds; i++)
      if (Queue& q = queues[(first + i) % kIds]; is_due(q)) return &q;
    return nullptr;
  }

  bool willing(bool valid, bool taken) const {
    return !config_.ready_after_valid || (valid && !taken);
  }

  WriteInProgress writing() {
    if (writes_.empty()) return {0, 0};
    return {writes_.front().address, writes_.front().beats};
  }

  MemoryConfig config_;
  Store store_;
  MasterRules rules_;
  std::vector<Fault> faults_;
  Chance stall_[kChannels];
  Chance order_;
  MemoryPins pins_;
  MemoryCounts counts_{};
  Queue reads_[kIds], writes_, responses_[kIds];
  uint64_t now_ = 0;
  uint32_t rate_ = 0, read_tokens_ = 0, write_tokens_ = 0;
  // Read bursts whose last beat is not on offer yet; bursts whose last beat or response was not
  // taken yet.
  unsigned reads_waiting_ = 0, reads_in_flight_ = 0, writes_in_flight_ = 0;
  bool moved_ = false, responded_ = false;
};

}  // namespace celosia
