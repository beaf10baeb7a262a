// Given to the compiler with -include: what Verilator's runtime and the memory model ask of a
// system, and WebAssembly does not have.  There is one thread, no process and no file.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <istream>
#include <mutex>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

#define CLOCK_PROCESS_CPUTIME_ID CLOCK_MONOTONIC
#define getpid() 0

namespace std {

struct mutex {
  void lock() {}
  void unlock() {}
  bool try_lock() { return true; }
};

struct condition_variable_any {
  template <typename Lock>
  void wait(Lock&) {}
  void notify_one() {}
  void notify_all() {}
};

// Never made: a model is asked for one thread.
struct thread {
  template <typename... Arguments>
  explicit thread(Arguments&&...) {
    abort();
  }
  void join() {}
  static unsigned hardware_concurrency() { return 1; }
};

namespace this_thread {
inline void yield() {}
}  // namespace this_thread

// A file that cannot be opened.
template <>
class basic_ifstream<char> : public istream {
 public:
  explicit basic_ifstream(const char*) : istream(nullptr) {}
};

}  // namespace std

// A memory has bytes of its own here; those of a process cannot be reached.
inline ssize_t process_vm_readv(int, const iovec*, unsigned long, const iovec*, unsigned long,
                                unsigned long) {
  return -1;
}
inline ssize_t process_vm_writev(int, const iovec*, unsigned long, const iovec*, unsigned long,
                                 unsigned long) {
  return -1;
}
