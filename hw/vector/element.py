"""Stages 1 and 2 of `Polynomial`: the element, alone or with what was kept of an earlier row.

Each part of a row is kept for the same part of later ones.
"""

from amaranth import Array, Cat, Mux, Value

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.vector.modes import Element, chooses
from celosia.isa.config import AcceleratorConfig

__all__ = ["Elements"]

ELEMENT_BITS = 32
HALF_BITS = 16
"""Width of an int16, or of half an element."""
INT16_BOUND = 1 << 15


class Elements:
    """What the lanes share, and the stages of one."""

    def __init__(
        self,
        stages: Stages,
        controls: Line,
        mode: Value,
        part: Value,
        config: AcceleratorConfig,
    ):
        """`mode` and `part` are those that enter, `controls` the `ModeBits` of `mode`."""
        self._stages = stages
        self._controls = controls
        self._part = part
        keeps = chooses(mode, Element.KEPT)
        self._keeping = [
            stages.branch(f"keeping_{number}", keeps & (part == number))
            for number in range(config.row_parts)
        ]

    def line(self, lane: int, row: Value) -> Line:
        """What becomes of the element `row`, from stage 2 on.

        What was kept is added to it; or it takes the place of its upper half, if a product of both
        is wanted.
        """
        stages = self._stages.part(lane)
        low_half = row[:HALF_BITS].as_signed()
        kept = Array(each.part(lane).held(1, "kept", low_half) for each in self._keeping)
        kept = kept[self._part]

        # Stage 1: put both together.
        at = self._controls[0].element
        total = Mux(at.sum, low_half + kept, row)[:ELEMENT_BITS]
        total = Mux(at.pair, Cat(low_half, kept), total).as_signed()
        total = stages.register(1, "sum", total)

        # Stage 2: saturate a sum of two int16.
        at, number = self._controls[1].element, total[: HALF_BITS + 1].as_signed()
        low = at.sum & (number < -INT16_BOUND)
        high = at.sum & (number >= INT16_BOUND)
        element = Mux(low, -INT16_BOUND, Mux(high, INT16_BOUND - 1, total))
        element = stages.register(2, "element", element[:ELEMENT_BITS].as_signed())
        return stages.line("element", element, 2)
