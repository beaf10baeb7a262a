"""Stages 12 to 16 of `Polynomial`: a second product, what is added to it, a shift, saturation."""

from collections.abc import Mapping

from amaranth import Array, Cat, Const, Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.vector.modes import Plus, Times, chooses
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["BETA_STAGE", "GAMMA_STAGE", "Affines"]

GAMMA_STAGE = 12
"""The stage in which gammas are read."""
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
        self._part = parts[BETA_STAGE - 1]
        self._lanes = config.lanes
        self._keeping = [
            stages.branch(
                f"producing_{number}", chooses(requests[0].mode, Plus.KEPT) & (parts[0] == number)
            )
            for number in range(config.row_parts)
        ]
        # Both halves of the lanes, or all if a part is within one half of a row.
        last = requests[11]
        lower, upper = (last.shift, last.kind), (last.shift2, last.kind2)
        chosen = {"lower": lower, "upper": upper}
        if config.row_parts > 1:
            both = (Mux(parts[11][-1], high, low) for low, high in zip(lower, upper, strict=True))
            chosen = {"both": tuple(both)}
        plus = controls[11].plus
        adds = stages.line("adds", plus.beta | plus.product, 11)
        self._halves = [
            _Half(stages.part(name), adds, shift, kind) for name, (shift, kind) in chosen.items()
        ]

    def factors(
        self, lane: int, result: Value, lefts: Mapping[Times, Value], gamma: Value
    ) -> tuple[Value, Value]:
        """Stage 12: one of `lefts`, of 18 bits, and of 32 bits the `result`, for what counts.

        The first one multiplies the lower half of the second, which is `gamma` with NORMALIZE.
        """
        register, at = self._stages.part(lane).register, self._controls[11].times
        left: Value = Const(0)
        for choice, value in lefts.items():
            left = Mux(at[choice.name.lower()], value, left)
        lower = Mux(at.gamma, gamma, result)[:HALF_BITS]
        result = Cat(lower, result[HALF_BITS:]).as_signed()
        left = register(12, "left", left[:LEFT_BITS].as_signed())
        return left, register(12, "result", result)

    def result(self, lane: int, factors: tuple[Value, Value], beta: Value) -> Value:
        """What stage 16 leaves of the `factors` of stage 12; `beta` is there in stage 14."""
        half = self._halves[lane * len(self._halves) // self._lanes]

        # Stage 13: multiply, and add what rounds.
        left, right = factors
        product = left * right[:HALF_BITS].as_signed()
        rounded = (product + half.rounds)[:SCALED_BITS].as_signed()
        scaled = Mux(self._controls[12].times.nothing, right, rounded)
        scaled = self._stages.part(lane).register(13, "scaled", scaled)

        return half.result(lane, scaled, self._added(lane, scaled, beta))

    def _added(self, lane: int, scaled: Value, beta: Value) -> Value:
        """What stage 14 adds to `scaled`, which it keeps for a later row if that is to add it."""
        kept = scaled[:PRODUCT_BITS].as_signed()
        products = Array(
            each.part(lane).held(BETA_STAGE, "product", kept) for each in self._keeping
        )
        return Mux(self._controls[13].plus.product, products[self._part], beta)


class _Half:
    """What half of the lanes share, and the stages of one; what adds nothing just passes.

    It is not shifted, and not saturated.  `rounds` is what stage 13 adds before that shift.
    """

    def __init__(self, stages: Stages, adds: Line, shift: Value, kind: Value):
        """`shift` and `kind`, an `ElementType`, as stage 11 leaves them."""
        self._stages = stages
        self._adds = adds
        shift = Mux(adds[11], shift, 0)
        self.rounds = stages.register(12, "half", (Value.cast(1) << shift >> 1)[:31])
        self._shift = stages.line("shift", shift, 11)
        narrow = stages.line("narrow", kind == ElementType.INT8, 11)
        self._bound = stages.register(15, "bound", Mux(narrow[14], INT8_BOUND, INT16_BOUND))

    def result(self, lane: int, scaled: Value, added: Value) -> Value:
        """What stage 16 leaves of `scaled` and what is `added` to it, both from stage 13."""
        stages, adds = self._stages.part(lane), self._adds

        # Stage 14: add.
        total = stages.register(14, "sum", scaled + Mux(adds[13], added, 0))

        # Stage 15: scale.
        shifted = stages.register(15, "shifted", total >> self._shift[14])

        # Stage 16: saturate.
        bound = self._bound
        high = adds[15] & (shifted >= bound)
        low = adds[15] & (shifted < -bound)
        result = Mux(low, -bound, Mux(high, bound - 1, shifted))
        return stages.register(16, "result", result[:RESULT_BITS].as_signed())
