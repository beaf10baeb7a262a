// Gemmini's COUNTER: eight counters, each a source of the accelerator that was zeroed at some time.
#pragma once

#include "backend.h"

namespace celosia {

class Counters {
 public:
  explicit Counters(Backend& backend) : backend_(backend) {}

  uint64_t access(const Command& command) {
    backend_.pass(kAnswerCycles);
    Counter given(command);
    One& chosen = ones_[given.counter()];
    if (given.reset()) {
      for (One& one : ones_) one.start = value(one);
      is_frozen_ = false;
    }
    if (given.release()) is_frozen_ = false;
    if (given.configure()) {
      chosen.event = find(given.event(), given.external());
      chosen.start = value(chosen);
    }
    if (given.snapshot()) {
      for (One& one : ones_) one.frozen = uint32_t(value(one) - one.start);
      is_frozen_ = true;
    }
    return is_frozen_ ? chosen.frozen : uint32_t(value(chosen) - chosen.start);
  }

 private:
  struct One {
    const Event* event = nullptr;
    uint64_t start = 0;
    uint32_t frozen = 0;
  };

  // Between a processor and its coprocessor, there and back.
  static constexpr uint64_t kAnswerCycles = 16;

  static const Event* find(uint64_t number, uint64_t external) {
    for (const Event& event : kEvents)
      if (event.number == number && event.external == external) return &event;
    return nullptr;
  }

  // A length of a queue is a value of this moment: nothing is taken off it.
  uint64_t value(One& one) {
    uint64_t sum = 0;
    for (uint32_t i = 0; one.event && i < one.event->count; i++) {
      uint32_t source = one.event->sources[i];
      if (source >= kCounters + kActivities) return one.start + backend_.source(source);
      sum += backend_.source(source);
    }
    return sum;
  }

  Backend& backend_;
  One ones_[8];
  bool is_frozen_ = false;
};

}  // namespace celosia
