// Counters of finished stores, for which loads wait: those that the count needs must be before the
// load.  The definition is celosia.isa.tokens.
#pragma once

#include <string>

#include "isa.h"

namespace celosia {

class Tokens {
 public:
  void configure(const ConfigToken& now) { state_ = now; }

  void fence() {
    for (uint32_t& counter : finished_) counter = 0;
  }

  void count_store() {
    if (state_.signal()) finished_[state_.signal_id()]++;
  }

  // Why a load never starts; else nothing.
  std::string problem() const {
    if (!state_.wait() || finished_[state_.wait_id()] >= state_.count()) return "";
    return "load waits for token " + std::to_string(state_.wait_id()) + ": " +
           std::to_string(finished_[state_.wait_id()]) + " of " + std::to_string(state_.count()) +
           " stores have finished";
  }

 private:
  ConfigToken state_;
  uint32_t finished_[kTokens] = {};
};

}  // namespace celosia
