// Everything around the accelerator that is not RTL: the memory, the command stream, the clock
// that counts a program's cycles, and the watchdog.  Both RTL simulators call `edge` once per
// rising clock edge with the pins as that edge sees them, and apply `pins` after it; so both see
// the same memory, the same commands and the same cycle counts.
//
// A program's cycles are the rising edges from the one that takes its first command to the one
// that takes its last write response, both included.  A program that does something after its
// last write response (or never writes) ends at the last edge at which `busy` is high, a command
// is taken or a memory channel moves.
// A run is over once every command is taken (or the error register is set) and, for
// `kQuietEdges` edges in a row, `busy` was low and no burst was in flight; those do not count.
#pragma once

#include <vector>

#include "model.h"

namespace celosia {

constexpr unsigned kQuietEdges = 8;
constexpr unsigned kResetEdges = 4;

// A command as it stands in a ring in memory (`celosia.isa.encoding.RING_ENTRY`).
struct Command {
  uint32_t funct, zero;
  uint64_t rs1, rs2;
};

struct BenchConfig {
  MemoryConfig memory;
  uint64_t watchdog;  // Edges without any progress until a run is given up.
};

// What the accelerator drives, as one edge sees it.
struct ChipPins {
  MasterPins memory;
  uint64_t progress;  // Counters that advance while the array works: changes count as progress.
  uint8_t cmd_ready, busy, error_cause, zero[5];
};

// What the bench drives, until the next edge has seen it.
struct BenchPins {
  MemoryPins memory;
  Command command;
  uint8_t command_valid, zero[7];
};

enum State : uint32_t { kIdle, kRunning, kDone, kErrorRegister, kWatchdog, kProtocol, kAssertion };

struct Status {
  uint32_t state;
  uint32_t reads_in_flight, writes_in_flight, zero;
  uint64_t cycles;    // Of this run.
  uint64_t now;       // Edges since creation.
  uint64_t accepted;  // Commands of this run.
  uint64_t accepted_before;  // Commands between the last reset and this run.
  MemoryCounts counts;
  char message[256];  // The rule that was broken.
};

class Bench {
 public:
  explicit Bench(const BenchConfig& config) : config_(config), memory_(config.memory) {}

  // After this, the accelerator must see `kResetEdges` edges in reset, without calls of `edge`.
  void reset() {
    memory_.reset();
    memset(&pins_, 0, sizeof pins_);
    state_ = kIdle, accepted_ = accepted_before_ = 0;
    error_[0] = 0;
  }

  // Queues a program.  Its first command is on offer from the second edge on.
  void load(const Command* commands, uint64_t count) {
    program_.assign(commands, commands + count);
    accepted_before_ += accepted_;
    accepted_ = offered_ = 0;
    first_edge_ = last_busy_ = last_response_ = 0;
    worked_after_response_ = true;
    quiet_ = 0, alive_at_ = memory_.now();
    state_ = kRunning;
  }

  bool running() const { return state_ == kRunning; }
  const BenchPins& pins() const { return pins_; }
  Memory& memory() { return memory_; }

  void edge(const ChipPins& chip) {
    memory_.edge(chip.memory);
    take_command(chip);
    if (memory_.error()[0]) {
      stop(kProtocol, memory_.error());
      return;
    }
    watch(chip);
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
    status.reads_in_flight = memory_.reads_in_flight();
    status.writes_in_flight = memory_.writes_in_flight();
    uint64_t last = worked_after_response_ ? last_busy_ : last_response_;
    status.cycles = first_edge_ && last >= first_edge_ ? last - first_edge_ + 1 : 0;
    status.now = memory_.now();
    status.accepted = accepted_, status.accepted_before = accepted_before_;
    status.counts = memory_.counts();
    memcpy(status.message, error_, sizeof status.message);
    return status;
  }

 private:
  void take_command(const ChipPins& chip) {
    command_taken_ = pins_.command_valid && chip.cmd_ready;
    if (!command_taken_) return;
    if (!first_edge_) first_edge_ = memory_.now();
    accepted_++;
  }

  void watch(const ChipPins& chip) {
    uint64_t now = memory_.now();
    bool moved = command_taken_ || memory_.moved();
    if (memory_.responded()) {
      last_response_ = now, worked_after_response_ = false;
      progress_at_response_ = chip.progress;
    } else if (moved || chip.progress != progress_at_response_) {
      worked_after_response_ = true;
    }
    if (moved || chip.busy) last_busy_ = now;
    if (moved || chip.progress != progress_) {
      progress_ = chip.progress, alive_at_ = now;
    } else if (now - alive_at_ >= config_.watchdog) {
      stop(kWatchdog, "");
      return;
    }
    bool all_taken = accepted_ == program_.size() || chip.error_cause;
    bool quiet = all_taken && !chip.busy && !moved && !memory_.reads_in_flight() &&
                 !memory_.writes_in_flight();
    quiet_ = quiet ? quiet_ + 1 : 0;
    if (quiet_ == kQuietEdges) stop(chip.error_cause ? kErrorRegister : kDone, "");
  }

  void offer_command(const ChipPins& chip) {
    if (pins_.command_valid && !command_taken_) return;
    pins_.command_valid = offered_ < program_.size() && !chip.error_cause;
    if (pins_.command_valid) pins_.command = program_[offered_++];
  }

  BenchConfig config_;
  Memory memory_;
  BenchPins pins_{};
  std::vector<Command> program_;
  State state_ = kIdle;
  uint64_t offered_ = 0, accepted_ = 0, accepted_before_ = 0;
  uint64_t first_edge_ = 0, last_busy_ = 0, last_response_ = 0;
  uint64_t progress_ = 0, progress_at_response_ = 0, alive_at_ = 0;
  unsigned quiet_ = 0;
  bool command_taken_ = false, worked_after_response_ = true;
  char error_[256] = "";
};

}  // namespace celosia
