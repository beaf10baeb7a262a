"""What rows pass on their way out: norms before they are requantized, windows afterwards."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.hw.gemmini.norms.lanes import BertLanes
from celosia.hw.gemmini.norms.passing import PassingControl
from celosia.hw.gemmini.pool import Pool
from celosia.hw.lib.delay import delay
from celosia.hw.vector.requantizer import Requantizer
from celosia.isa.config import AcceleratorConfig

__all__ = ["RowPasses"]


class RowPasses:
    """`BertLanes` with `PassingControl`, and `Pool`, as far as an accelerator has them."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._passing = PassingControl(config) if config.bert else None
        self.latency = BertLanes.LATENCY if config.bert else 0
        """Cycles more, before rows are requantized."""

    def ask(self, m: Module, reads: Any, granted: Value) -> tuple[Value, Value]:
        """Look at the row on offer.  Returns whether it may be read, and if the scale is its own.

        `granted`: it is read.
        """
        if self._passing is None:
            return Const(1), reads.p.scale
        m.submodules.passing = passing = self._passing
        names = ("passing", "scale", "elements", "last_in_row", "last")
        m.d.comb += passing.granted.eq(granted)
        with m.If(reads.valid):
            m.d.comb += [passing.read[name].eq(reads.p[name]) for name in names]
        return passing.free, passing.scale

    def words(self, read: Any, words: Value) -> Value:
        """How many of its `words` a row adds to those that leave."""
        if self.config.convolution:
            words = Mux(read.pools & ~read.last_in_row, 0, words)
        if self._passing is not None:
            words = Mux(self._passing.silent, 0, words)
        return words

    def enter(self, m: Module, requantizer: Requantizer) -> Any:
        """What rows enter on their way into `requantizer`: lanes, or itself."""
        if self._passing is None:
            return requantizer
        m.submodules.lanes = lanes = BertLanes(self.config)
        m.d.comb += [
            requantizer.request.eq(lanes.next_request),
            requantizer.row.eq(lanes.next_row),
            self._passing.row.eq(lanes.next_row),
            lanes.curve.eq(self._passing.curve),
            lanes.offset.eq(self._passing.offset),
            lanes.constants.eq(self._passing.constants),
        ]
        return lanes

    def leave(
        self, m: Module, read: Any, narrow: Value, next_arrives: Value, depth: int
    ) -> tuple[Value, Value]:
        """What leaves of a row of int8 that was read `depth` cycles ago, and whether it does."""
        leaves: Value = Const(1)
        if self.config.convolution:
            m.submodules.pool = pool = Pool(self.config)
            marks = Cat(read.pools, read.first, read.blank, read.last_in_row)
            m.d.comb += [
                pool.row.as_value().eq(narrow),
                pool.next_arrives.eq(next_arrives),
                pool.next_row.eq(delay(m, marks, depth - 1, name="pool_marks")),
            ]
            narrow, leaves = pool.result.as_value(), pool.next_leaves
        if self._passing is not None:
            leaves = leaves & ~delay(m, self._passing.silent, depth - 1, name="silent")
        return narrow, leaves

    @property
    def silent_done(self) -> Value:
        """The rows of a store that writes nothing are done."""
        return Signal() if self._passing is None else self._passing.done
