// The simulated RTL as a library of its own (`sim/verilator/harness/c_api.h`), loaded when it is needed.
#pragma once

#include <dlfcn.h>

#include <string>

#include "backend.h"
#include "bench.h"

namespace celosia {

// That of `trace.h`, which is the model's own business.
struct WaveRequest {
  const char* path;
  const char* const* scopes;
  uint64_t start, stop;
  void (*narrate)(const uint8_t* probe, uint8_t* text);
};

// Its functions without their prefix; each takes the handle that `create` returned.
struct Model {
  explicit Model(const std::string& path) : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library) throw Failure{path + ": " + dlerror(), 0, false};
    find(create, "create"), find(destroy, "destroy"), find(run, "run");
    find(open_stream, "open_stream"), find(push, "push"), find(close_stream, "close_stream");
    find(towards, "towards"), find(status, "status"), find(access, "access");
    find(activity, "activity");
  }

  // Only of a model with a waveform.
  void find_trace() { find(open_trace, "open_trace"), find(close_trace, "close_trace"); }

  void* (*create)(const BenchConfig*, uint32_t seed);
  void (*destroy)(void*);
  void (*run)(void*, uint64_t edges, uint32_t goal);
  void (*open_stream)(void*);
  void (*push)(void*, const Command*);
  void (*close_stream)(void*);
  uint32_t (*towards)(const void*, uint32_t goal);
  void (*status)(const void*, Status*);
  void (*access)(void*, const Access*);
  void (*activity)(const void*, Activity*);
  uint32_t (*open_trace)(void*, const WaveRequest*) = nullptr;
  const char* (*close_trace)(void*) = nullptr;

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, (std::string("celosia_") + name).c_str()));
    if (!function) throw Failure{dlerror(), 0, false};
  }

  void* library;  // Stays loaded: the process may end inside of it.
};

}  // namespace celosia
