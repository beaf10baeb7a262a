// One cycle, and what a page shows of it: registers of the mesh, ports of memories, and owners.
// Compiled behind `harness.cpp` in the same unit, for WebAssembly only: the native simulator is
// another program, and stays as it is.
#include "Vtop___024root.h"
#include "watched.h"  // Written by the build: what of the model is looked at (`watched_header.py`).

namespace {

// A device keeps its model to itself.  An explicit instantiation may name what is private.
template <auto Member>
struct Reach {
  friend Vtop& model_of(Device& device) { return *(device.*Member); }
};
Vtop& model_of(Device& device);
template struct Reach<&Device::top_>;

}  // namespace

// Simulates a cycle and writes `kWatched` words of it.  Whether the run goes on.
CELOSIA_API uint32_t celosia_watch(Device* device, int32_t* words) {
  Vtop& top = model_of(*device);
  watch_before(*top.rootp, words);
  device->run(1, celosia::kRunOver);
  watch_after(*top.rootp, words);
  celosia::Status status = device->status();
  int32_t* said = words + kSaid;
  uint64_t counted = top._counted;
  *said++ = int32_t(device->first_edge() ? status.now - device->first_edge() + 1 : 0);
  *said++ = int32_t(status.accepted);
  *said++ = top._product_begins;
  *said++ = int32_t(top._product_tag);
  for (unsigned byte = 0; byte < 8; byte++) *said++ = uint8_t(counted >> 8 * byte);
  return device->towards(celosia::kRunOver);
}
