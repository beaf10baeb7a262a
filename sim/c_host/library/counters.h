// Gemmini's COUNTER: eight counters, each a source of the accelerator that was zeroed at some time.
#pragma once

#include <array>

#include "backend.h"

namespace celosia {

class Counters {
 public:
  explicit Counters(Backend& backend) : backend_(backend) {}

  uint64_t access(const Command& command) {
    const uint64_t end = backend_.cycles() + kAnswerCycles;
    known_.fill(false);
    uint32_t answer = answered(Counter(command));
    const uint64_t now = backend_.cycles();
    if (now < end) backend_.pass(end - now);
    return answer;
  }

 private:
  struct One {
    const Event* event = nullptr;
    uint32_t start = 0, frozen = 0;
  };

  // Between a processor and its coprocessor, there and back.
  static constexpr uint64_t kAnswerCycles = 16;

  uint32_t answered(const Counter& given) {
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
      for (One& one : ones_) one.frozen = value(one) - one.start;
      is_frozen_ = true;
    }
    return is_frozen_ ? chosen.frozen : value(chosen) - chosen.start;
  }

  static const Event* find(uint64_t number, uint64_t external) {
    for (const Event& event : kEvents)
      if (event.number == number && event.external == external) return &event;
    return nullptr;
  }

  // A length of a queue is a value of this moment: nothing is taken off it.
  uint32_t value(const One& one) {
    uint32_t sum = 0;
    for (uint32_t i = 0; one.event && i < one.event->count; i++) {
      uint32_t number = one.event->sources[i];
      if (number >= kCounters + kActivities) return one.start + source(number);
      sum += source(number);
    }
    return sum;
  }

  // Reading takes time: each source is read once per command.
  uint32_t source(uint32_t number) {
    if (!known_[number]) values_[number] = backend_.source(number), known_[number] = true;
    return values_[number];
  }

  Backend& backend_;
  One ones_[8];
  bool is_frozen_ = false;
  std::array<uint32_t, kSources> values_;
  std::array<bool, kSources> known_;
};

}  // namespace celosia
