// The memory model and the bench as a library, for Amaranth's simulator and for their own tests.
#include "c_api.h"

using celosia::AxiLiteHost;
using celosia::Bench;
using celosia::Memory;

CELOSIA_API Bench* celosia_create(const celosia::BenchConfig* config) { return new Bench(*config); }
CELOSIA_API void celosia_destroy(Bench* bench) { delete bench; }
CELOSIA_API void celosia_reset(Bench* bench) { bench->reset(); }

// Ends the run from outside, for a reason that the bench does not see.
CELOSIA_API void celosia_stop(Bench* bench, uint32_t state, const char* message) {
  bench->stop(celosia::State(state), message);
}

// One rising edge: `chip` as the edge sees it; `pins` is what the accelerator sees next.  Returns
// whether there is more to simulate on the way to `goal`.
CELOSIA_API uint32_t celosia_edge(Bench* bench, const celosia::ChipPins* chip,
                                  celosia::BenchPins* pins, uint32_t goal) {
  bench->edge(*chip);
  *pins = bench->pins();
  return bench->towards(celosia::Goal(goal));
}

// What one rising edge sees of the products, and of what is counted.
struct Observed {
  uint8_t begins, ends, zero[2];
  uint32_t tag;
  celosia::Events events;
};

// The same edge, before `celosia_edge`.  It may be left out if there are no marks.
CELOSIA_API void celosia_observe(Bench* bench, const Observed* seen) {
  celosia::Marks& marks = bench->marks();
  if (!marks.waiting()) return;
  marks.edge(seen->begins, seen->ends, seen->events, [=] { return seen->tag; });
}

// The events of the last edge, before the next one.
CELOSIA_API void celosia_note(Bench* bench, const celosia::LogPins* pins) { bench->note(*pins); }

CELOSIA_API Memory* memory_create(const celosia::MemoryConfig* config) {
  return new Memory(*config);
}
CELOSIA_API void memory_destroy(Memory* memory) { delete memory; }
CELOSIA_API uint8_t* memory_data(Memory* memory) { return memory->store().data(); }
CELOSIA_API const char* memory_error(const Memory* memory) { return memory->error(); }

CELOSIA_API void memory_edge(Memory* memory, const celosia::MasterPins* master,
                             celosia::MemoryPins* pins) {
  memory->edge(*master);
  *pins = memory->pins();
}

CELOSIA_API void memory_counts(const Memory* memory, celosia::MemoryCounts* counts) {
  *counts = memory->counts();
}

CELOSIA_API void memory_add_fault(Memory* memory, const celosia::Fault* fault) {
  memory->add(*fault);
}
CELOSIA_API void memory_forget_faults(Memory* memory) { memory->forget_faults(); }

CELOSIA_API AxiLiteHost* lite_create(uint64_t seed, uint32_t stall_percent, uint32_t late) {
  return new AxiLiteHost(seed, stall_percent, late);
}
CELOSIA_API void lite_destroy(AxiLiteHost* host) { delete host; }
CELOSIA_API const char* lite_error(const AxiLiteHost* host) { return host->error(); }
CELOSIA_API uint32_t lite_active(const AxiLiteHost* host) { return host->active(); }
CELOSIA_API uint32_t lite_response(const AxiLiteHost* host, uint32_t* data) {
  *data = host->data();
  return host->response();
}
CELOSIA_API void lite_start(AxiLiteHost* host, const celosia::Access* access) {
  host->start(*access);
}
CELOSIA_API void lite_edge(AxiLiteHost* host, const celosia::LiteSlavePins* slave,
                           celosia::LiteHostPins* pins) {
  host->edge(0, *slave);
  *pins = host->pins();
}

// For the test that the structures in `binding.py` are these.
CELOSIA_API void celosia_sizes(uint32_t* sizes) {
  using namespace celosia;
  for (size_t size : {sizeof(Address), sizeof(MasterPins), sizeof(MemoryPins), sizeof(MemoryConfig),
                      sizeof(MemoryCounts), sizeof(Fault), sizeof(LiteSlavePins),
                      sizeof(LiteHostPins), sizeof(Access), sizeof(Command), sizeof(BenchConfig),
                      sizeof(ChipPins), sizeof(BenchPins), sizeof(Status)})
    *sizes++ = uint32_t(size);
}
