"""How soon a step of TRANSFORM may follow the one before it."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.vector.parts import part_shape
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.scaler import Scaler
from celosia.isa.config import AcceleratorConfig

__all__ = ["Pace"]

TURN = Scaler.LATENCY
WORDS = 4
"""The most words of a result."""


class Pace(wiring.Component):
    """Keeps steps as far apart as the lanes, their scaler and the words of results need.

    A step of n parts keeps the lanes for n cycles.  Its result of w words is gathered with its last
    part, and cut in w cycles from then on; the next result is w cycles or more later, and gathered
    after the last of these cycles.

    Turns of the scaler take time that other steps do not need: a part waits that would overtake one
    before it, on its way to its mode or as a result, and one that would need the scaler for its
    first turn in a cycle in which another one has its second.  Steps that take the same turns never
    wait for that, unless they take both: then every other cycle has one, in the long run.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``vector_lanes``.

    Members
    -------
    accepted : ``In(1)``
        The next step is accepted: never in a cycle with `entering`, `early` or `behind`.
    last_part : ``In(unsigned(n))``
        The number of its last part, from 0.
    whole : ``In(1)``
        It enters as a whole, to find a maximum: it takes no turns, and has no mode.
    scaled : ``In(1)``
        It takes a turn of the scaler before its mode.
    rescaled : ``In(1)``
        Its result takes one behind it.
    result : ``In(1)``
        It has a result.
    last_word : ``In(2)``
        The number of the last word of the result, from 0.
    entering : ``Out(1)``
        A further part of the step before enters the lanes.
    early : ``Out(1)``
        The next step has a result, for which it is too early.
    behind : ``Out(1)``
        The next step would overtake another one, or needs the scaler when another one does.
    """

    accepted: Signal
    last_part: Signal
    whole: Signal
    scaled: Signal
    rescaled: Signal
    result: Signal
    last_word: Signal
    entering: Signal
    early: Signal
    behind: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "accepted": In(1),
            "last_part": In(part_shape(config)),
            "whole": In(1),
            "scaled": In(1),
            "rescaled": In(1),
            "result": In(1),
            "last_word": In(2),
            "entering": Out(1),
            "early": Out(1),
            "behind": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        parts = self.config.row_parts
        last, accepts = self.last_part, self.accepted & self.result
        before = Mux(self.scaled, TURN, 0)
        turns = before + Mux(self.rescaled, TURN, 0)
        longer = Mux(last > self.last_word, last, self.last_word)
        # Cycles until the parts of the step before have entered, and have come to their modes,
        # until a result may begin, and until the words of the last one are cut.
        entering = _countdown(m, "parts", self.accepted, last, parts)
        coming = _countdown(m, "coming", self.accepted & ~self.whole, before + last, TURN + parts)
        gap = _countdown(m, "gap", accepts, turns + longer, 2 * TURN + max(WORDS, parts))
        cut = turns + last + self.last_word
        cut = _countdown(m, "cut", accepts, cut, 2 * TURN + parts + WORDS)
        # Comparisons with constants, then choices: a sum before them is on the longest path.
        early = [
            (gap > taken) | Cat(cut > taken + part for part in range(parts)).bit_select(last, 1)
            for taken in (0, TURN, 2 * TURN)
        ]
        one = Mux(self.scaled | self.rescaled, early[1], early[0])
        overtakes = Mux(self.scaled, coming > TURN, coming != 0)
        m.d.comb += [
            self.entering.eq(entering != 0),
            self.early.eq(self.result & Mux(self.scaled & self.rescaled, early[2], one)),
            self.behind.eq(~self.whole & (overtakes | (self.scaled & self._taken(m, accepts)))),
        ]
        return m

    def _taken(self, m: Module, accepts: Value) -> Value:
        """Whether a result has its turn of the scaler when a part of the next step would have."""
        parts = self.config.row_parts
        own = Signal(parts)  # Cycles in which the next step enters: bit k, k cycles from now.
        m.d.comb += own.eq((2 << self.last_part) - 1)
        first = own << Polynomial.LATENCY
        first = Mux(self.scaled, first << TURN, first)
        turns = Signal(TURN + Polynomial.LATENCY + parts, name="second_turns")
        promised = Mux(accepts & self.rescaled, first, 0)
        m.d.sync += turns.eq((turns | promised) >> 1)
        return (turns & own).any()


def _countdown(m: Module, name: str, start: Value, cycles: Value, most: int) -> Signal:
    """A register that is `cycles`, at most `most`, after `start`, and then goes down to 0."""
    left = Signal(range(most + 1), name=name)
    with m.If(start):
        m.d.sync += left.eq(cycles)
    with m.Elif(left != 0):
        m.d.sync += left.eq(left - 1)
    return left
