"""Stages 14 to 16 of `Polynomial`: beta or another product, a shift and saturation."""

from amaranth import Mux, Value

from celosia.hw.lib.stages import Stages
from celosia.isa.encoding import ElementType

__all__ = ["BETA_STAGE", "AffineHalf"]

BETA_STAGE = 14
"""The stage in which betas are read."""

RESULT_BITS = 32
INT8_BOUND, INT16_BOUND = 1 << 7, 1 << 15


class AffineHalf:
    """What half of the lanes share, and the stages of one; other modes' results just pass."""

    def __init__(self, stages: Stages, normalized: Stages, shift: Value, kind: Value):
        """`shift` and `kind`, an `ElementType`, as stage 12 leaves them.

        `normalized` are the `stages` for NORMALIZE, SUM and DIFFERENCE only.
        """
        self._stages = stages
        self._normalized = normalized
        self._half = normalized.register(13, "half", (Value.cast(1) << shift >> 1)[:31])
        self._shift = normalized.line("shift", shift, 12)
        narrow = normalized.line("narrow", kind == ElementType.INT8, 12)
        self._bound = normalized.register(15, "bound", Mux(narrow[14], INT8_BOUND, INT16_BOUND))

    def result(self, lane: int, passed: Value, product: Value, beta: Value) -> Value:
        """`Affine`, of which stage 13 leaves the `product`; of other modes what has `passed` it.

        For SUM and DIFFERENCE, `beta` is a product as well.
        """
        normalized, stages = self._normalized.part(lane), self._stages.part(lane)

        # Stage 14: add.
        total = normalized.register(14, "sum", product + beta + self._half)

        # Stage 15: scale.
        shifted = normalized.register(15, "shifted", total >> self._shift[14])

        # Stage 16: saturate.
        bound = self._bound
        high = Mux(shifted >= bound, bound - 1, shifted)
        result = Mux(shifted < -bound, -bound, high)
        others = stages.line("passed", passed, 13)
        result = Mux(self._normalized.valid[15], result, others[15])
        return stages.register(16, "result", result[:RESULT_BITS].as_signed())
