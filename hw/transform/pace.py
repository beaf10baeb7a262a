"""How soon a step of TRANSFORM may follow the one before it."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.vector.parts import part_shape
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.scaler import Scaler
from celosia.isa.config import AcceleratorConfig

__all__ = ["Pace", "PacedStep"]

TURN = Scaler.LATENCY
WORDS = 4
"""The most words of a result."""


class PacedStep(data.StructLayout):
    """What matters of a step here."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "last_part": part_shape(config),  # The number of its last part, from 0.
            "whole": 1,  # It enters as a whole, to find a maximum: no turns, and no mode.
            "scaled": 1,  # It takes a turn of the scaler before its mode.
            "rescaled": 1,  # Its result takes one behind it.
            "result": 1,  # It has a result.
            "last_word": unsigned(2),  # The number of the last word of the result, from 0.
        })


class Pace(Component):
    """Keeps steps as far apart as the lanes, their scaler and the words of results need.

    A step of n parts keeps the lanes for n cycles.  Its result of w words is gathered with its last
    part, and cut in w cycles from then on; the next result is w cycles or more later, and gathered
    after the last of these cycles.

    Turns of the scaler take time that other steps do not need: a part waits that would overtake one
    before it, on its way to its mode or as a result, and one that would need the scaler for its
    first turn in a cycle in which another one has its second.  Steps that take the same turns never
    wait for that, unless they take both: then every other cycle has one, in the long run.

    What keeps a step is found out in the cycle before, of the one that is on offer then, so that
    `entering`, `early` and `behind` are registers: local memories are asked right behind them.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``vector_lanes``.

    Members
    -------
    accepted : ``In(1)``
        The step on offer is accepted: never in a cycle with `entering`, `early` or `behind`.
    step : ``In(PacedStep(config))``
        The step on offer.
    coming : ``In(PacedStep(config))``
        The step behind it.
    taken : ``In(1)``
        That one is on offer in the next cycle; else `step` still is, if there is one.
    entering : ``Out(1)``
        A further part of the step before enters the lanes.
    early : ``Out(1)``
        The step on offer has a result, for which it is too early.
    behind : ``Out(1)``
        The step on offer would overtake another one, or needs the scaler when another one does.
    """

    accepted: Annotated[Signal, In(1)]
    step: data.View
    coming: data.View
    taken: Annotated[Signal, In(1)]
    entering: Annotated[Signal, Out(1)]
    early: Annotated[Signal, Out(1)]
    behind: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "step": In(PacedStep(config)),
            "coming": In(PacedStep(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        parts, step = self.config.row_parts, self.step
        last, accepts = step.last_part, self.accepted & step.result
        before = Mux(step.scaled, TURN, 0)
        turns = before + Mux(step.rescaled, TURN, 0)
        longer = Mux(last > step.last_word, last, step.last_word)
        # Cycles until the parts of the step before have entered, and have come to their modes,
        # until a result may begin, and until the words of the last one are cut.
        entering = _countdown(m, "parts", self.accepted, last, parts)
        mode = _countdown(m, "mode", self.accepted & ~step.whole, before + last, TURN + parts)
        gap = _countdown(m, "gap", accepts, turns + longer, 2 * TURN + max(WORDS, parts))
        cut = turns + last + step.last_word
        cut = _countdown(m, "cut", accepts, cut, 2 * TURN + parts + WORDS)
        second = self._second_turns(m, accepts)
        m.d.sync += self.entering.eq(entering != 0)
        # Of both steps, and then a choice: whether one is taken is known last.
        kept, taken = (self._waits(each, mode, gap, cut, second) for each in (step, self.coming))
        for told, one, other in zip((self.early, self.behind), taken, kept, strict=True):
            m.d.sync += told.eq(Mux(self.taken, one, other))
        return m

    def _waits(
        self, step: data.View, mode: Value, gap: Value, cut: Value, second: Value
    ) -> tuple[Value, Value]:
        """Whether it is too early for the result of `step`, and whether it is to stay behind."""
        parts = self.config.row_parts
        # Comparisons with constants, then choices: a sum before them would make the path longer.
        early = [
            (gap > turns)
            | Cat(cut > turns + part for part in range(parts)).bit_select(step.last_part, 1)
            for turns in (0, TURN, 2 * TURN)
        ]
        one = Mux(step.scaled | step.rescaled, early[1], early[0])
        early = step.result & Mux(step.scaled & step.rescaled, early[2], one)
        overtakes = Mux(step.scaled, mode > TURN, mode != 0)
        meets = step.scaled & (second & _cycles(step.last_part, parts)).any()
        return early, ~step.whole & (overtakes | meets)

    def _second_turns(self, m: Module, accepts: Value) -> Value:
        """When results have a turn of the scaler: bit k, k cycles behind the next one."""
        parts = self.config.row_parts
        first = _cycles(self.step.last_part, parts) << Polynomial.LATENCY
        first = Mux(self.step.scaled, first << TURN, first)
        turns = Signal(TURN + Polynomial.LATENCY + parts, name="second_turns")
        promised = Mux(accepts & self.step.rescaled, first, 0)
        coming = ((turns | promised) >> 1)[: len(turns)]
        m.d.sync += turns.eq(coming)
        return coming


def _cycles(last_part: Value, parts: int) -> Value:
    """Cycles in which a step enters: bit k, k cycles behind the one in which it is accepted."""
    return ((2 << last_part) - 1)[:parts]


def _countdown(m: Module, name: str, start: Value, cycles: Value, most: int) -> Value:
    """What a register is in the next cycle: `cycles`, at most `most`, or one less, down to 0."""
    left = Signal(range(most + 1), name=name)
    coming = Signal.like(left, name=f"{name}_coming")
    m.d.comb += coming.eq(Mux(start, cycles, left - (left != 0)))
    m.d.sync += left.eq(coming)
    return coming
