// Simulates gates cycle by cycle, up to 64 windows at once, and adds up what their edges take.
//
// Bit w of a word is of window w.  gates.py fills in the sizes; gates stand in the order of levels.

#include <cstdint>
#include <vector>

namespace {

using Word = uint64_t;

Word chosen(unsigned table, unsigned from, Word low) {
    const Word off = -Word(table >> from & 1), on = -Word(table >> (from + 1) & 1);
    return off ^ ((off ^ on) & low);
}

// The value of a gate of up to four inputs: bit i of `table` is for inputs that make i.
Word value(unsigned table, unsigned arity, const int32_t *inputs, const Word *values) {
    Word kept[8];
    const Word low = values[inputs[0]];
    unsigned left = 1u << (arity - 1);
    for (unsigned pair = 0; pair < left; ++pair) kept[pair] = chosen(table, 2 * pair, low);
    for (unsigned place = 1; place < arity; ++place) {
        const Word select = values[inputs[place]];
        left /= 2;
        for (unsigned pair = 0; pair < left; ++pair) {
            const Word off = kept[2 * pair], on = kept[2 * pair + 1];
            kept[pair] = off ^ ((off ^ on) & select);
        }
    }
    return kept[0];
}

}  // namespace

extern "C" {

struct Gates {
    int64_t nets, gates, registers;
    const int32_t *inputs;  // Four of each gate.
    const int32_t *outputs;
    const uint16_t *tables;
    const uint8_t *arity;
    const int32_t *data, *state;
    const double *rise_pj, *fall_pj;
};

struct Course {
    int64_t cycles, windows, driven, seen;
    const int32_t *driven_nets, *seen_nets;
    const Word *driven_values;  // Cycles x driven nets.
    Word *values;               // Of each net before the first cycle.
    Word *seen_values;          // What comes out: cycles x seen nets,
    Word *clocked;              // whether a register takes over another value, cycle by cycle,
    double *pj;                 // and cycles x windows of these.
    int64_t *edges;
};

void simulate_gates(const Gates *gates, const Course *course) {
    Word *values = course->values;
    std::vector<Word> before(values, values + gates->nets), following(gates->registers);
    const Word *driven = course->driven_values;
    Word *seen = course->seen_values;
    const Word mask = ~Word(0) >> (64 - course->windows);
    double *pj = course->pj;
    int64_t *edges = course->edges;
    for (int64_t cycle = 0; cycle < course->cycles; ++cycle) {
        for (int64_t pin = 0; pin < course->driven; ++pin)
            values[course->driven_nets[pin]] = *driven++;
        for (int64_t gate = 0; gate < gates->gates; ++gate)
            values[gates->outputs[gate]] = value(
                gates->tables[gate], gates->arity[gate], gates->inputs + 4 * gate, values);
        for (int64_t net = 0; net < gates->nets; ++net) {
            const Word now = values[net];
            for (Word changed = (now ^ before[net]) & mask; changed; changed &= changed - 1) {
                const int window = __builtin_ctzll(changed);
                pj[window] += (now >> window & 1) ? gates->rise_pj[net] : gates->fall_pj[net];
                ++edges[window];
            }
            before[net] = now;
        }
        for (int64_t pin = 0; pin < course->seen; ++pin) *seen++ = values[course->seen_nets[pin]];
        Word clocked = 0;
        for (int64_t each = 0; each < gates->registers; ++each) {
            following[each] = values[gates->data[each]];
            clocked |= following[each] ^ values[gates->state[each]];
        }
        for (int64_t each = 0; each < gates->registers; ++each)
            values[gates->state[each]] = following[each];
        course->clocked[cycle] = clocked;
        pj += course->windows;
        edges += course->windows;
    }
}

}  // extern "C"
