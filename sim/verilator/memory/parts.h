// What the memory model is made of: queues and chance.
#pragma once

#include <cstdint>

namespace celosia {

// A queue in an array: no allocation, `capacity` is a power of two.
template <typename T, unsigned capacity>
class Ring {
 public:
  unsigned size() const { return tail_ - head_; }
  bool empty() const { return tail_ == head_; }
  T& front() { return items_[head_ % capacity]; }
  T& push() { return items_[tail_++ % capacity]; }
  void pop() { head_++; }
  void clear() { head_ = tail_ = 0; }

 private:
  T items_[capacity];
  unsigned head_ = 0, tail_ = 0;
};

// Chance, by a generator of its own for each purpose (xorshift64*).
class Chance {
 public:
  Chance(uint64_t seed, uint64_t purpose, uint32_t percent = 0)
      : state_((seed + 1) * 0x9E3779B97F4A7C15u ^ (purpose + 1) * 0xD1B54A32D192ED03u),
        percent_(percent) {
    if (!state_) state_ = 1;
    for (int i = 0; i < 8; i++) below(1);
  }

  // Whether it happens now, which it does in so many percent of all cases.
  bool operator()() { return percent_ && below(100) < percent_; }

  // A number from 0 to `limit` - 1.
  uint32_t below(uint32_t limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    uint64_t high = (state_ * 0x2545F4914F6CDD1Du) >> 32;
    return uint32_t(high * limit >> 32);
  }

 private:
  uint64_t state_;
  uint32_t percent_;
};

}  // namespace celosia
