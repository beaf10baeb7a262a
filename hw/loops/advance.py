"""What STRIDE adds to an operand."""

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.isa.encoding import WORD_BITS
from celosia.isa.encoding.loops import ADDEND_BITS, LANE_BITS, LANES

__all__ = ["advanced"]


def advanced(m: Module, operand: Value, addend: Value, wraps: list[Value], name: str) -> Value:
    """`celosia.isa.operations.loops.advance`, of an addend without its sign's extension."""
    parts, carry = [], Const(0, 1)
    for lane in range(LANES):
        low = lane * LANE_BITS
        old, by, wrap = operand[low : low + LANE_BITS], addend[low : low + LANE_BITS], wraps[lane]
        total = Signal(LANE_BITS + 1, name=f"{name}_total_{lane}")
        kept = Signal(LANE_BITS, name=f"{name}_kept_{lane}")
        ones = (1 << LANE_BITS) - 1
        m.d.comb += [
            total.eq(old + by + carry),
            # Bits that do not advance: none, unless the lane wraps.
            kept.eq(Mux(wrap == 0, 0, Const(ones, LANE_BITS) << wrap)),
        ]
        parts.append((old & kept) | (total[:LANE_BITS] & ~kept))
        carry = total[-1] & (wrap == 0)
    sign = addend[ADDEND_BITS - 1].replicate(WORD_BITS - ADDEND_BITS)
    rest = (operand[ADDEND_BITS:] + sign + carry)[: WORD_BITS - ADDEND_BITS]
    return Cat(*parts, rest)
