"""Which older operations a new one must wait for."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Annotated, Any

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.decoder import Kind, hull_count
from celosia.hw.decode.ranges import RowRange, overlap, parameter_overlap
from celosia.hw.issue.queues import Memories, PerQueue, QueueTraits, event_names, queues
from celosia.hw.lib.sleep import Sleeping
from celosia.isa.config import AcceleratorConfig

__all__ = ["POSITION_BITS", "WINDOW", "HazardTables", "Needs", "close", "reached"]

POSITION_BITS = 12
"""Width of the number of an operation in its queue, in bits; the number wraps."""

WINDOW = 1 << (POSITION_BITS - 2)
"""Commands that may be queued after one that still waits: positions stay unambiguous."""


class Needs(data.StructLayout):
    """How far each queue must have come before an operation may start: a position per event."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__(dict.fromkeys(event_names(config), unsigned(POSITION_BITS)))


def reached(event: Value, need: Value) -> Value:
    """Whether a counter of events has come to `need`; both wrap."""
    return ~(event - need)[POSITION_BITS - 1]


def close(new: Value, old: Value) -> Value:
    """Whether fewer than `WINDOW` commands are from that of tag `old` to that of `new`; they wrap.

    A difference would take as long as its carries: here, only that of `new` and 1 has many.
    """
    bits = (WINDOW - 1).bit_length()
    high = new[bits:]
    borrows = new[:bits] < old[:bits]
    return Mux(borrows, old[bits:] == (high - 1)[: len(high)], old[bits:] == high)


class HazardTables(Sleeping):
    """Remembers the rows of everything in flight, and compares new operations with them.

    Each queue is in order, so what an operation waits for in a queue is the youngest older
    operation there that conflicts with it, and everything before that one is over by then too.

    A new operation waits until an older one of another queue has written what the new one reads or
    writes, and until the older one has finished reading (or, for late readers, writing) the rows
    that the new one writes.
    Operations of one queue do not wait for each other, with one exception: a product or a transform
    waits for older ones that write what it reads (and the first result of a transform for second
    ones, and the other way round).  They write in order, and loads are done one after the other.

    `compare` and, one cycle later, `insert` belong to the same operation; its needs are on
    ``needs`` one cycle after `insert`.  So an operation can be taken every two cycles.  A slot is
    used again after ``depth`` operations of its queue: the user keeps fewer in flight.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies the depths of the queues and the rows of the memories.

    Members
    -------
    kind : ``In(Kind)``
        Kind of the new operation.
    ranges : ``In(ArrayLayout(RowRange(config), HULLS))``
        Rows that the new operation names.
    compare : ``In(1)``
        Compare now.
    insert : ``In(1)``
        Remember now.
    tails : ``In(PerQueue(unsigned(POSITION_BITS)))``
        Position of the next operation of each queue.
    needs : ``Out(Needs(config))``
        What the operation waits for.
    """

    kind: Annotated[Any, In(Kind)]
    ranges: data.View
    compare: Annotated[Signal, In(1)]
    insert: Annotated[Signal, In(1)]
    tails: Annotated[data.View, In(PerQueue(unsigned(POSITION_BITS)))]
    needs: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.queues = queues(config)
        hulls = hull_count(config)
        super().__init__({
            "ranges": In(data.ArrayLayout(RowRange(config), hulls)),
            "needs": Out(Needs(config)),
        })

    def build(self, m: Module, outer: Module) -> Value:
        for queue in self.queues:
            table = self._table(m, queue)
            for event, conflicts_with in (
                (queue.done, self._after_writes),
                (queue.reads, self._after_reads),
            ):
                if event is not None:
                    conflicts = Signal(len(table), name=f"{event}_conflicts", reset_less=True)
                    with m.If(self.compare):
                        m.d.sync += conflicts.eq(
                            Cat(conflicts_with(queue, ranges) for ranges in table)
                        )
                    with m.If(self.insert):
                        need = _youngest(conflicts, self.tails[queue.name])
                        m.d.sync += self.needs[event].eq(need)
        return self.compare | self.insert

    def _after_writes(self, queue: QueueTraits, ranges: list) -> Value:
        """Whether the new operation must wait until an older one of `queue` has written."""
        foreign = self.kind != queue.kind
        # `same` are conflicts that only queues apart have: within one queue, results of the same
        # number are written in order.  Late reads are over when their operation has written, so
        # what the new one writes waits for that.  `crossing` are all other pairs: a write that the
        # new operation reads, or writes as another result.
        late = range(queue.hulls - queue.late, queue.hulls)
        same, crossing = self._meet([0], queue, ranges, late), Const(0)
        for hull in range(hull_count(self.config)):
            others = [number for number in range(queue.writes) if number != hull]
            if hull < queue.writes:
                same |= self._meet([hull], queue, ranges, [hull])
            crossing |= self._meet([hull], queue, ranges, others)
        return (foreign & same) | (crossing if queue.own_reads else foreign & crossing)

    def _after_reads(self, queue: QueueTraits, ranges: list) -> Value:
        """Whether the new operation must wait until an older one of `queue` no more reads."""
        read, writes = range(queue.writes, queue.hulls - queue.late), Const(0)
        for other in self.queues:
            if other.kind != queue.kind and other.writes:
                meets = self._meet(range(other.writes), queue, ranges, read)
                writes |= (self.kind == other.kind) & meets
        return writes

    def _meet(
        self, hulls: Iterable[int], queue: QueueTraits, ranges: Sequence, numbers: Iterable[int]
    ) -> Value:
        """Whether any of these ranges of the new operation meets one of `numbers` of an older one.

        Of two that are never in one memory, nothing is compared.
        """
        meets: list[Value] = [Const(0)]
        for hull in hulls:
            may = reduce(or_, (q.memories[hull] for q in self.queues if hull < q.hulls))
            for number in numbers:
                new, old = self.ranges[hull], ranges[number]
                if queue.memories[number] == Memories.PARAMETERS and Memories.PARAMETERS in may:
                    meets.append(parameter_overlap(self.config, new, old))
                elif may == Memories.PARAMETERS and Memories.PARAMETERS in queue.memories[number]:
                    meets.append(parameter_overlap(self.config, old, new))
                elif may & queue.memories[number]:
                    meets.append(overlap(new, old))
        return Cat(meets).any()

    def _table(self, m: Module, queue: QueueTraits) -> list[list[data.View]]:
        """Registers for the rows of the operations of `queue` in flight, one list per slot."""
        depth = queue.depth(self.config)
        table = [
            [
                Signal(RowRange(self.config), name=f"{queue.name}_{slot}_{hull}")
                for hull in range(queue.hulls)
            ]
            for slot in range(depth)
        ]
        tail = self.tails[queue.name][: (depth - 1).bit_length()]
        with m.If(self.insert & (self.kind == queue.kind)), m.Switch(tail):
            for slot, ranges in enumerate(table):
                with m.Case(slot):
                    m.d.sync += [kept.eq(self.ranges[hull]) for hull, kept in enumerate(ranges)]
        return table


def _youngest(conflicts: Signal, tail: Value) -> Value:
    """The position after the youngest operation in conflict; without any, the oldest possible."""
    depth = len(conflicts)
    # Bit n: the operation n + 1 places before the tail.
    turned = (Cat(conflicts, conflicts) >> tail[: (depth - 1).bit_length()])[:depth][::-1]
    age: Value = Value.cast(depth)
    for places in reversed(range(depth)):
        age = Mux(turned[places], places, age)
    return (tail - age)[:POSITION_BITS]
