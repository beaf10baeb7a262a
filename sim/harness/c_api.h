// The C functions that both simulators' libraries have in common.  A handle is a `Bench*`.
#pragma once

#include <algorithm>

#include "bench.h"

#define CELOSIA_API extern "C" __attribute__((visibility("default")))

CELOSIA_API uint8_t* celosia_memory(celosia::Bench* bench) {
  return bench->memory().store().data();
}

CELOSIA_API void celosia_load(celosia::Bench* bench, const celosia::Command* commands,
                              uint64_t count) {
  bench->load(commands, count);
}

CELOSIA_API void celosia_load_ring(celosia::Bench* bench) { bench->load_ring(); }
CELOSIA_API void celosia_end_ring(celosia::Bench* bench) { bench->end_ring(); }

// Marks the next run before its first command is loaded; see `Marks::set`.
CELOSIA_API void celosia_mark(celosia::Bench* bench, const uint64_t* commands, uint64_t count,
                              uint32_t first, const uint8_t* owners, uint32_t tables) {
  bench->marks().set(commands, count, first, {owners, owners + tables});
}

// Copies the counters at each mark that was reached; returns how many marks that are.
CELOSIA_API uint64_t celosia_marked(const celosia::Bench* bench, uint64_t* values) {
  const celosia::Marks& marks = bench->marks();
  std::copy_n(marks.values(), marks.reached() * marks.counters(), values);
  return marks.reached();
}

// Begins a register access; the status says when it is over.
CELOSIA_API void celosia_access(celosia::Bench* bench, const celosia::Access* access) {
  bench->access(*access);
}

// Whether there is something to simulate on the way to `goal`.
CELOSIA_API uint32_t celosia_towards(const celosia::Bench* bench, uint32_t goal) {
  return bench->towards(celosia::Goal(goal));
}

CELOSIA_API void celosia_add_fault(celosia::Bench* bench, const celosia::Fault* fault) {
  bench->memory().add(*fault);
}

CELOSIA_API void celosia_forget_faults(celosia::Bench* bench) { bench->memory().forget_faults(); }

CELOSIA_API void celosia_status(const celosia::Bench* bench, celosia::Status* status) {
  *status = bench->status();
}
