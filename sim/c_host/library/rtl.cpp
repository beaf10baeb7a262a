// The RTL under Verilator, fed one command after the other.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "rtl_model.h"
#include "text.h"

namespace celosia {

namespace {

constexpr uint64_t kForever = ~uint64_t(0);
constexpr uint64_t kAccessEdges = 20'000;  // After so many cycles a register access is given up.
constexpr uint32_t kAllBytes = 15;
const char* const kUnits[] = {"load", "execute", "store", "transform", "its controller"};

// Shows the command that was accepted last; only the first of the lines that a waveform has.
void narrate(const uint8_t* probe, uint8_t* text) {
  if (!probe[kProbeAccepted]) return;
  Command command{probe[kProbeFunct], 0, 0, 0};
  memcpy(&command.rs1, probe + kProbeRs1, 8);
  memcpy(&command.rs2, probe + kProbeRs2, 8);
  std::string words = format_command(command).substr(0, kWaveCommandBytes);
  memset(text, 0, kWaveCommandBytes);
  std::reverse_copy(words.begin(), words.end(), text);
}

std::string print(const char* format, uint64_t value) {
  char text[200];
  snprintf(text, sizeof text, format, value);
  return text;
}

uint32_t field(uint32_t word, uint32_t mask) { return (word & mask) >> __builtin_ctz(mask); }

}  // namespace

class Rtl : public Backend {
 public:
  Rtl(const Configuration& c, const std::string& library, const char* wave) : model_(library) {
    BenchConfig config{};
    config.memory.bus_bytes = c.bus_bytes;
    config.memory.latency = kMemoryLatency;
    config.memory.bytes_per_cycle = kMemoryRate;
    config.watchdog = kWatchdogEdges + kWatchdogMargin;
    config.doorbell = CELOSIA_RING_DOORBELL;
    handle_ = model_.create(&config, 0);
    if (wave) open_wave(wave);
    identify(c);
    write_pair(CELOSIA_READ_BASE_LO, 0);
    write_pair(CELOSIA_READ_LIMIT_LO, kForever);
    write_pair(CELOSIA_WRITE_BASE_LO, 0);
    write_pair(CELOSIA_WRITE_LIMIT_LO, kForever);
    write(CELOSIA_WATCHDOG, kWatchdogEdges);
    write(CELOSIA_CONTROL, CELOSIA_CONTROL_CLEAR_COUNTERS_MASK);
    start_ = status().now;
  }

  ~Rtl() override { model_.destroy(handle_); }


  void command(const Command& command, uint64_t number) override {
    number_ = number;
    if (!is_open_) model_.open_stream(handle_), is_open_ = true;
    model_.push(handle_, &command);
    model_.run(handle_, kForever, kOffered);
    if (!model_.towards(handle_, kRunOver)) fail();
  }

  void fence() override {
    if (!is_open_) return;
    model_.close_stream(handle_);
    model_.run(handle_, kForever, kRunOver);
    is_open_ = false;
    if (status().state != kDone) fail();
  }

  void pass(uint64_t cycles) override { model_.run(handle_, cycles, kRunOver); }

  uint64_t cycles() const override { return status().now - start_; }

  uint32_t source(uint32_t number) override {
    if (number < kCounters) return read(kCounterOffsets[number]);
    number -= kCounters;
    if (number >= kActivities) {
      QueueField queue = kQueueFields[number - kActivities];
      return read(kQueueRegister) >> queue.low & queue.mask;
    }
    Activity now;
    model_.activity(handle_, &now);
    const uint64_t values[kActivities] = {now.reading, now.writing, now.read_latency,
                                          now.write_latency};
    return uint32_t(values[number]);
  }

  std::vector<std::pair<std::string, uint64_t>> statistics() override {
    std::vector<std::pair<std::string, uint64_t>> values;
    for (uint32_t i = 0; i < kCounters; i++)
      values.push_back({kCounterNames[i], read_pair(kCounterOffsets[i])});
    MemoryCounts counts = status().counts;
    values.push_back({"bursts_read", counts.bursts_read});
    values.push_back({"bursts_written", counts.bursts_written});
    return values;
  }

  std::string finish() override {
    return model_.close_trace ? model_.close_trace(handle_) : "";
  }

 private:
  void open_wave(const char* path) {
    static const char* const kScopes[] = {"celosia_axi", nullptr};
    static WaveRequest request;  // The model keeps it.
    model_.find_trace();
    request = {path, kScopes, 0, kForever, narrate};
    if (!model_.open_trace(handle_, &request)) refuse(std::string(path) + ": cannot be written");
  }

  void identify(const Configuration& c) {
    if (read(CELOSIA_IDENTITY) != CELOSIA_IDENTITY_RESET) refuse("the model is no accelerator");
    for (const RegisterWord& known : c.words)
      if (read(known.offset) != known.word)
        refuse(std::string("the model is not of preset ") + c.name +
               " as this library knows it: build the library again");
  }

  [[noreturn]] void refuse(const std::string& what) {
    model_.destroy(handle_);
    throw Failure{what, 0, false};
  }

  Status status() const {
    Status status;
    model_.status(handle_, &status);
    return status;
  }

  uint32_t access(bool write, uint32_t offset, uint32_t data) {
    Access access{write, offset, data, kAllBytes};
    model_.access(handle_, &access);
    model_.run(handle_, kAccessEdges, kAccessOver);
    Status now = status();
    if (now.accessing || now.response)
      throw Failure{print("register 0x%" PRIx64 ": no answer, or not a good one", offset), 0, false};
    return now.data;
  }

  uint32_t read(uint32_t offset) { return access(false, offset, 0); }
  void write(uint32_t offset, uint32_t word) { access(true, offset, word); }

  void write_pair(uint32_t offset, uint64_t value) {
    write(offset, uint32_t(value)), write(offset + 4, uint32_t(value >> 32));
  }

  // Counters run on meanwhile.
  uint64_t read_pair(uint32_t offset) {
    for (uint32_t high = read(offset + 4);;) {
      uint32_t low = read(offset), again = read(offset + 4);
      if (again == high) return uint64_t(high) << 32 | low;
      high = again;
    }
  }

  [[noreturn]] void fail() {
    Status now = status();
    is_open_ = false;
    if (now.state >= kProtocol) {
      const char* what = now.state == kProtocol ? "a rule of the bus is broken: " : "assertion: ";
      throw Failure{what + std::string(now.message) + in_cycle(now), 0, false};
    }
    uint32_t error = read(CELOSIA_ERROR), cause = field(error, CELOSIA_ERROR_CAUSE_MASK);
    uint64_t number = read(CELOSIA_ERROR_COMMAND);
    std::string waits = who_waits(now);
    if (!cause || cause == kCauseWatchdog)
      throw Failure{"WATCHDOG: nothing moves any more" + in_cycle(now) + waits, 0, false};
    std::string what = kCauses[cause].name;
    if (cause == kCauseReadResponse || cause == kCauseWriteResponse || cause == kCauseReadLimit ||
        cause == kCauseWriteLimit)
      what += print(" at address 0x%" PRIx64 ": the process has no such memory",
                    read_pair(CELOSIA_ERROR_ADDRESS_LO));
    else
      what += std::string(": ") + kCauses[cause].text;
    // The accelerator counts in 32 bits.
    int32_t ahead = int32_t(uint32_t(number) - uint32_t(number_));
    throw Failure{what + in_cycle(now) + waits, number_ + ahead, true};
  }

  std::string in_cycle(const Status& now) const {
    return print(" (cycle %" PRIu64 ")", now.now - start_);
  }

  // A line for each controller that has something to do.
  std::string who_waits(const Status& now) {
    static const uint32_t kQueued[] = {CELOSIA_DEBUG_QUEUES_LOAD_MASK,
                                       CELOSIA_DEBUG_QUEUES_EXECUTE_MASK,
                                       CELOSIA_DEBUG_QUEUES_STORE_MASK,
                                       CELOSIA_DEBUG_QUEUES_TRANSFORM_MASK};
    static const uint32_t kWaits[] = {
        CELOSIA_DEBUG_WAITS_LOAD_MASK, CELOSIA_DEBUG_WAITS_EXECUTE_MASK,
        CELOSIA_DEBUG_WAITS_STORE_MASK, CELOSIA_DEBUG_WAITS_TRANSFORM_MASK};
    uint32_t queues = read(CELOSIA_DEBUG_QUEUES), waits = read(CELOSIA_DEBUG_WAITS);
    std::string text;
    for (unsigned unit = 0; unit < 4; unit++) {
      uint32_t queued = field(queues, kQueued[unit]), others = field(waits, kWaits[unit]);
      if (!queued) continue;
      text += std::string("\n  ") + kUnits[unit] + print(": %" PRIu64 " queued", queued);
      text += others ? ", the first one waits for" : ", the first one runs";
      for (unsigned other = 0; other < 5; other++)
        if (others >> other & 1) text += std::string(" ") + kUnits[other];
    }
    if (now.reads_in_flight) text += print("\n  in flight: %" PRIu64 " reads", now.reads_in_flight);
    if (now.writes_in_flight)
      text += print("\n  in flight: %" PRIu64 " writes", now.writes_in_flight);
    return text;
  }

  Model model_;
  void* handle_;
  bool is_open_ = false;  // A stream of commands.
  uint64_t number_ = 0, start_ = 0;
};

std::unique_ptr<Backend> open_rtl(const Configuration& configuration, const std::string& library,
                                  const char* wave) {
  return std::make_unique<Rtl>(configuration, library, wave);
}

}  // namespace celosia
