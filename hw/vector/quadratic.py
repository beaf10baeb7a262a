"""Stages 1 to 8 of `Polynomial`: what the curves of modes have in common, a quadratic.

Its multipliers make the upper part of a wide product as well, for CONTEXT.

exponent: ``n = -distance``, ``z = n * inverse_ln2 >> 24``, ``r = z * ln2 - n``,
``(r + b) * r + c >> shift + z``.
GELU: ``n = min(abs(q), b)``, ``t = b - n``, ``(q < 0 ? t * t : 2 * c - t * t) >> shift``.
HardSwish: ``n = min(abs(q), 3)``, ``t = 3 - n``, ``q < 0 ? t : 6 - t``.
CONTEXT: ``u = x >> 16``, ``u * reciprocal``, of which 32 bits count.
"""

from amaranth import Cat, Mux, Value
from amaranth.lib import data

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.lib.wide import wide_sum
from celosia.isa.numerics.activation import HARDSWISH_THREE

__all__ = ["Quadratic"]

DISTANCE_BITS = 16
QUOTIENT_SHIFT = 24
QUOTIENT_BITS = 5
HALF_BITS = 16
"""Width of half a factor of a wide product, in bits."""
OFFSET_BITS = 17
"""Width of the polynomial's signed operand r, in bits: what its bound of 2^31 leaves."""
SUM_BITS = 32
FACTOR_BITS = 16


class Quadratic:
    """What the lanes share, and the stages of one."""

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        visible: Value,
        constants: data.View,
        reciprocal: Line,
    ):
        """`controls` are `ModeBits`; the `reciprocal` of the row is there as stage 2 leaves it."""
        self._stages = stages
        self._controls = controls
        self._visible = stages.line("visible", visible)
        self._exponential = constants.exponent
        self._gelu = constants.gelu
        # Where GELU and HardSwish bend, and what that of positive elements is subtracted from.
        self._bound = [Mux(self._at(n).ramp, HARDSWISH_THREE, self._gelu.b) for n in (1, 3)]
        ramp = self._at(5).ramp
        self._most = stages.register(6, "most", Mux(ramp, HARDSWISH_THREE, self._gelu.c) << 1)
        self._reciprocal = reciprocal

    def _at(self, stage: int) -> data.View:
        """Which factor is wanted, as `stage` leaves it."""
        return self._controls[stage].factor

    def factor(
        self, lane: int, element: Value, reference: Value, carried: Line
    ) -> tuple[Value, Value]:
        """The exponent of ``element - reference``, 0 if invisible; or that of a curve of `element`.

        `element` and `reference` are scores, or `element` is int16; `carried` is the element of
        each stage, for curves and CONTEXT.  The factor is unsigned, of 16 bits.  The second result
        is `carried`.  With CONTEXT, the factor is the lower half of `carried`, and the upper half
        times the reciprocal takes its place.  Stage 8 goes on with both.
        """
        register, at = self._stages.part(lane).register, self._at
        exponential, gelu = self._exponential, self._gelu

        # Stage 1: how far from the reference, or from 0.
        number = element[:DISTANCE_BITS].as_signed()
        size = Mux(number[-1], -number, number)
        distance = Mux(at(0).erf | at(0).decay | at(0).ramp, size, reference - element)
        distance = distance[: len(element) + 1]
        far = register(1, "far", distance[DISTANCE_BITS:].any())
        above = register(1, "above", distance[-1])
        distance = register(1, "distance", distance[:DISTANCE_BITS])

        # Stage 2: clamp.
        limit = Mux(at(1).erf | at(1).ramp, self._bound[0], exponential.lowest)
        clamped = Mux(far | (distance > limit), limit, distance)
        clamped = register(2, "clamped", Mux(above, 0, clamped)[:DISTANCE_BITS])

        # Stage 3: how many times ln 2, or the upper half of the reciprocal.
        clamped = Mux(at(2).half, carried[2][HALF_BITS:], clamped)
        product = clamped * Mux(
            at(2).half, self._reciprocal[2][HALF_BITS:], exponential.inverse_ln2
        )
        quotient = product[QUOTIENT_SHIFT:][:QUOTIENT_BITS]
        quotient = register(3, "quotient", Mux(at(2).half, product[:HALF_BITS], quotient))
        clamped = register(3, "clamped", clamped)

        # Stage 4: the rest, or the upper half of the element, negated.
        whole = quotient[:QUOTIENT_BITS] * exponential.ln2
        whole = Mux(at(3).erf | at(3).ramp, self._bound[1], whole)
        whole = Mux(at(3).half, 0, whole)
        clamped = Cat(clamped, clamped[-1] & at(3).half).as_signed()
        offset = register(4, "offset", (whole - clamped)[:OFFSET_BITS].as_signed())
        quotient = register(4, "quotient", quotient)

        # Stage 5: the other factor.
        other = offset + Mux(at(4).erf, 0, exponential.b)
        other = Mux(at(4).half, self._reciprocal[4][:HALF_BITS], other)
        other = Mux(at(4).ramp, 1, other)
        other = register(5, "other", other)
        offset = register(5, "offset", offset)
        quotient = register(5, "quotient", quotient)

        # Stage 6: multiply.
        product = register(6, "square", (other * offset)[:SUM_BITS].as_signed())
        quotient = register(6, "quotient", quotient)

        # Stage 7: add.
        bends = at(6).erf | at(6).ramp
        squares = bends & carried[6][-1]
        subtracts = at(6).half | (bends & ~squares)
        other = Mux(at(6).half, quotient << HALF_BITS, Mux(squares, 0, self._most))
        other = Mux(bends | at(6).half, other, exponential.c)
        product = Mux(subtracts, ~product, product)
        total = wide_sum(other, product, bits=SUM_BITS, carry=subtracts)
        total = register(7, "quadratic", total)
        shift = Mux(at(6).ramp, 0, exponential.shift + quotient[:QUOTIENT_BITS])
        shift = Mux(at(6).erf, gelu.shift, shift)
        shift = register(7, "quadratic_shift", shift)

        # Stage 8: scale.
        hidden = at(7).exponent & ~self._visible[7][lane]
        factor = Mux(hidden, 0, total >> shift)
        factor = Mux(at(7).half, carried[7][:HALF_BITS], factor)
        element = Mux(at(7).half, total, carried[7])[: len(carried[7])].as_signed()
        return factor[:FACTOR_BITS], element
