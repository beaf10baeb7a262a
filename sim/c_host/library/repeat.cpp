#include "repeat.h"

namespace celosia {

namespace {

constexpr uint64_t kLane = (uint64_t(1) << kLaneBits) - 1;

using Wraps = uint64_t[kLanes];

// The operand of the next iteration: lanes with a wrap keep their carry.
uint64_t advance(uint64_t operand, uint64_t addend, const Wraps& wraps) {
  addend = uint64_t(int64_t(addend << (64 - kAddendBits)) >> (64 - kAddendBits));
  uint64_t result = 0, carry = 0;
  for (uint32_t lane = 0; lane < kLanes; lane++) {
    uint32_t low = lane * kLaneBits;
    uint64_t old = operand >> low & kLane, total = old + (addend >> low & kLane) + carry;
    uint64_t mask = wraps[lane] ? (uint64_t(1) << wraps[lane]) - 1 : kLane;
    carry = wraps[lane] ? 0 : total >> kLaneBits;
    result |= ((old & ~mask) | (total & mask)) << low;
  }
  uint64_t rest = (operand >> kAddendBits) + (addend >> kAddendBits) + carry;
  return result | rest << kAddendBits;
}

void advance(Command& command, const Stride& by) {
  const Wraps one = {by.wrap1_0(), by.wrap1_1(), by.wrap1_2()};
  const Wraps two = {by.wrap2_0(), by.wrap2_1(), by.wrap2_2()};
  command.rs1 = advance(command.rs1, by.addend1(), one);
  command.rs2 = advance(command.rs2, by.addend2(), two);
}

bool has_body(const Repeat& repeat) {
  return repeat.count() > (repeat.left_out() ? 1 : 0) && repeat.left_out() < repeat.length();
}

}  // namespace

bool RepeatLoop::take(const Command& command, const Emit& emit) {
  if (!c_.loop_entries) return false;
  if (body_.empty()) {
    Repeat repeat(command);
    bool begins = Repeat::matches(command) && repeat.count() && repeat.length() &&
                  repeat.length() <= c_.loop_entries;
    if (begins) {
      body_ = {command};
      wanted_ = 1 + repeat.length();
      return true;
    }
    bool known = ConfigProducts::matches(command) || Products::matches(command);
    if (known) issue(command, emit);
    return known;
  }
  body_.push_back(command);
  if (missing()) return true;
  walk(emit);
  body_.clear();
  loops_.clear();
  return true;
}

void RepeatLoop::walk(const Emit& emit) {
  uint64_t place = 0;
  while (true) {
    while (!loops_.empty() && place == loops_.back().limit) place = leave();
    if (place == body_.size()) return;
    Command& command = body_[place];
    if (Repeat::matches(command)) {
      if (!enter(Repeat(command), place)) return emit(command);
      place++;
      continue;
    }
    const uint64_t count = strides(place + 1);
    uint64_t outward = 0;
    while (outward < loops_.size() && loops_[loops_.size() - 1 - outward].left == 1) outward++;
    issue(command, emit);
    if (Stride::matches(command)) return;
    if (outward < count) advance(command, Stride(body_[place + 1 + outward]));
    place += 1 + count;
  }
}

// Whether a REPEAT is well formed; it has begun then.
bool RepeatLoop::enter(const Repeat& repeat, uint64_t place) {
  uint64_t end = place + 1 + repeat.length(), exit = end - repeat.left_out();
  uint64_t within = loops_.empty() ? body_.size() : loops_.back().limit;
  if (!has_body(repeat) || end > within || loops_.size() == kMaxLoopDepth) return false;
  loops_.push_back({place + 1, exit, end, repeat.count(), exit});
  return true;
}

// The place behind a part of the innermost loop.
uint64_t RepeatLoop::leave() {
  Loop& loop = loops_.back();
  if (loop.limit == loop.exit && !--loop.left) {
    uint64_t end = loop.end;
    loops_.pop_back();
    return end;
  }
  bool again = loop.limit == loop.end;
  loop.limit = again ? loop.exit : loop.end;
  return again ? loop.start : loop.exit;
}

// How many STRIDEs there are from a place on: at most one for each loop.
uint64_t RepeatLoop::strides(uint64_t place) const {
  uint64_t count = 0;
  while (count < loops_.size() && place + count < loops_.back().limit &&
         Stride::matches(body_[place + count]))
    count++;
  return count;
}

void RepeatLoop::issue(const Command& command, const Emit& emit) {
  if (ConfigProducts::matches(command))
    strides_ = ConfigProducts(command);
  else if (!Products::matches(command) || !multiply(Products(command), emit))
    emit(command);
}

// Emits what PRODUCTS stands for, if it is well formed.
bool RepeatLoop::multiply(const Products& given, const Emit& emit) const {
  const ConfigProducts& s = strides_;
  auto fits = [this](uint64_t size) { return size && size <= c_.dim; };
  if (!given.rows() || !given.k() || !given.pieces() || !given.columns() ||
      !fits(given.last_depth()) || !fits(given.last_cols()))
    return false;
  for (uint64_t column = 0; column < given.columns(); column++)
    for (uint64_t piece = 0; piece < given.pieces(); piece++)
      for (uint64_t k = 0; k < given.k(); k++) {
        bool last = piece + 1 == given.pieces() && k + 1 == given.k();
        uint64_t depth = last ? given.last_depth() : c_.dim;
        uint64_t cols = column + 1 == given.columns() ? given.last_cols() : c_.dim;
        uint64_t c = ((given.c() + column * s.c_column()) & kLane) | kAccumulatorBit;
        if (!given.overwrite() || piece || k) c |= kAccumulateBit;
        uint64_t w = given.w() + column * s.w_column() + piece * s.w_piece() + k * s.w_k();
        uint64_t a = given.a() + piece * s.a_piece() + k * s.a_k();
        emit(Preload().b(w & kLane).b_cols(cols).b_rows(depth)
                 .c(c).c_cols(cols).c_rows(given.rows()).command);
        emit(ComputePreloaded().a(a & kLane).a_cols(depth).a_rows(given.rows())
                 .d(kGarbage).command);
      }
  return true;
}

}  // namespace celosia
