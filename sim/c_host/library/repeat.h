// REPEAT, STRIDE and PRODUCTS: the commands that they stand for.  The definition is
// celosia.isa.operations.loops.
#pragma once

#include <vector>

#include "loops.h"

namespace celosia {

// One that is not well formed comes out as the command that is at fault.
class RepeatLoop {
 public:
  explicit RepeatLoop(const Configuration& configuration) : c_(configuration) {}

  // Whether it is a part of a loop; if so, what can come out by now was emitted.
  bool take(const Command& command, const Emit& emit);

  // Commands that its body still lacks, of a REPEAT that has begun.
  uint64_t missing() const { return body_.empty() ? 0 : wanted_ - body_.size(); }
  const Command& begun() const { return body_.front(); }

 private:
  struct Loop {
    uint64_t start, exit, end;  // Iterations are counted at `exit`, behind those of the last one.
    uint64_t left;              // Of the part that runs, with this one: before `exit`, or behind.
    uint64_t limit;             // Where that part ends.
  };

  void walk(const Emit& emit);
  bool enter(const Repeat& repeat, uint64_t place);
  uint64_t leave();
  uint64_t strides(uint64_t place) const;
  void issue(const Command& command, const Emit& emit);
  bool multiply(const Products& given, const Emit& emit) const;

  const Configuration& c_;
  ConfigProducts strides_;
  std::vector<Command> body_;  // With its REPEAT; operands are those of the next time.
  uint64_t wanted_ = 0;
  std::vector<Loop> loops_;  // That have begun, the innermost one last.
};

}  // namespace celosia
