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

CELOSIA_API void celosia_open_stream(celosia::Bench* bench) { bench->open_stream(); }
CELOSIA_API void celosia_push(celosia::Bench* bench, const celosia::Command* command) {
  bench->push(*command);
}
CELOSIA_API void celosia_close_stream(celosia::Bench* bench) { bench->close_stream(); }
CELOSIA_API void celosia_activity(const celosia::Bench* bench, celosia::Activity* activity) {
  *activity = bench->activity();
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

// Logs each run from the next one on; see `Log::keep`.
CELOSIA_API void celosia_keep_log(celosia::Bench* bench, uint64_t operations, uint64_t spans) {
  bench->log().keep(operations, spans);
}

// The log of the last run: where its parts are, until the next one begins.
struct LogView {
  const celosia::LoggedOperation* operations[celosia::kQueues];
  uint64_t counts[celosia::kQueues];
  const celosia::OwnerSpan* spans;
  uint64_t span_count;
  const uint32_t* slots;
  uint64_t first_edge;  // From the log's own first edge on.
  uint64_t lost;        // Operations and spans that there was no place for.
  uint32_t slot_edges, zero;
};

CELOSIA_API void celosia_view_log(const celosia::Bench* bench, LogView* view) {
  const celosia::Log& log = bench->log();
  for (unsigned queue = 0; queue < celosia::kQueues; queue++) {
    view->operations[queue] = log.operations(queue).data();
    view->counts[queue] = log.operations(queue).size();
  }
  view->spans = log.spans().data(), view->span_count = log.spans().size();
  view->slots = log.slots().data(), view->slot_edges = log.slot_edges();
  view->first_edge = bench->first_edge() - log.origin(), view->lost = log.lost();
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
