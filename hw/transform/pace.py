"""How soon a step of TRANSFORM may follow the one before it."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.vector.parts import part_shape
from celosia.isa.config import AcceleratorConfig

__all__ = ["Pace"]


class Pace(wiring.Component):
    """Keeps steps as far apart as the lanes and the words of their results need.

    A step of n parts keeps the lanes for n cycles.  Its result of w words is gathered with its last
    part, and cut in w cycles from then on; the next result is w cycles or more later, and gathered
    after the last of these cycles.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``vector_lanes``.

    Members
    -------
    accepted : ``In(1)``
        The next step is accepted: never in a cycle with `entering` or `early`.
    last_part : ``In(unsigned(n))``
        The number of its last part, from 0.
    result : ``In(1)``
        It has a result.
    last_word : ``In(2)``
        The number of the last word of the result, from 0.
    entering : ``Out(1)``
        A further part of the step before enters the lanes.
    early : ``Out(1)``
        The next step has a result, for which it is too early.
    """

    accepted: Signal
    last_part: Signal
    result: Signal
    last_word: Signal
    entering: Signal
    early: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "accepted": In(1),
            "last_part": In(part_shape(config)),
            "result": In(1),
            "last_word": In(2),
            "entering": Out(1),
            "early": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        parts = Signal.like(self.last_part)  # Parts of the step before that are yet to enter.
        gap = Signal(2)  # Cycles until a result may follow.
        cut = Signal(range(self.config.row_parts + 3))  # Cycles until the last one's words are cut.
        accepts = self.accepted & self.result
        with m.If(self.accepted):
            m.d.sync += parts.eq(self.last_part)
        with m.Elif(parts != 0):
            m.d.sync += parts.eq(parts - 1)
        with m.If(accepts):
            m.d.sync += gap.eq(self.last_word)
        with m.Elif(gap != 0):
            m.d.sync += gap.eq(gap - 1)
        with m.If(accepts):
            m.d.sync += cut.eq(self.last_part + self.last_word)
        with m.Elif(cut != 0):
            m.d.sync += cut.eq(cut - 1)
        m.d.comb += [
            self.entering.eq(parts != 0),
            self.early.eq(self.result & ((gap != 0) | (cut > self.last_part))),
        ]
        return m
