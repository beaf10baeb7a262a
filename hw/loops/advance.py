"""What STRIDE adds to an operand."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from celosia.isa.encoding import WORD_BITS
from celosia.isa.encoding.loops import ADDEND_BITS, LANE_BITS, LANES, WRAP_BITS

__all__ = ["ADVANCE", "advanced", "lane_sums"]

ADVANCE = data.StructLayout({
    "lanes": data.ArrayLayout(LANE_BITS + 1, LANES),
    "negative": 1,
    "wraps": data.ArrayLayout(WRAP_BITS, LANES),
})
"""Lanes of an operand with what is added to each, no carry into them; how the addend goes on above
them; which bits advance."""


def lane_sums(operand: Value, addend: Value, wraps: list[Value]) -> Value:
    """An `ADVANCE`: the first of two steps, in which no carry passes more than a lane."""
    cuts = [slice(low, low + LANE_BITS) for low in range(0, ADDEND_BITS, LANE_BITS)]
    sums = [(operand[cut] + addend[cut])[: LANE_BITS + 1] for cut in cuts]
    return Cat(*sums, addend[ADDEND_BITS - 1], *wraps)


def advanced(m: Module, operand: Value, step: data.View, name: str) -> Value:
    """`celosia.isa.operations.loops.advance`, by the `lane_sums` of the same operand."""
    parts, carry = [], Const(0, 1)
    for lane in range(LANES):
        wrap = step.wraps[lane]
        old = operand[lane * LANE_BITS : (lane + 1) * LANE_BITS]
        total = Signal(LANE_BITS + 1, name=f"{name}_total_{lane}")
        kept = Signal(LANE_BITS, name=f"{name}_kept_{lane}")
        ones = (1 << LANE_BITS) - 1
        m.d.comb += [
            total.eq(step.lanes[lane] + carry),
            # Bits that do not advance: none, unless the lane wraps.
            kept.eq(Mux(wrap == 0, 0, Const(ones, LANE_BITS) << wrap)),
        ]
        parts.append((old & kept) | (total[:LANE_BITS] & ~kept))
        carry = total[-1] & (wrap == 0)
    # Above them one is added or taken away, or the two cancel out.
    rest = operand[ADDEND_BITS:]
    ones = step.negative.replicate(WORD_BITS - ADDEND_BITS)
    changed = (rest + Cat(Const(1, 1), ones[1:]))[: WORD_BITS - ADDEND_BITS]
    return Cat(*parts, Mux(step.negative ^ carry, changed, rest))
