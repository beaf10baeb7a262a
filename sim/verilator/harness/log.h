// What each operation of a run did when, and whose the cycles of each resource were: what
// `celosia.sim.reporting` makes pages and traces of.
//
// The accelerator shows its events (`celosia.sim.profile.recorders.top`) one cycle late: those of a clock
// edge are seen after it.  Edges are counted from `begin` on.  Operations of a queue pass each
// moment in order, so that an event needs no name.  Memory is bounded: operations and spans beyond
// a capacity are only counted, and activity is summed up in slots that grow with the run.
#pragma once

#include <cstdint>
#include <vector>

namespace celosia {

constexpr unsigned kQueues = 4;
enum Moment : unsigned { kOpEntered, kOpStarted, kOpBegan, kOpRead, kOpDone, kMoments };

// What one edge sees.
struct LogPins {
  uint64_t owners;    // A byte for each resource: 0, or the number of its cycle's owner plus 1.
  uint64_t activity;  // A bit for each thing that is busy or not.
  uint32_t events;    // A bit for each moment, and each queue in it.
  uint32_t tag;       // The number of the command whose operation entered a queue last.
};

struct LoggedOperation {
  uint32_t tag, edges[kMoments];
};

// `owner`, as in `LogPins`, is that of `resource` from `edge` on.
struct OwnerSpan {
  uint32_t edge;
  uint8_t resource, owner, zero[2];
};

class Log {
 public:
  static constexpr uint32_t kNever = ~uint32_t(0);
  static constexpr unsigned kSlots = 1024, kActivities = 64, kFirstSlotEdges = 16;

  // From now on, each run is logged: so many operations of each queue, and so many spans.
  void keep(uint64_t operations, uint64_t spans) { most_operations_ = operations, most_spans_ = spans; }
  bool active() const { return most_operations_ != 0; }

  // A run begins.
  void begin(uint64_t now) {
    origin_ = now, owners_ = 0, lost_ = 0;
    for (auto& queue : queues_) queue = Queue();
    spans_.clear();
    slot_edges_ = kFirstSlotEdges;
    slots_.assign(kSlots * kActivities, 0);
  }

  // `now` is the number of the edge whose events `pins` shows.
  void edge(uint64_t now, const LogPins& pins) {
    uint32_t at = uint32_t(now - origin_);
    if (pins.events) happen(at, pins);
    if (pins.owners != owners_) change(at, pins.owners);
    for (uint64_t rest = pins.activity; rest; rest &= rest - 1)
      slot(at)[__builtin_ctzll(rest)]++;
  }

  uint64_t origin() const { return origin_; }
  uint64_t lost() const { return lost_; }
  uint32_t slot_edges() const { return slot_edges_; }
  const std::vector<LoggedOperation>& operations(unsigned queue) const {
    return queues_[queue].operations;
  }
  const std::vector<OwnerSpan>& spans() const { return spans_; }
  const std::vector<uint32_t>& slots() const { return slots_; }

 private:
  struct Queue {
    std::vector<LoggedOperation> operations;
    uint64_t passed[kMoments] = {};  // How many operations have passed each moment.
  };

  void happen(uint32_t at, const LogPins& pins) {
    for (uint32_t rest = pins.events; rest; rest &= rest - 1) {
      unsigned bit = unsigned(__builtin_ctz(rest)), moment = bit / kQueues;
      Queue& queue = queues_[bit % kQueues];
      uint64_t index = queue.passed[moment]++;
      if (moment == kOpEntered) {
        if (index < most_operations_)
          queue.operations.push_back({pins.tag, {at, kNever, kNever, kNever, kNever}});
        else
          lost_++;
      } else if (index < queue.operations.size()) {
        queue.operations[index].edges[moment] = at;
      }
    }
  }

  void change(uint32_t at, uint64_t owners) {
    for (unsigned resource = 0; resource < sizeof owners; resource++) {
      uint8_t owner = uint8_t(owners >> 8 * resource);
      if (owner == uint8_t(owners_ >> 8 * resource)) continue;
      if (spans_.size() < most_spans_)
        spans_.push_back({at, uint8_t(resource), owner, {}});
      else
        lost_++;
    }
    owners_ = owners;
  }

  // The sums of the slot that `at` is in.
  uint32_t* slot(uint32_t at) {
    while (at / slot_edges_ >= kSlots) {
      for (unsigned index = 0; index < kSlots * kActivities; index++) {
        uint32_t sum = 0;
        unsigned from = index / kActivities * 2, activity = index % kActivities;
        if (from < kSlots)
          sum = slots_[from * kActivities + activity] + slots_[(from + 1) * kActivities + activity];
        slots_[index] = sum;
      }
      slot_edges_ *= 2;
    }
    return &slots_[at / slot_edges_ * kActivities];
  }

  uint64_t most_operations_ = 0, most_spans_ = 0, origin_ = 0, owners_ = 0, lost_ = 0;
  Queue queues_[kQueues];
  std::vector<OwnerSpan> spans_;
  std::vector<uint32_t> slots_;
  uint32_t slot_edges_ = kFirstSlotEdges;
};

}  // namespace celosia
