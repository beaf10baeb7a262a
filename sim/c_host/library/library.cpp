// The functions of celosia.h.
#include "celosia.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "counters.h"
#include "loops.h"
#include "process.h"
#include "repeat.h"
#include "text.h"

#define CELOSIA_EXPORT extern "C" __attribute__((visibility("default")))

namespace celosia {

namespace {

constexpr size_t kRemembered = 4096;  // Commands: more than an accelerator holds, but for loops.
constexpr char kSimulator[] = "verilator";
constexpr uint64_t kShown = 8;        // Of the last ones, in case of a failure.

// An open accelerator.
class Session {
 public:
  Session(std::string sim, const Configuration& configuration, std::unique_ptr<Backend> backend)
      : sim_(std::move(sim)),
        configuration_(configuration),
        backend_(std::move(backend)),
        hands_on_(configuration.loop_ws),
        repeat_(configuration),
        matmul_(configuration),
        convolution_(configuration),
        counters_(*backend_) {}

  uint64_t command(const Command& command) {
    given_++;
    if (command.funct == Counter::kFunct) {
      if (!hands_on_) matmul_.finish(expanded_);
      return counters_.access(command);
    }
    if (repeat_.take(command, repeated_)) {
      backend_->command(command, sent_);
      return 0;
    }
    if (matmul_.take(command, expanded_)) {
      if (hands_on_) backend_->command(command, sent_);
      return 0;
    }
    if (!convolution_.take(command, [this](const Command& each) { send(each); })) send(command);
    return 0;
  }

  void fence() {
    if (uint64_t missing = repeat_.missing())
      throw Failure{std::to_string(missing) + " commands of the body are missing: " +
                        format_command(repeat_.begun()), 0, false};
    matmul_.finish(expanded_);
    backend_->fence();
  }
  uint64_t cycles() const { return backend_->cycles(); }
  std::string finish() { return backend_->finish(); }

  void report(const Failure& failure) {
    if (hands_on_) matmul_.finish(expanded_);
    fprintf(stderr, "celosia: %s\n", failure.what.c_str());
    if (failure.known)
      fprintf(stderr, "  command %" PRIu64 ": %s\n", failure.number, text(failure.number).c_str());
    uint64_t first = sent_ > kShown ? sent_ - kShown : 0;
    fprintf(stderr, "  the last commands:\n");
    for (uint64_t number = first; number < sent_; number++)
      fprintf(stderr, "  %8" PRIu64 ": %s\n", number, text(number).c_str());
  }

  void write_statistics(FILE* file) {
    fprintf(file, "{\n  \"schema\": \"celosia.c-host/1\",\n");
    fprintf(file, "  \"simulator\": \"%s\",\n", sim_.c_str());
    fprintf(file, "  \"preset\": \"%s\",\n  \"cycles\": %" PRIu64 ",\n", configuration_.name,
            backend_->cycles());
    fprintf(file, "  \"commands_given\": %" PRIu64 ",\n  \"commands\": %" PRIu64, given_, sent_);
    const char* separator = ",\n  \"counters\": {";
    for (const auto& [name, value] : backend_->statistics()) {
      fprintf(file, "%s\n    \"%s\": %" PRIu64, separator, name.c_str(), value);
      separator = ",";
    }
    fprintf(file, "\n  }\n}\n");
  }

 private:
  // A command of which the accelerator knows.
  void send(const Command& command) {
    matmul_.finish(expanded_);
    remember(command);
    backend_->command(command, sent_);
  }

  // One that came out of a loop, which the accelerator expands on its own where it has the other
  // loop, too.
  void repeat(const Command& command) {
    if (configuration_.loop_ws && matmul_.take(command, expanded_)) return;
    matmul_.finish(expanded_);
    remember(command);
  }

  void remember(const Command& command) {
    last_.push_back(command);
    if (last_.size() > kRemembered) last_.pop_front();
    sent_++;
  }

  std::string text(uint64_t number) const {
    uint64_t first = sent_ - last_.size();
    if (number < first || number >= sent_) return "(not remembered)";
    return format_command(last_[number - first]);
  }

  std::string sim_;
  const Configuration& configuration_;
  std::unique_ptr<Backend> backend_;
  const bool hands_on_;  // LOOP_WS: only to know the commands that come out of it.
  RepeatLoop repeat_;
  MatmulLoop matmul_;
  ConvolutionLoop convolution_;
  const Emit expanded_ = [this](const Command& each) {
    remember(each);
    if (!hands_on_) backend_->command(each, sent_);
  };
  const Emit repeated_ = [this](const Command& each) { repeat(each); };
  Counters counters_;
  std::deque<Command> last_;
  uint64_t given_ = 0, sent_ = 0;
};

std::unique_ptr<Session> session;
bool is_ending = false;

// Streams that the program has written are complete; what it has registered still runs.
[[noreturn]] void end_process() {
  fflush(nullptr);
  session.release();
  if (is_ending) _exit(1);
  exit(1);
}

template <typename Action>
auto guarded(Action action) {
  try {
    return action();
  } catch (const Failure& failure) {
    session->report(failure);
    end_process();
  }
}

const char* environment(const char* name) {
  const char* value = getenv(name);
  return value && *value ? value : nullptr;
}

// Beside this library.
std::string model_path(const Configuration& configuration, bool wave) {
  Dl_info info;
  std::string path = dladdr(reinterpret_cast<void*>(&celosia_open), &info) ? info.dli_fname : "";
  size_t slash = path.rfind('/');
  path = slash == std::string::npos ? "." : path.substr(0, slash);
  return path + "/celosia/" + configuration.name + (wave ? ".wave.so" : ".so");
}

const Configuration* find_preset(const char* name) {
  if (!name) return &kPresets[0];
  for (const Configuration& known : kPresets)
    if (!strcmp(known.name, name)) return &known;
  fprintf(stderr, "celosia: preset %s: this library was built with", name);
  for (const Configuration& known : kPresets) fprintf(stderr, " %s", known.name);
  fprintf(stderr, "\n");
  return nullptr;
}

std::unique_ptr<Backend> open_backend(const Configuration& configuration) {
  const char* wave = environment("CELOSIA_WAVE");
  std::string path = model_path(configuration, wave);
  if (access(path.c_str(), R_OK))
    throw Failure{path + ": no such model: celosia c-host build makes it" +
                      (wave ? " with --wave" : ""), 0, false};
  return open_rtl(configuration, path, wave);
}

int open_session(const char* sim, const char* preset) {
  if (session) {
    fprintf(stderr, "celosia: the accelerator is open already\n");
    return 1;
  }
  if (!sim) sim = environment("CELOSIA_SIM");
  if (!preset) preset = environment("CELOSIA_PRESET");
  const Configuration* configuration = find_preset(preset);
  if (!configuration) return 1;
  if (!sim) sim = kSimulator;
  if (strcmp(sim, kSimulator)) {
    fprintf(stderr, "celosia: simulator %s: there is only %s\n", sim, kSimulator);
    return 1;
  }
  if (!ProcessMemory::works()) {
    fprintf(stderr, "celosia: this system does not let a process use process_vm_readv on itself\n");
    return 1;
  }
  try {
    session.reset(new Session(sim, *configuration, open_backend(*configuration)));
  } catch (const Failure& failure) {
    fprintf(stderr, "celosia: %s\n", failure.what.c_str());
    return 1;
  }
  static bool registered = false;
  if (!registered) atexit([] { is_ending = true, celosia_close(); });
  registered = true;
  return 0;
}

void need_session() {
  if (!session && open_session(nullptr, nullptr)) end_process();
}

void write_statistics() {
  const char* path = environment("CELOSIA_JSON");
  if (!path) return;
  bool shown = !strcmp(path, "-");
  FILE* file = shown ? stderr : fopen(path, "w");
  if (!file) {
    fprintf(stderr, "celosia: CELOSIA_JSON: %s: %s\n", path, strerror(errno));
    end_process();
  }
  session->write_statistics(file);
  if (!shown) fclose(file);
}

}  // namespace

}  // namespace celosia

using namespace celosia;

CELOSIA_EXPORT uint64_t celosia_cmd(uint32_t funct7, uint64_t rs1, uint64_t rs2) {
  need_session();
  return guarded([&] { return session->command(Command{funct7 & 127, 0, rs1, rs2}); });
}

CELOSIA_EXPORT void celosia_fence(void) {
  need_session();
  guarded([] { session->fence(); });
}

CELOSIA_EXPORT uint64_t celosia_cycles(void) { return session ? session->cycles() : 0; }

CELOSIA_EXPORT int celosia_open(const char* sim, const char* preset) {
  return open_session(sim, preset);
}

CELOSIA_EXPORT void celosia_close(void) {
  if (!session) return;
  guarded([] {
    session->fence();
    write_statistics();
    std::string wrong = session->finish();
    if (!wrong.empty()) throw Failure{"CELOSIA_WAVE: not written: " + wrong, 0, false};
  });
  session.reset();
}
