// The design of a board under Verilator, and the other end of its serial line: what comes from a
// file descriptor goes to `rx` bit by bit, and what `tx` says goes back.
//
//     model FD CYCLES_PER_BIT
//
// It ends when its standard input does, and sleeps while nothing happens.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <unistd.h>

#include "Vtop.h"
#include "verilated.h"

namespace {

// Levels of a byte on the line: start, eight bits, the lowest first, stop.
constexpr int kBits = 10;

// Puts bytes on the line.
class Sender {
public:
    explicit Sender(int divisor) : divisor_(divisor) {}
    void push(uint8_t byte) { waiting_.push_back(byte); }
    bool idle() const { return left_ == 0 && waiting_.empty(); }
    bool level() {
        if (left_ == 0) {
            if (waiting_.empty()) return true;
            levels_ = 1u << 9 | waiting_.front() << 1;
            waiting_.pop_front();
            left_ = kBits * divisor_;
        }
        const int bit = (kBits * divisor_ - left_--) / divisor_;
        return levels_ >> bit & 1;
    }

private:
    int divisor_, left_ = 0;
    unsigned levels_ = 0;
    std::deque<uint8_t> waiting_;
};

// Takes bytes off the line, each in the middle of its bits.
class Receiver {
public:
    explicit Receiver(int divisor) : divisor_(divisor) {}
    bool idle() const { return bit_ < 0; }
    // Whether a byte is complete.
    bool sample(bool level) {
        if (bit_ < 0) {
            if (level) return false;
            bit_ = 0;
            until_ = divisor_ / 2;
            byte_ = 0;
        }
        if (until_-- > 0) return false;
        until_ = divisor_ - 1;
        if (bit_ > 0 && bit_ < kBits - 1) byte_ |= level << (bit_ - 1);
        if (bit_++ < kBits - 1) return false;
        bit_ = -1;
        return level;
    }
    uint8_t byte() const { return byte_; }

private:
    int divisor_, bit_ = -1, until_ = 0;
    uint8_t byte_ = 0;
};

}  // namespace

double sc_time_stamp() { return 0; }

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const int line = std::atoi(argv[1]), divisor = std::atoi(argv[2]);
    fcntl(line, F_SETFL, fcntl(line, F_GETFL) | O_NONBLOCK);
    VerilatedContext context;
    const auto top = std::make_unique<Vtop>(&context);
    Sender sender(divisor);
    Receiver receiver(divisor);
    // Longer than a request is worked on while both lines are quiet: two cycles for each byte.
    const int quiet_cycles = 4096;
    int quiet = 0;
    for (uint64_t cycle = 0;; ++cycle) {
        top->rst = cycle < 16;
        top->rx = sender.level();
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
        if (receiver.sample(top->tx)) {
            const uint8_t byte = receiver.byte();
            // Whoever does not listen loses it, as on a real line.
            if (write(line, &byte, 1) < 0) continue;
        }
        quiet = sender.idle() && receiver.idle() && !top->busy && top->tx ? quiet + 1 : 0;
        if (quiet < quiet_cycles && (cycle & 1023) != 1023) continue;
        pollfd wanted[2] = {{line, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (poll(wanted, 2, quiet < quiet_cycles ? 0 : 1000) <= 0) continue;
        uint8_t data[256];
        if (wanted[1].revents && read(STDIN_FILENO, data, sizeof data) <= 0) return 0;
        if (wanted[0].revents & POLLIN) {
            const ssize_t size = read(line, data, sizeof data);
            for (ssize_t index = 0; index < size; ++index) sender.push(data[index]);
            if (size > 0) quiet = 0;
        }
    }
}
