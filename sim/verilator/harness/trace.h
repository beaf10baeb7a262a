// The waveform of a model that was built with one: what of it is written, and the lines of text in
// it.  Without CELOSIA_TRACE, nothing; with CELOSIA_TRACE_FST too, the file is FST, else VCD.
#pragma once

#include "Vtop.h"

#ifdef CELOSIA_TRACE_FST
#include "verilated_fst_c.h"
#elif defined CELOSIA_TRACE
#include "verilated_vcd_c.h"
#endif

namespace celosia {

#ifndef CELOSIA_TRACE

class Trace {
 public:
  static constexpr const char* kModelName = "TOP";
  explicit Trace(VerilatedContext&) {}
  void low(Vtop&) {}
  void high(Vtop&) {}
};

#else

// Python's part: the lines to show while the accelerator is as in `probe`.
using Narrate = void (*)(const uint8_t* probe, uint8_t* text);

// Only cycles of one of `windows`, and only signals in one of `scopes`.
struct TraceRequest {
  const char* path;
  const char* const* scopes;  // The last one is null.
  const uint64_t* windows;    // Of each: its first cycle, and the one behind its last; in order.
  uint64_t window_count;
  Narrate narrate;
};

#ifdef CELOSIA_TRACE_FST
struct TraceFile {
  VerilatedFstC writer;

  const char* error() const { return ""; }  // Not known: the writer does not look.
};
#else
// Remembers that the system refused, instead of ending the process.
class TraceSink : public VerilatedVcdFile {
 public:
  ssize_t write(const char* data, ssize_t size) override {
    if (error) return size;
    ssize_t written = VerilatedVcdFile::write(data, size);
    if (written >= 0 || errno == EAGAIN || errno == EINTR) return written;
    error = errno;
    return size;
  }
  int error = 0;
};

struct TraceFile {
  TraceSink sink;
  VerilatedVcdC writer{&sink};

  const char* error() const { return sink.error ? strerror(sink.error) : ""; }
};
#endif

// A cycle is written when it has begun and everything has settled (`high`), and when the clock
// falls (`low`).  A unit of time is a tenth of a cycle.
class Trace {
 public:
  static constexpr const char* kModelName = "";  // No scope around the top's own.

  explicit Trace(VerilatedContext& context) { context.traceEverOn(true); }

  bool open(Vtop& top, const TraceRequest& request) {
    request_ = request, cycle_ = 0, window_ = 0;
    file_.reset(new TraceFile);
    auto& writer = file_->writer;
    top.trace(&writer, kLevels);
    writer.set_time_unit("100ps");
    writer.set_time_resolution("100ps");
    for (const char* const* scope = request.scopes; *scope; scope++)
      writer.dumpvars(kLevels, *scope);
    writer.open(request.path);
    bool is_open = writer.isOpen();
    high(top);
    return is_open;
  }

  // What went wrong, or an empty string.
  const char* close() {
    if (!file_) return "";
    file_->writer.close();
    return file_->error();
  }

  // Since it was opened.
  uint64_t cycles() const { return cycle_ + 1; }

  void high(Vtop& top) {
    if (!shown()) return;
    top.eval();
    narrate(top);
    top.eval();
    file_->writer.dump(kUnits * cycle_);
  }

  void low(Vtop& top) {
    if (!file_) return;
    if (shown())
      file_->writer.dump(kUnits * cycle_ + kUnits / 2);
    else
      narrate(top);
    cycle_++;
    if (window_ < request_.window_count && cycle_ == request_.windows[2 * window_ + 1]) window_++;
  }

 private:
  static constexpr int kLevels = 99;
  static constexpr uint64_t kUnits = 10;

  bool shown() const {
    return file_ && window_ < request_.window_count && request_.windows[2 * window_] <= cycle_;
  }

  void narrate(Vtop& top) {
    const uint8_t* probe = reinterpret_cast<const uint8_t*>(&top._probe);
    if (!probe[0] && !memcmp(probe, last_, sizeof last_)) return;
    memcpy(last_, probe, sizeof last_);
    request_.narrate(probe, text_);
    memcpy(&top._text, text_, sizeof text_);
  }

  TraceRequest request_{};
  std::unique_ptr<TraceFile> file_;
  uint64_t cycle_ = 0, window_ = 0;
  uint8_t last_[CELOSIA_PROBE_BYTES] = {}, text_[CELOSIA_TEXT_BYTES] = {};
};

#endif

}  // namespace celosia
