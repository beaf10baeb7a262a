// Everything around the accelerator that is not RTL: the memory, the host of its registers, the
// command stream, the clock that counts a program's cycles, and the watchdog.  Both RTL simulators
// call `edge` once per rising clock edge with the pins as that edge sees them, and apply `pins`
// after it; so both see the same memory, the same commands and the same cycle counts.
//
// A program's cycles are the rising edges from the one that takes its first command (from the
// ring: the write to the doorbell) to the one that takes its last write response, both included.
// A program that does something after its last write response (or never writes) ends at the last
// edge at which `busy` is high, a command is taken or a memory channel moves.
// A run is over once every command is taken (from the ring: the last doorbell was rung; of an open
// stream: it was closed), or an error is recorded, and, for `kQuietEdges` edges in a row, `busy` was
// low and no burst was in flight; those do not count.
#pragma once

#include <vector>

#include "command.h"
#include "lite.h"
#include "log.h"
#include "marks.h"
#include "model.h"

namespace celosia {

constexpr unsigned kQuietEdges = 8;
constexpr unsigned kResetEdges = 4;

struct BenchConfig {
  MemoryConfig memory;
  uint64_t watchdog;  // Edges without any progress until a run is given up.
  uint32_t host_stall_percent, doorbell;  // The doorbell's address.
};

// What the accelerator drives, as one edge sees it.  `lite` only while there is an access.
struct ChipPins {
  MasterPins memory;
  LiteSlavePins lite;
  uint8_t cmd_ready, busy, error, progress, interrupt, zero[3];
};

// What the bench drives, until the next edge has seen it.
struct BenchPins {
  MemoryPins memory;
  Command command;
  LiteHostPins lite;
  uint8_t command_valid, zero[7];
};

enum State : uint32_t { kIdle, kRunning, kDone, kErrorRegister, kWatchdog, kProtocol, kAssertion };

// What a caller waits for, and does not go beyond.
enum Goal : uint32_t { kRunOver, kAccessOver, kInterrupt, kOffered };

// Since creation: edges with bursts in flight, and the sum over all edges of how many there were,
// which is the sum of their latencies.
struct Activity {
  uint64_t reading, writing, read_latency, write_latency;
};

struct Status {
  uint32_t state, accessing, interrupt;
  uint32_t response, data;  // Of the last register access.
  uint32_t reads_in_flight, writes_in_flight, zero;
  uint64_t cycles;    // Of this run.
  uint64_t now;       // Edges since creation.
  uint64_t accepted;  // Commands of this run, of the stream.
  MemoryCounts counts;
  char message[256];  // The rule that was broken.
};

class Bench {
 public:
  explicit Bench(const BenchConfig& config)
      : config_(config),
        memory_(config.memory),
        host_(config.memory.seed, config.host_stall_percent, config.memory.ready_after_valid) {}

  // After this, the accelerator must see `kResetEdges` edges in reset, without calls of `edge`.
  void reset() {
    memory_.reset();
    host_.reset();
    memset(&pins_, 0, sizeof pins_);
    state_ = kIdle;
    fresh_ = true;
    error_[0] = 0;
  }

  // Queues a program.  Its first command is on offer from the second edge on.
  void load(const Command* commands, uint64_t count) {
    begin();
    program_.assign(commands, commands + count);
    from_ring_ = is_open_ = false;
  }

  // Begins a run whose commands come one by one: `push`, as often as one likes, then `close`.
  void open_stream() {
    begin();
    program_.clear();
    from_ring_ = false, is_open_ = true;
  }

  void push(const Command& command) {
    if (!waiting()) dropped_ = offered_, program_.clear();
    program_.push_back(command);
  }

  void close_stream() { is_open_ = false; }

  // Begins a run whose commands come from the ring.
  void load_ring() {
    begin();
    program_.clear();
    from_ring_ = true, is_open_ = last_doorbell_ = false;
  }

  // All commands of a run from the ring were announced by the doorbell.
  void end_ring() { last_doorbell_ = true; }

  void access(const Access& access) { host_.start(access); }

  bool running() const { return state_ == kRunning; }
  const BenchPins& pins() const { return pins_; }
  Memory& memory() { return memory_; }
  Marks& marks() { return marks_; }
  const Marks& marks() const { return marks_; }
  const Log& log() const { return log_; }
  Log& log() { return log_; }

  // The edge that takes the first command, or writes the first doorbell; 0: not yet.
  uint64_t first_edge() const { return first_edge_; }

  // The events of the last edge, before the next one.
  void note(const LogPins& pins) {
    if (running()) log_.edge(memory_.now(), pins);
  }

  const AxiLiteHost& host() const { return host_; }
  const Activity& activity() const { return activity_; }

  // Whether there is something to simulate on the way to `goal`.
  bool towards(Goal goal) const {
    if (goal == kAccessOver) return host_.active() && state_ < kProtocol;
    if (goal == kOffered) return running() && waiting();
    return running() && !(goal == kInterrupt && interrupt_);
  }

  void edge(const ChipPins& chip) {
    if (fresh_) check_reset(chip.memory);
    memory_.edge(chip.memory);
    activity_.reading += memory_.reads_in_flight() != 0;
    activity_.writing += memory_.writes_in_flight() != 0;
    activity_.read_latency += memory_.reads_in_flight();
    activity_.write_latency += memory_.writes_in_flight();
    interrupt_ = chip.interrupt;
    take_command(chip);
    if (host_.active()) access_registers(chip);
    if (memory_.error()[0]) stop(kProtocol, memory_.error());
    if (running()) watch(chip);
    if (state_ == kProtocol) return;
    offer_command(chip);
    pins_.memory = memory_.pins();
  }

  void stop(State state, const char* message) {
    state_ = state;
    snprintf(error_, sizeof error_, "%s", message);
  }

  Status status() const {
    Status status{};
    status.state = state_;
    status.accessing = host_.active(), status.interrupt = interrupt_;
    status.response = host_.response(), status.data = host_.data();
    status.reads_in_flight = memory_.reads_in_flight();
    status.writes_in_flight = memory_.writes_in_flight();
    uint64_t last = worked_after_response_ ? last_busy_ : last_response_;
    status.cycles = first_edge_ && last >= first_edge_ ? last - first_edge_ + 1 : 0;
    status.now = memory_.now();
    status.accepted = accepted_;
    status.counts = memory_.counts();
    memcpy(status.message, error_, sizeof status.message);
    return status;
  }

 private:
  void begin() {
    accepted_ = offered_ = dropped_ = 0;
    first_edge_ = last_busy_ = last_response_ = 0;
    worked_after_response_ = true;
    quiet_ = 0, alive_at_ = memory_.now();
    if (log_.active()) log_.begin(memory_.now());
    state_ = kRunning;
  }

  // The first edge out of reset sees what was driven in reset.
  void check_reset(const MasterPins& m) {
    fresh_ = false;
    if (m.ar_valid || m.aw_valid || m.w_valid) stop(kProtocol, "a valid was high in reset");
  }

  void take_command(const ChipPins& chip) {
    command_taken_ = pins_.command_valid && chip.cmd_ready;
    if (!command_taken_) return;
    if (!first_edge_) first_edge_ = memory_.now();
    accepted_++;
  }

  void access_registers(const ChipPins& chip) {
    host_.edge(memory_.now(), chip.lite);
    if (host_.error()[0]) return stop(kProtocol, host_.error());
    pins_.lite = host_.pins();
    if (from_ring_ && !first_edge_ && host_.wrote(config_.doorbell)) first_edge_ = memory_.now();
  }

  void watch(const ChipPins& chip) {
    uint64_t now = memory_.now();
    bool moved = command_taken_ || memory_.moved();
    if (memory_.responded()) {
      last_response_ = now, worked_after_response_ = false;
    } else if (moved || (chip.progress && now > last_response_ + kProgressDelay)) {
      worked_after_response_ = true;
    }
    if (moved || chip.busy) last_busy_ = now;
    if (moved || chip.progress) {
      alive_at_ = now;
    } else if (now - alive_at_ >= config_.watchdog) {
      return stop(kWatchdog, "");
    }
    bool all_taken = chip.error || (from_ring_ ? last_doorbell_ : !is_open_ && accepted_ == end());
    bool quiet = all_taken && !chip.busy && !moved && !memory_.reads_in_flight() &&
                 !memory_.writes_in_flight();
    quiet_ = quiet ? quiet_ + 1 : 0;
    if (quiet_ == kQuietEdges) stop(chip.error ? kErrorRegister : kDone, "");
  }

  // An offer stands until it is taken.  That of a run that failed is withdrawn when it is over:
  // the accelerator would take it after `clear_error`.
  void offer_command(const ChipPins& chip) {
    if (pins_.command_valid && !command_taken_ && running()) return;
    pins_.command_valid = running() && waiting() && !chip.error;
    if (pins_.command_valid) pins_.command = program_[offered_++ - dropped_];
  }

  // Of commands, counted from the first one of the run.
  uint64_t end() const { return dropped_ + program_.size(); }
  bool waiting() const { return offered_ < end(); }

  // The pin `progress` says what happened so many edges ago: the response itself, for one.
  static constexpr uint64_t kProgressDelay = 1;

  BenchConfig config_;
  Memory memory_;
  AxiLiteHost host_;
  Marks marks_;
  Log log_;
  BenchPins pins_{};
  std::vector<Command> program_;
  State state_ = kIdle;
  uint64_t dropped_ = 0;  // Commands that were on offer, and that `program_` no longer holds.
  uint64_t offered_ = 0, accepted_ = 0;
  Activity activity_{};
  uint64_t first_edge_ = 0, last_busy_ = 0, last_response_ = 0, alive_at_ = 0;
  unsigned quiet_ = 0;
  bool fresh_ = true, from_ring_ = false, is_open_ = false, last_doorbell_ = false;
  bool interrupt_ = false;
  bool command_taken_ = false, worked_after_response_ = true;
  char error_[256] = "";
};

}  // namespace celosia
