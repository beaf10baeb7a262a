// Copies of the accelerator's counters as they stood between two products: what a caller needs to
// tell one part of a program from the next.
//
// The array turns to a product in the cycle after that in which `begins` is high, and stays with it
// up to the cycle in which `ends` is high; both may be high at once, for two products.  From then on
// the counters name what the next product waits for.  So a mark takes the counters as they stand
// after the last cycle of the product before: 0 if there is none.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace celosia {

class Marks {
 public:
  // Forgets all, and waits for the first products whose commands are not before `commands`, which
  // ascend and count from the command numbered `first`.  There are so many `counters`, now all 0.
  void set(const uint64_t* commands, uint64_t count, uint32_t first, uint32_t counters) {
    commands_.assign(commands, commands + count);
    first_ = first, next_ = 0, past_ = 0;
    last_.assign(counters, 0);
    values_.resize(count * counters);
    waiting_ = count != 0;
  }

  uint64_t counters() const { return last_.size(); }

  // Whether any product is to be waited for: if not, `edge` need not be called.
  bool waiting() const { return waiting_; }

  // How many marks were reached, and the counters at each, one after the other.
  uint64_t reached() const { return next_; }
  const uint64_t* values() const { return values_.data(); }

  // One rising edge.  `tag()` is the number of the command of the last product that began before
  // this cycle; `read(target)` writes the counters, which are two cycles behind.
  template <class Tag, class Read>
  void edge(bool begins, bool ends, Tag tag, Read read) {
    unsigned now = unsigned(begins) | unsigned(ends) << 1;
    if (!(past_ | now)) return;
    bool began = past_ & 4, ended = past_ & 8;  // Two cycles ago.
    // The copy is of use only if a mark may be what follows.
    if (ended && !(began && tag_ < commands_[next_])) read(last_.data());
    if (began) reach(tag_);
    if (past_ & 1) tag_ = uint32_t(tag() - first_);
    past_ = (past_ << 2 | now) & 15;
  }

 private:
  void reach(uint32_t command) {
    while (waiting_ && commands_[next_] <= command) {
      memcpy(&values_[next_ * last_.size()], last_.data(), last_.size() * sizeof(uint64_t));
      waiting_ = ++next_ != commands_.size();
    }
  }

  std::vector<uint64_t> commands_, last_, values_;
  uint64_t next_ = 0;
  uint32_t first_ = 0, tag_ = 0;
  unsigned past_ = 0;  // What there was one cycle ago, and above that two cycles ago.
  bool waiting_ = false;
};

}  // namespace celosia
