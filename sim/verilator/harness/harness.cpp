// The accelerator under Verilator: one object per device, driven through C functions.
//
// A cycle is one evaluation: the model's clock has a cycle per edge, rising or falling
// (`celosia.sim.verilator.netlist.simulated`), and no output depends on inputs of the same cycle.  So `Bench::edge`
// looks at the outputs, the clock changes with the old inputs, and only then the inputs change.
#include "Vtop.h"
#include "c_api.h"
#include "ports.h"  // Written by the build: what depends on the Verilog.
#include "trace.h"
#include "verilated.h"

namespace {

thread_local char said[256];

// An assertion of the RTL; its text is in `said`.
#ifdef __cpp_exceptions
struct Failure {};
void fail() { throw Failure(); }
#else
bool failed;  // WebAssembly has no exceptions: there, the cycle goes on to its end.
void fail() { failed = true; }
#endif

}  // namespace

// What $write, $display and assertions print, instead of standard output: the last words count.
int celosia_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char text[sizeof said];
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t used = strlen(said);
  if (used + size_t(length) + 1 > sizeof said) used = 0;
  snprintf(said + used, sizeof said - used, "%s", text);
  return length;
}

void vl_stop(const char*, int, const char*) { fail(); }
void vl_finish(const char*, int, const char*) { fail(); }
void vl_fatal(const char*, int, const char*, const char* message) {
  celosia_printf("%s", message);
  fail();
}

namespace celosia {

class Device : public Bench {
 public:
  Device(const BenchConfig& config, uint32_t seed) : Bench(config) {
    context_.randReset(2);
    context_.randSeed(int(seed % 0x7FFFFFFEu) + 1);
    top_.reset(new Vtop(&context_, Trace::kModelName));
    top_->clk = 0;
    reset();
  }

  ~Device() { top_->final(); }

  void reset() {
    Bench::reset();
    drive();
    drive_lite();
    context_.assertOn(false);
    top_->rst = 1;
    for (unsigned i = 0; i < kResetEdges; i++) {
      tick();
      trace_.high(*top_);
    }
    top_->rst = 0;
    context_.assertOn(true);
  }

  void run(uint64_t edges, Goal goal) {
    said[0] = 0;
#ifdef __cpp_exceptions
    try {
      for (; edges && towards(goal); edges--) cycle();
    } catch (const Failure&) {
      stop(kAssertion, said);
    }
#else
    failed = false;
    for (; edges && towards(goal) && !failed; edges--) cycle();
    if (failed) stop(kAssertion, said);
#endif
  }

#ifdef CELOSIA_TRACE
  bool open_trace(const TraceRequest& request) { return trace_.open(*top_, request); }
  const char* close_trace() { return trace_.close(); }
  uint64_t trace_cycles() const { return trace_.cycles(); }
#endif

 private:
  // A traced model is as Amaranth wrote it, for the sake of names: a cycle is two evaluations.
  void tick() {
#ifdef CELOSIA_TRACE
    top_->clk = 0;
    top_->eval();
    trace_.low(*top_);
    top_->clk = 1;
#else
    top_->clk = !top_->clk;
#endif
    top_->eval();
  }

  void cycle() {
    sample();
#ifdef CELOSIA_OBSERVED
    if (marks().waiting()) observe();
#endif
#ifdef CELOSIA_LOG
    note({top_->_log_owners, top_->_log_activity, top_->_log_events, top_->_log_tag});
#endif
    bool accessing = host().active();
    if (accessing) sample_lite();
    edge(chip_);
    tick();
    drive();
    if (accessing) drive_lite();
    trace_.high(*top_);
  }

  void sample() {
    const Vtop& t = *top_;
    MasterPins& m = chip_.memory;
    m.ar_valid = t.m_axi_arvalid;
    if (m.ar_valid)
      m.ar = {t.m_axi_araddr, t.m_axi_arlen,  t.m_axi_arsize,  t.m_axi_arburst, t.m_axi_arid,
              t.m_axi_arlock, t.m_axi_arcache, t.m_axi_arprot, t.m_axi_arqos};
    m.r_ready = t.m_axi_rready;
    m.aw_valid = t.m_axi_awvalid;
    if (m.aw_valid)
      m.aw = {t.m_axi_awaddr, t.m_axi_awlen,  t.m_axi_awsize,  t.m_axi_awburst, t.m_axi_awid,
              t.m_axi_awlock, t.m_axi_awcache, t.m_axi_awprot, t.m_axi_awqos};
    m.w_valid = t.m_axi_wvalid;
    if (m.w_valid) {
      m.w_strobe = t.m_axi_wstrb, m.w_last = t.m_axi_wlast;
      memcpy(m.w_data, &t.m_axi_wdata, CELOSIA_BUS_BYTES);
    }
    m.b_ready = t.m_axi_bready;
    chip_.cmd_ready = t.cmd_ready, chip_.busy = t.busy, chip_.error = t.error;
    // Verilator gives that one another name: it takes it for a word of C++.
    chip_.progress = t.progress, chip_.interrupt = t.__SYM__interrupt;
  }

#ifdef CELOSIA_OBSERVED
  void observe() {
    const Vtop& t = *top_;
    Events events;
    memcpy(&events, &t._counted, sizeof events);
    marks().edge(t._product_begins, t._product_ends, events, [&t] { return t._product_tag; });
  }
#endif

  void drive() {
    Vtop& t = *top_;
    const MemoryPins& m = pins().memory;
    t.m_axi_arready = m.ar_ready;
    t.m_axi_rvalid = m.r_valid;
    if (m.r_valid) {
      memcpy(&t.m_axi_rdata, m.r_data, CELOSIA_BUS_BYTES);
      t.m_axi_rresp = m.r_response, t.m_axi_rlast = m.r_last, t.m_axi_rid = m.r_id;
    }
    t.m_axi_awready = m.aw_ready, t.m_axi_wready = m.w_ready;
    t.m_axi_bvalid = m.b_valid, t.m_axi_bresp = m.b_response, t.m_axi_bid = m.b_id;
    t.cmd_valid = pins().command_valid;
    if (pins().command_valid) {
      t.cmd_funct = uint8_t(pins().command.funct);
      t.cmd_rs1 = pins().command.rs1, t.cmd_rs2 = pins().command.rs2;
    }
  }

  void sample_lite() {
    const Vtop& t = *top_;
    LiteSlavePins& s = chip_.lite;
    s.aw_ready = t.s_axi_awready, s.w_ready = t.s_axi_wready;
    s.b_valid = t.s_axi_bvalid, s.b_response = t.s_axi_bresp;
    s.ar_ready = t.s_axi_arready;
    s.r_valid = t.s_axi_rvalid, s.r_response = t.s_axi_rresp, s.r_data = t.s_axi_rdata;
  }

  void drive_lite() {
    Vtop& t = *top_;
    const LiteHostPins& h = pins().lite;
    t.s_axi_awvalid = h.aw_valid, t.s_axi_awaddr = uint16_t(h.aw_address);
    t.s_axi_wvalid = h.w_valid, t.s_axi_wdata = h.w_data, t.s_axi_wstrb = h.w_strobe;
    t.s_axi_bready = h.b_ready;
    t.s_axi_arvalid = h.ar_valid, t.s_axi_araddr = uint16_t(h.ar_address);
    t.s_axi_rready = h.r_ready;
  }

  VerilatedContext context_;
  Trace trace_{context_};
  std::unique_ptr<Vtop> top_;
  ChipPins chip_{};
};

}  // namespace celosia

using celosia::Device;

CELOSIA_API Device* celosia_create(const celosia::BenchConfig* config, uint32_t seed) {
  return new Device(*config, seed);
}

CELOSIA_API void celosia_destroy(Device* device) { delete device; }

// Whether a run can be marked: whether the model shows its products and counters.
CELOSIA_API uint32_t celosia_observable() {
#ifdef CELOSIA_OBSERVED
  return 1;
#else
  return 0;
#endif
}

CELOSIA_API void celosia_reset(Device* device) { device->reset(); }

// At most `edges` more cycles, and none beyond `goal`.
CELOSIA_API void celosia_run(Device* device, uint64_t edges, uint32_t goal) {
  device->run(edges, celosia::Goal(goal));
}

#ifdef CELOSIA_TRACE
CELOSIA_API uint32_t celosia_open_trace(Device* device, const celosia::TraceRequest* request) {
  return device->open_trace(*request);
}

// What went wrong, or an empty string.
CELOSIA_API const char* celosia_close_trace(Device* device) { return device->close_trace(); }

CELOSIA_API uint64_t celosia_trace_cycles(const Device* device) { return device->trace_cycles(); }
#endif
