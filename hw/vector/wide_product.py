"""Stages 9 to 12 of `Polynomial`: the one wide multiplier of a lane, and rounding behind it.

It is 18 x 32 bits; the context's elements have 32, whose upper half `Quadratic` multiplies.
"""

from amaranth import Cat, Const, Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.isa.encoding import ElementType

__all__ = ["WideProduct"]

FACTOR_BITS = 32
LEFT_BITS = 18
HALF_BITS = 16
PRODUCT_BITS = 48
"""All that any mode wants of a product."""

NUMERATOR_SHIFT, NUMERATOR_MAX = 24, 255
PROBABILITY_SHIFT = 32
CONTEXT_SHIFT = 16
NORMALIZED_SHIFT, NORMALIZED_BITS = 15, 18

TOPS = {ElementType.UINT8: 8, ElementType.INT8: 7, ElementType.INT16: 15}
"""A probability of 1 is ``2**bits - 1``."""
TOTAL_BITS = PRODUCT_BITS + max(TOPS.values()) + 1


class WideProduct:
    """What the lanes share, and the stages of one.  Stage 9 takes the row's facts and `unit`."""

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        requests: Line,
        facts: tuple[Value, Value],
        unit: Value,
    ):
        """`controls` are `ModeBits`, `requests` a `PolynomialRequest`.

        `facts` are the row's mean and reciprocal.
        """
        self._stages = stages
        self._controls = controls
        self._requests = requests
        self._mean, self._reciprocal = facts
        self._unit = unit
        at = controls[9].result
        half: Value = Mux(at.numerator, 1 << NUMERATOR_SHIFT - 1, 0)
        half = Mux(at.probability, 1 << PROBABILITY_SHIFT - 1, half)
        half = Mux(at.normalized, 1 << NORMALIZED_SHIFT - 1, half)
        self._half = stages.register(10, "half", half[:PROBABILITY_SHIFT])
        top: Value = Mux(at.numerator, NUMERATOR_MAX, 0)
        for kind, bits in TOPS.items():
            top = Mux(at.probability & (requests[9].kind == kind), (1 << bits) - 1, top)
        tops = stages.line("top", stages.register(10, "top", top), 10)
        self._top = tops[11]

    def result(
        self, lane: int, factor: Value, element: Value, others: tuple[Value, Value]
    ) -> tuple[Value, Value, Value]:
        """What the mode makes of `factor` or `element`, and the square of a counted element.

        With CONTEXT, `factor` is the lower half of the element, and `element` is the product of
        its upper half.  With SILU, `others` are multiplied, and their product, as stage 10 leaves
        it, is the third result.
        """
        stages = self._stages.part(lane)
        product = self._product(stages, factor, element, others)
        carried = stages.line("carried", element, 8)

        # Stage 11: add what rounds.  The number that stands for 1 is a power of two less 1.
        at, scaled = self._controls[10].result, product
        for kind, bits in TOPS.items():
            chosen = at.probability & (self._requests[10].kind == kind)
            scaled = Mux(chosen, product << bits, scaled)
        upper = Cat(Const(1 << CONTEXT_SHIFT - 1, HALF_BITS), carried[10])
        total = scaled - Mux(at.probability, product, 0) + Mux(at.context, upper, self._half)
        total = stages.register(11, "total", total[:TOTAL_BITS])

        # Stage 12: cut, and saturate what must not exceed 1.
        at = self._controls[11].result
        one: Value = Mux(at.numerator, total[NUMERATOR_SHIFT:], total[PROBABILITY_SHIFT:])
        one = Mux(one > self._top, self._top, one)
        normalized = total[NORMALIZED_SHIFT:][:NORMALIZED_BITS].as_signed()
        chosen = Mux(at.normalized, normalized, total[:FACTOR_BITS].as_signed())
        chosen = Mux(at.context, total[CONTEXT_SHIFT:PRODUCT_BITS].as_signed(), chosen)
        chosen = Mux(at.numerator | at.probability, one, chosen)
        chosen = Mux(at.carried, carried[11], chosen)
        result = stages.register(12, "result", chosen[:FACTOR_BITS].as_signed())
        return result, stages.register(12, "square", total[: FACTOR_BITS - 1]), product

    def _product(
        self, stages: Stages, factor: Value, element: Value, others: tuple[Value, Value]
    ) -> Value:
        """Stages 9 and 10."""
        # Stage 9: two factors; those of a square are both positive.
        size = Mux(element[-1], -element, element)
        at = self._controls[8].left
        left: Value = Mux(at.size, size, element)
        left = Mux(at.distance, element - self._mean, left)
        left = Mux(at.factor, factor, left)
        left = Mux(at.fall, others[0], left)[:LEFT_BITS].as_signed()
        at = self._controls[8].right
        right: Value = Mux(at.factor, factor, self._reciprocal)
        right = Mux(at.size, size, right)
        right = Mux(at.unit, self._unit, right)
        right = Mux(at.one, 1, right)
        right = Mux(at.share, others[1], right)
        left = stages.register(9, "left", left)
        right = stages.register(9, "right", right[:FACTOR_BITS])

        # Stage 10: multiply.
        return stages.register(10, "product", (left * right)[:PRODUCT_BITS])
