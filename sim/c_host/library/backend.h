// What runs commands: the RTL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isa.h"
#include "presets.h"

namespace celosia {

// Why a command, or the accelerator as a whole, failed; the words for a user.
struct Failure {
  std::string what;
  uint64_t number;  // Of the command, in the order in which the accelerator got them.
  bool known;       // Whether it is a command's.
};

class Backend {
 public:
  virtual ~Backend() = default;

  // These throw `Failure`.  It takes loops itself, where the configuration has them: `number` is
  // how many commands there are with this one, loops expanded.
  virtual void command(const Command& command, uint64_t number) = 0;
  virtual void fence() = 0;

  // Lets time pass, where there is a clock and something left to do.
  virtual void pass(uint64_t) {}

  virtual uint64_t cycles() const = 0;

  // A source of `kEvents`: the value that it has now, modulo 2^32.
  virtual uint32_t source(uint32_t number) = 0;

  // Names and values of what it has counted since it was opened.
  virtual std::vector<std::pair<std::string, uint64_t>> statistics() = 0;

  // Ends what is written to files; an empty string, or what went wrong.
  virtual std::string finish() { return ""; }
};

// `library` is the model; `wave` is a file for its signals, or null.  Throws `Failure`.
std::unique_ptr<Backend> open_rtl(const Configuration& configuration, const std::string& library,
                                  const char* wave);

}  // namespace celosia
