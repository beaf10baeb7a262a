// The memory of this very process, without the danger of touching it: what is not there, or may not
// be written, is a failure that is told, not a signal.
#pragma once

#include <cerrno>
#include <cstdint>
#include <sys/uio.h>
#include <unistd.h>

namespace celosia {

// Some bytes of this process, and where they are copied from or to.
struct Piece {
  void* here;
  uint64_t address;
  uint64_t bytes;
};

// Whether all bytes of all pieces were copied.  A piece on one page is copied as a whole or not.
class ProcessMemory {
 public:
  static constexpr unsigned kMaxPieces = 64;

  static bool read(const Piece* pieces, unsigned count) {
    return copy(pieces, count, process_vm_readv);
  }

  static bool write(const Piece* pieces, unsigned count) {
    return copy(pieces, count, process_vm_writev);
  }

  // Whether the system lets a process do this at all.
  static bool works() {
    uint64_t from = 1, to = 0;
    Piece piece{&to, reinterpret_cast<uintptr_t>(&from), sizeof from};
    return read(&piece, 1) && write(&piece, 1);
  }

 private:
  template <typename Call>
  static bool copy(const Piece* pieces, unsigned count, Call call) {
    iovec here[kMaxPieces], there[kMaxPieces];
    uint64_t wanted = 0;
    for (unsigned i = 0; i < count; i++) {
      here[i] = {pieces[i].here, pieces[i].bytes};
      there[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].bytes};
      wanted += pieces[i].bytes;
    }
    return call(getpid(), here, count, there, count, 0) == ssize_t(wanted);
  }
};

}  // namespace celosia
