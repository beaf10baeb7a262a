"""Stages 14 to 16 of `Polynomial`: beta or another product, a shift and saturation."""

from amaranth import Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.isa.encoding import ElementType

__all__ = ["BETA_STAGE", "AffineHalf"]

BETA_STAGE = 14
"""The stage in which betas are read."""

RESULT_BITS = 32
INT8_BOUND, INT16_BOUND = 1 << 7, 1 << 15


class AffineHalf:
    """What half of the lanes share, and the stages of one; other modes' results just pass.

    They are not shifted, nothing is added to them, and they are not saturated.
    """

    def __init__(self, stages: Stages, normalize: Line, shift: Value, kind: Value):
        """`shift` and `kind`, an `ElementType`, as stage 12 leaves them.

        `normalize` is whether it is NORMALIZE, SUM or DIFFERENCE, as each stage leaves it.
        """
        self._stages = stages
        self._normalize = normalize
        shift = Mux(normalize[12], shift, 0)
        self._half = stages.register(13, "half", (Value.cast(1) << shift >> 1)[:31])
        self._shift = stages.line("shift", shift, 12)
        narrow = stages.line("narrow", kind == ElementType.INT8, 12)
        self._bound = stages.register(15, "bound", Mux(narrow[14], INT8_BOUND, INT16_BOUND))

    def result(self, lane: int, product: Value, beta: Value) -> Value:
        """`Affine`, of which stage 13 leaves the `product`, or of other modes the result.

        For SUM and DIFFERENCE, `beta` is a product as well.
        """
        stages, normalize = self._stages.part(lane), self._normalize

        # Stage 14: add.
        total = product + Mux(normalize[13], beta, 0) + self._half
        total = stages.register(14, "sum", total)

        # Stage 15: scale.
        shifted = stages.register(15, "shifted", total >> self._shift[14])

        # Stage 16: saturate.
        bound = self._bound
        high = normalize[15] & (shifted >= bound)
        low = normalize[15] & (shifted < -bound)
        result = Mux(low, -bound, Mux(high, bound - 1, shifted))
        return stages.register(16, "result", result[:RESULT_BITS].as_signed())
