// The C functions that both simulators' libraries have in common.  A handle is a `Bench*`.
#pragma once

#include "bench.h"

#define CELOSIA_API extern "C" __attribute__((visibility("default")))

CELOSIA_API uint8_t* celosia_memory(celosia::Bench* bench) {
  return bench->memory().store().data();
}

CELOSIA_API void celosia_load(celosia::Bench* bench, const celosia::Command* commands,
                              uint64_t count) {
  bench->load(commands, count);
}

CELOSIA_API void celosia_status(const celosia::Bench* bench, celosia::Status* status) {
  *status = bench->status();
}
