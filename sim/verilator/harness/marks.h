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

// What the accelerator counts in one cycle.
struct Events {
  static constexpr unsigned kTables = 5, kBusy = 1;
  // Bits, from the lowest: busy, command, read_beat, write_beat.
  uint8_t flags, read_bytes, write_bytes;
  uint8_t owners[kTables];  // In each table, whose the cycle is, if it is busy; one is left over.
};
static_assert(sizeof(Events) == 8, "a word of the RTL");

class Marks {
 public:
  // Forgets all, and waits for the first products whose commands are not before `commands`, which
  // ascend and count from the command numbered `first`.  Tables have so many `owners`; the counters
  // of cycles, commands, read_bytes, write_bytes, read_beats and write_beats come before theirs.
  void set(const uint64_t* commands, uint64_t count, uint32_t first, std::vector<uint8_t> owners) {
    commands_.assign(commands, commands + count);
    first_ = first, next_ = 0, past_ = 0;
    size_t counters = kSingles;
    tables_.clear();
    for (uint8_t size : owners) tables_.push_back(counters), counters += size;
    now_.assign(counters, 0);
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
  // this cycle; `events` are those of the cycle before.
  template <class Tag>
  void edge(bool begins, bool ends, const Events& events, Tag tag) {
    unsigned now = unsigned(begins) | unsigned(ends) << 1;
    bool began = past_ & 4, ended = past_ & 8;  // Two cycles ago.
    // The copy is of use only if a mark may be what follows.
    if (ended && !(began && tag_ < commands_[next_])) last_ = now_;
    if (began) reach(tag_);
    count(events);
    if (past_ & 1) tag_ = uint32_t(tag() - first_);
    past_ = (past_ << 2 | now) & 15;
  }

 private:
  static constexpr size_t kSingles = 6;

  void count(const Events& events) {
    now_[1] += events.flags >> 1 & 1;
    now_[2] += events.read_bytes, now_[3] += events.write_bytes;
    now_[4] += events.flags >> 2 & 1, now_[5] += events.flags >> 3 & 1;
    if (!(events.flags & Events::kBusy)) return;
    now_[0]++;
    for (size_t table = 0; table < tables_.size(); table++)
      now_[tables_[table] + events.owners[table]]++;
  }

  void reach(uint32_t command) {
    while (waiting_ && commands_[next_] <= command) {
      memcpy(&values_[next_ * last_.size()], last_.data(), last_.size() * sizeof(uint64_t));
      waiting_ = ++next_ != commands_.size();
    }
  }

  // The counters now, and behind the last product that ended.
  std::vector<uint64_t> commands_, now_, last_, values_;
  std::vector<size_t> tables_;  // The first counter of each.
  uint64_t next_ = 0;
  uint32_t first_ = 0, tag_ = 0;
  unsigned past_ = 0;  // What there was one cycle ago, and above that two cycles ago.
  bool waiting_ = false;
};

}  // namespace celosia
