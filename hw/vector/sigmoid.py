"""Stages 9 to 12 of `Polynomial` with SILU: the sigmoid, from the exponential of a magnitude."""

from amaranth import Array, Const, Mux, Value

from celosia.hw.lib.stages import Stages
from celosia.isa.numerics.activation import SIGMOID_ONE, SIGMOID_STEP_BITS, SIGMOIDS

__all__ = ["SIGMOID_BITS", "Sigmoid"]

SIGMOID_BITS = SIGMOID_ONE.bit_length()
FALL_BITS = (SIGMOIDS[0] - SIGMOIDS[1]).bit_length()
"""Width of the distance from one number of the table to the next, in bits: it falls ever less."""


class Sigmoid:
    """Lines between the numbers of `SIGMOIDS`; `stages` are those for SILU only."""

    def __init__(self, stages: Stages):
        self._stages = stages
        self._table = Array(
            Const(fall << SIGMOID_BITS | left, SIGMOID_BITS + FALL_BITS)
            for left, fall in zip(SIGMOIDS, map(int.__sub__, SIGMOIDS, SIGMOIDS[1:]), strict=False)
        )

    def factor(self, lane: int, exponent: Value, negative: Value) -> Value:
        """The sigmoid of an element from the exponential of minus its magnitude.

        Stage 8 leaves both that, 16 bits unsigned, and whether the element is `negative`.  The
        result is unsigned, of `SIGMOID_BITS` bits.
        """
        stages = self._stages.part(lane)
        register, below = stages.register, stages.line("below", negative, 8)

        # Stage 9: look up.
        entry = register(9, "entry", self._table[exponent[SIGMOID_STEP_BITS:]])
        rest = register(9, "rest", exponent[:SIGMOID_STEP_BITS])

        # Stage 10: multiply.
        left = register(10, "left", entry[:SIGMOID_BITS])
        fall = register(10, "fall", entry[SIGMOID_BITS:] * rest)

        # Stage 11: subtract, rounded half up.
        fallen = (fall + (1 << SIGMOID_STEP_BITS - 1)) >> SIGMOID_STEP_BITS
        sigmoid = register(11, "sigmoid", (left - fallen)[:SIGMOID_BITS])

        # Stage 12: the other side of 0.
        sigmoid = Mux(below[11], SIGMOID_ONE - sigmoid, sigmoid)
        return register(12, "sigmoid", sigmoid[:SIGMOID_BITS])
