"""Stages 13 to 16 of `Polynomial`: a second product, what is added to it, a shift, saturation."""

from amaranth import Array, Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.vector.modes import Plus, chooses
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["BETA_STAGE", "GAMMA_STAGE", "Affines"]

GAMMA_STAGE = 13
"""The stage in which gammas are read, and multiply; so do sigmoids and what was kept."""
BETA_STAGE = 14
"""The stage in which betas are read."""

HALF_BITS = 16
"""Width of an int16, or of half an element."""
LEFT_BITS = 18
"""Width of what is normalized, in bits, signed; a sigmoid is one bit shorter."""
SCALED_BITS = LEFT_BITS + HALF_BITS
PRODUCT_BITS = 32
"""Width of a product of two int16 that is kept, in bits, signed."""
RESULT_BITS = 32
INT8_BOUND, INT16_BOUND = 1 << 7, 1 << 15


class Affines:
    """What the lanes share, and the stages of one."""

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        requests: Line,
        parts: Line,
        config: AcceleratorConfig,
    ):
        """`controls` are `ModeBits`, `requests` a `PolynomialRequest`, `parts` those of a row."""
        self._stages = stages
        self._controls = controls
        self._part = parts[GAMMA_STAGE]
        self._lanes = config.lanes
        self._keeping = [
            stages.branch(
                f"producing_{number}", chooses(requests[0].mode, Plus.KEPT) & (parts[0] == number)
            )
            for number in range(config.row_parts)
        ]
        # Both halves of the lanes, or all if a part is within one half of a row.
        last = requests[12]
        lower, upper = (last.shift, last.kind), (last.shift2, last.kind2)
        chosen = {"lower": lower, "upper": upper}
        if config.row_parts > 1:
            both = (Mux(parts[12][-1], high, low) for low, high in zip(lower, upper, strict=True))
            chosen = {"both": tuple(both)}
        plus = controls[12].plus
        adds = stages.line("adds", plus.beta | plus.product, 12)
        self._halves = [
            _Half(stages.part(name), adds, shift, kind) for name, (shift, kind) in chosen.items()
        ]

    def result(self, lane: int, result: Value, sigmoid: Value, gamma: Value, beta: Value) -> Value:
        """What stage 16 leaves of the `result` and the `sigmoid` of stage 12.

        `gamma` is there in stage 13, `beta` in stage 14.
        """
        # Stage 13: what is normalized times gamma, or the sigmoid or what was kept times the
        # element.  What is kept was the upper half.
        at = self._controls[12].times
        kept = result[HALF_BITS:].as_signed()
        kept = Mux(at.less, ~kept, kept)
        left = Mux(at.gamma, result[:LEFT_BITS].as_signed(), Mux(at.sigmoid, sigmoid, kept))
        right = Mux(at.gamma, gamma, result)[:HALF_BITS].as_signed()
        # Less a product is (~kept + 1) * element.
        product = left[:LEFT_BITS].as_signed() * right + Mux(at.less, right, 0)
        scaled = Mux(at.nothing, result, product[:SCALED_BITS].as_signed())
        scaled = self._stages.part(lane).register(GAMMA_STAGE, "scaled", scaled)

        half = self._halves[lane * len(self._halves) // self._lanes]
        return half.result(lane, scaled, self._added(lane, scaled, beta))

    def _added(self, lane: int, scaled: Value, beta: Value) -> Value:
        """What stage 14 adds to `scaled`, which it keeps for a later row if that is to add it."""
        kept = scaled[:PRODUCT_BITS].as_signed()
        products = Array(
            each.part(lane).held(BETA_STAGE, "product", kept) for each in self._keeping
        )
        return Mux(self._controls[GAMMA_STAGE].plus.product, products[self._part], beta)


class _Half:
    """What half of the lanes share, and the stages of one; what adds nothing just passes.

    It is not shifted, and not saturated.
    """

    def __init__(self, stages: Stages, adds: Line, shift: Value, kind: Value):
        """`shift` and `kind`, an `ElementType`, as stage 12 leaves them."""
        self._stages = stages
        self._adds = adds
        shift = Mux(adds[12], shift, 0)
        self._half = stages.register(13, "half", (Value.cast(1) << shift >> 1)[:31])
        self._shift = stages.line("shift", shift, 12)
        narrow = stages.line("narrow", kind == ElementType.INT8, 12)
        self._bound = stages.register(15, "bound", Mux(narrow[14], INT8_BOUND, INT16_BOUND))

    def result(self, lane: int, scaled: Value, added: Value) -> Value:
        """What stage 16 leaves of `scaled` and what is `added` to it, both from stage 13."""
        stages, adds = self._stages.part(lane), self._adds

        # Stage 14: add.
        total = scaled + Mux(adds[13], added, 0) + self._half
        total = stages.register(14, "sum", total)

        # Stage 15: scale.
        shifted = stages.register(15, "shifted", total >> self._shift[14])

        # Stage 16: saturate.
        bound = self._bound
        high = adds[15] & (shifted >= bound)
        low = adds[15] & (shifted < -bound)
        result = Mux(low, -bound, Mux(high, bound - 1, shifted))
        return stages.register(16, "result", result[:RESULT_BITS].as_signed())
