"""Stages 8 to 11 of `Polynomial` with SILU: the sigmoid, from the exponential of a magnitude.

What it multiplies, the wide multiplier does.
"""

from amaranth import Array, Const, Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.isa.numerics.activation import SIGMOID_ONE, SIGMOID_STEP_BITS, SIGMOIDS

__all__ = ["SIGMOID_BITS", "Sigmoid"]

SIGMOID_BITS = SIGMOID_ONE.bit_length()
FALL_BITS = (SIGMOIDS[0] - SIGMOIDS[1]).bit_length()
"""Width of the distance from one number of the table to the next, in bits: it falls ever less."""


class Sigmoid:
    """Lines between the numbers of `SIGMOIDS`."""

    def __init__(self, stages: Stages):
        self._stages = stages
        self._table = Array(
            Const(fall << SIGMOID_BITS | left, SIGMOID_BITS + FALL_BITS)
            for left, fall in zip(SIGMOIDS, map(int.__sub__, SIGMOIDS, SIGMOIDS[1:]), strict=False)
        )

    def operands(self, exponent: Value) -> tuple[Value, Value]:
        """Stage 8: what is multiplied, for an exponential of 16 bits, unsigned.

        How far the table falls to its next number, and the share of that.
        """
        entry = self._entry(exponent)
        return entry[SIGMOID_BITS:], exponent[:SIGMOID_STEP_BITS]

    def factor(self, lane: int, exponent: Value, product: Value, carried: Line) -> Value:
        """The sigmoid of an element from the exponential of minus its magnitude.

        Stage 8 begins with the `exponent`, and stage 9 leaves the `product` of the `operands`; the
        element itself is `carried`.  The result is unsigned, of `SIGMOID_BITS` bits, as stage 11
        leaves it.
        """
        register = self._stages.part(lane).register

        # Stage 8: look up.
        left = register(8, "sigmoid", self._entry(exponent)[:SIGMOID_BITS])
        left = register(9, "sigmoid", left)

        # Stage 10: subtract, rounded half up.
        fall = product[: FALL_BITS + SIGMOID_STEP_BITS]
        fallen = (fall + (1 << SIGMOID_STEP_BITS - 1)) >> SIGMOID_STEP_BITS
        sigmoid = register(10, "sigmoid", (left - fallen)[:SIGMOID_BITS])

        # Stage 11: the other side of 0.
        sigmoid = Mux(carried[10][-1], SIGMOID_ONE - sigmoid, sigmoid)
        return register(11, "sigmoid", sigmoid[:SIGMOID_BITS])

    def _entry(self, exponent: Value) -> Value:
        return Value.cast(self._table[exponent[SIGMOID_STEP_BITS:]])
