"""Stages 8 to 12 of `Polynomial`: the one wide product of a lane, and rounding behind it.

It has 18 x 32 bits, in two halves of 18 x 16 that are added in a stage of their own: no stage takes
much longer than a multiply-add of the array.  The context's elements have 32 bits, whose upper half
`Quadratic` multiplies.
"""

from functools import reduce
from operator import or_
from typing import Final

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.lib.wide import wide_sum
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.numerics import DITHER_COLUMNS, dither

__all__ = ["WideProduct"]

FACTOR_BITS = 32
LEFT_BITS = 18
HALF_BITS = 16
PRODUCT_BITS = 48
"""All that any mode wants of a product."""
SIZE_BITS = 17
"""Width of what may be squared, in bits, signed."""

NUMERATOR_SHIFT, NUMERATOR_MAX = 24, 255
PROBABILITY_SHIFT = 32
CONTEXT_SHIFT = 16
NORMALIZED_SHIFT, NORMALIZED_BITS = 15, 18

TOPS = {ElementType.UINT8: 8, ElementType.INT8: 7, ElementType.INT16: 15}
"""A probability of 1 is ``2**bits - 1``."""
DITHER: Final = [int(each) for each in dither(DITHER_COLUMNS)]
"""By column: the bits of a power of two and of a smaller column are those of their sum."""
TOTAL_BITS = PRODUCT_BITS + max(TOPS.values())


class WideProduct:
    """What the lanes share, and the stages of one.  Stage 8 takes the row's facts and `unit`."""

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        requests: Line,
        facts: tuple[Value, Value],
        unit: Value,
        config: AcceleratorConfig,
    ):
        """`controls` are `ModeBits`, `requests` a `PolynomialRequest`.

        `facts` are the row's mean and reciprocal.
        """
        self._stages = stages
        self._controls = controls
        self._mean, self._reciprocal = facts
        self._unit = unit
        at = controls[9].result
        half: Value = Mux(at.numerator, 1 << NUMERATOR_SHIFT - 1, 0)
        half = Mux(at.normalized, 1 << NORMALIZED_SHIFT - 1, half)[:NUMERATOR_SHIFT]
        self._half = _Dither(stages, controls, requests, half, config)
        # Whether 1 is the number of so many bits; of what is no probability, 0 bits.
        ones = {0: ~at.probability} | {
            bits: at.probability & (requests[9].kind == kind) for kind, bits in TOPS.items()
        }
        self._ones = {bits: stages.register(10, f"one_{bits}", one) for bits, one in ones.items()}
        top: Value = Mux(_numerator(controls[10]), NUMERATOR_MAX, 0)
        for bits, one in self._ones.items():
            top |= Mux(one, (1 << bits) - 1, 0)
        self._top = stages.register(11, "top", top)

    def halves(
        self, lane: int, factor: Value, element: Value, others: tuple[Value, Value]
    ) -> tuple[Value, Value]:
        """Stages 8 and 9: the product of two of these by the halves of the second one, as 9 leaves.

        With SILU, `others` are multiplied, and the lower half is all of their product.
        """
        register = self._stages.part(lane).register

        # Stage 8: two factors; those of a square are both positive.
        number = element[:SIZE_BITS].as_signed()
        size = Mux(number[-1], -number, number)
        at = self._controls[7].left
        left: Value = Mux(at.size, size, element)
        left = Mux(at.distance, element - self._mean, left)
        left = Mux(at.factor, factor, left)
        left = Mux(at.fall, others[0], left)[:LEFT_BITS].as_signed()
        at = self._controls[7].right
        right: Value = Mux(at.size, size, self._reciprocal)
        right = Mux(at.unit, self._unit, right)
        right = Mux(at.one, 1, right)
        right = Mux(at.factor, factor, right)
        right = Mux(at.share, others[1], right)
        left = register(8, "left", left)
        right = register(8, "right", right[:FACTOR_BITS])

        # Stage 9: multiply.
        low, high = left * right[:HALF_BITS], left * right[HALF_BITS:]
        return (
            register(9, "product_low", low),
            register(9, "product_high", high[: PRODUCT_BITS - HALF_BITS]),
        )

    def rounded(
        self, lane: int, halves: tuple[Value, Value], carried: Line
    ) -> tuple[Value, Value, Value]:
        """Stages 10 to 12: what the mode makes of a product or of the element that is `carried`.

        With CONTEXT, the product is that of the lower half of an element, and `carried` has that of
        its upper half.  The results are that, the same with NORMALIZE, of 18 bits, both of which
        stage 12 goes on with, and the square of a counted element, as it leaves it.
        """
        register = self._stages.part(lane).register

        # Stage 10: add both halves.
        low, high = halves
        product = Cat(low[:HALF_BITS], low[HALF_BITS:].as_signed() + high.as_signed())
        product = register(10, "product", product[:PRODUCT_BITS])

        # Stage 11: add what rounds.  The number that stands for 1 is a power of two less 1.
        at = self._controls[10].result
        scaled = reduce(or_, (Mux(one, product << bits, 0) for bits, one in self._ones.items()))
        upper = Cat(Const(1 << CONTEXT_SHIFT - 1, HALF_BITS), carried[10])
        other = Mux(at.context, upper, self._half.of(lane))
        other = Mux(at.probability, ~Cat(product, Const(0, TOTAL_BITS - PRODUCT_BITS)), other)
        total = wide_sum(scaled, other, bits=TOTAL_BITS, carry=at.probability)
        total = register(11, "total", total)

        # Stage 12: cut, and saturate what must not exceed 1.  Probabilities are rounded here.
        at, numerator = self._controls[11].result, _numerator(self._controls[11])
        one: Value = Mux(numerator, total[NUMERATOR_SHIFT:], total[PROBABILITY_SHIFT:])
        more = at.probability & total[PROBABILITY_SHIFT - 1]
        one = Mux(one >= self._top, self._top, (one + more)[: len(self._top)])
        chosen = Mux(at.context, total[CONTEXT_SHIFT:], total)[:FACTOR_BITS].as_signed()
        chosen = Mux(numerator | at.probability, one, chosen)
        chosen = Mux(at.carried, carried[11], chosen)[:FACTOR_BITS].as_signed()
        normalized = total[NORMALIZED_SHIFT:][:NORMALIZED_BITS].as_signed()
        return chosen, normalized, register(12, "square", total[: FACTOR_BITS - 1])


def _numerator(controls: data.View) -> Value:
    """Whether the result is a numerator, however it is rounded."""
    return controls.result.numerator | controls.result.dithered


class _Dither:
    """What is added to the products of lanes, as stage 10 leaves it.

    It is the same for all lanes, but for the bits of `DITHER` of a lane, which are set as well
    where the mode wants it.  So lanes share two registers, and nothing is chosen behind these.
    """

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        requests: Line,
        half: Value,
        config: AcceleratorConfig,
    ):
        """`half` is what stage 9 leaves for all lanes where nothing is dithered."""
        at = controls[9]
        first: Value | int = DITHER[0]
        # A step has all columns of a row of the accumulator, or half as many that are staged.
        columns = min(config.lanes, config.dim // 2)
        taken = config.lanes // columns
        if taken > 1:
            taken = Mux(requests[9].staged, 1, taken)
        if columns < DITHER_COLUMNS:
            turn = Signal(range(DITHER_COLUMNS // columns), name="dither_turn", reset_less=True)
            first = Array(DITHER[::columns])[turn]
            with stages.m.If(stages.valid[9] & at.element.reference):
                stages.m.d.sync += turn.eq(0)
            with stages.m.Elif(stages.valid[9] & at.result.dithered):
                stages.m.d.sync += turn.eq(turn + taken)
        alike = half | Mux(at.result.dithered, first, 0)
        apart = alike | Mux(at.result.dithered, reduce(or_, DITHER), 0)
        self._alike = stages.register(10, "half", alike[: len(half)])
        self._apart = stages.register(10, "dither", apart[: len(half)])

    def of(self, lane: int) -> Value:
        """What is added to the product of `lane`."""
        own = DITHER[lane % DITHER_COLUMNS]
        return Cat(
            apart if own >> bit & 1 else alike
            for bit, (alike, apart) in enumerate(zip(self._alike, self._apart, strict=True))
        )
