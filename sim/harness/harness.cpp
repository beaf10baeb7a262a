// The accelerator under Verilator: one object per device, driven through C functions.
//
// A cycle is one evaluation: the model's clock has a cycle per edge, rising or falling
// (`celosia.sim.simulated`), and no output depends on inputs of the same cycle.  So `Bench::edge`
// looks at the outputs, the clock changes with the old inputs, and only then the inputs change.
#include "Vtop.h"
#include "c_api.h"
#include "ports.h"  // Written by the build: CELOSIA_BUS_BYTES, CELOSIA_COUNTERS.
#include "verilated.h"

namespace {

struct Failure {};  // An assertion of the RTL; its text is in `said`.

thread_local char said[256];

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

void vl_stop(const char*, int, const char*) { throw Failure(); }
void vl_finish(const char*, int, const char*) { throw Failure(); }
void vl_fatal(const char*, int, const char*, const char* message) {
  celosia_printf("%s", message);
  throw Failure();
}

namespace celosia {

#define CELOSIA_ONE(name) +1
constexpr unsigned kCounters = CELOSIA_COUNTERS(CELOSIA_ONE);
#undef CELOSIA_ONE

// What a Python process asks for when a run is over.
struct Inspection {
  uint64_t error_address;
  uint32_t error_tag;
  uint8_t error_cause, busy;
  uint8_t queued[3], waits[3];
  uint8_t zero[4];
  uint64_t counters[kCounters];
};

class Device : public Bench {
 public:
  Device(const BenchConfig& config, uint32_t seed) : Bench(config) {
    context_.randReset(2);
    context_.randSeed(int(seed % 0x7FFFFFFEu) + 1);
    top_.reset(new Vtop(&context_));
    top_->clk = 0;
    permit(0, ~uint64_t(0));
    reset();
  }

  ~Device() { top_->final(); }

  void reset() {
    Bench::reset();
    drive();
    context_.assertOn(false);
    top_->rst = 1;
    for (unsigned i = 0; i < kResetEdges; i++) tick();
    top_->rst = 0;
    context_.assertOn(true);
  }

  void permit(uint64_t base, uint64_t limit) {
    top_->read_base = top_->write_base = base;
    top_->read_limit = top_->write_limit = limit;
  }

  State run(uint64_t edges) {
    said[0] = 0;
    try {
      for (; edges && running(); edges--) cycle();
    } catch (const Failure&) {
      stop(kAssertion, said);
    }
    return State(status().state);
  }

  void inspect(Inspection& out) const {
    memset(&out, 0, sizeof out);
    out.error_address = top_->error_address, out.error_tag = top_->error_tag;
    out.error_cause = top_->error_cause, out.busy = top_->busy;
    out.queued[0] = top_->queued_load, out.waits[0] = top_->waits_load;
    out.queued[1] = top_->queued_execute, out.waits[1] = top_->waits_execute;
    out.queued[2] = top_->queued_store, out.waits[2] = top_->waits_store;
    uint64_t* counter = out.counters;
#define CELOSIA_READ(name) *counter++ = top_->counter_##name;
    CELOSIA_COUNTERS(CELOSIA_READ)
#undef CELOSIA_READ
  }

 private:
  void tick() {
    top_->clk = !top_->clk;
    top_->eval();
  }

  void cycle() {
    sample();
    edge(chip_);
    tick();
    drive();
  }

  void sample() {
    const Vtop& t = *top_;
    MasterPins& m = chip_.memory;
    m.ar_valid = t.m_axi_arvalid;
    if (m.ar_valid)
      m.ar = {t.m_axi_araddr, t.m_axi_arlen, t.m_axi_arsize, t.m_axi_arburst, t.m_axi_arid, 0};
    m.r_ready = t.m_axi_rready;
    m.aw_valid = t.m_axi_awvalid;
    if (m.aw_valid)
      m.aw = {t.m_axi_awaddr, t.m_axi_awlen, t.m_axi_awsize, t.m_axi_awburst, t.m_axi_awid, 0};
    m.w_valid = t.m_axi_wvalid;
    if (m.w_valid) {
      m.w_strobe = t.m_axi_wstrb, m.w_last = t.m_axi_wlast;
      memcpy(m.w_data, &t.m_axi_wdata, CELOSIA_BUS_BYTES);
    }
    m.b_ready = t.m_axi_bready;
    chip_.progress = t.counter_array_rows + t.counter_array_padding;
    chip_.cmd_ready = t.cmd_ready, chip_.busy = t.busy, chip_.error_cause = t.error_cause;
  }

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

  VerilatedContext context_;
  std::unique_ptr<Vtop> top_;
  ChipPins chip_{};
};

}  // namespace celosia

using celosia::Device;

CELOSIA_API Device* celosia_create(const celosia::BenchConfig* config, uint32_t seed) {
  return new Device(*config, seed);
}

CELOSIA_API void celosia_destroy(Device* device) { delete device; }
CELOSIA_API void celosia_reset(Device* device) { device->reset(); }

CELOSIA_API void celosia_permit(Device* device, uint64_t base, uint64_t limit) {
  device->permit(base, limit);
}

// At most `edges` more cycles; the state says whether the run goes on.
CELOSIA_API uint32_t celosia_run(Device* device, uint64_t edges) { return device->run(edges); }

CELOSIA_API void celosia_inspect(const Device* device, celosia::Inspection* out) {
  device->inspect(*out);
}
