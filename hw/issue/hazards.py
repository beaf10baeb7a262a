"""Which older operations a new one must wait for."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.frontend.decoder import HULLS, Kind
from celosia.hw.issue.ranges import RowRange, overlap
from celosia.isa.config import AcceleratorConfig

__all__ = ["POSITION_BITS", "WINDOW", "Events", "HazardTables", "Needs", "reached"]

POSITION_BITS = 12
"""Of the number of an operation in its queue, which wraps."""

WINDOW = 1 << (POSITION_BITS - 2)
"""Commands that may be queued after one that still waits: positions stay unambiguous."""


class Needs(data.StructLayout):
    """How far each queue must have come before an operation may start."""

    def __init__(self) -> None:
        position = unsigned(POSITION_BITS)
        super().__init__({
            "load_done": position,
            "execute_reads": position,
            "execute_done": position,
            "store_reads": position,
        })


Events = Needs
"""How far each queue has come: operations since reset that are over (or read no more)."""


def reached(event: Value, need: Value) -> Value:
    """Whether a counter of events has come to `need`; both wrap."""
    return ~(event - need)[POSITION_BITS - 1]


class HazardTables(wiring.Component):
    """Remembers the rows of everything in flight, and compares new operations with them.

    Each queue is in order, so what an operation waits for in a queue is the youngest older
    operation there that conflicts with it, and everything before that one is over by then too.

    ========  ====================================  ===========================================
    new       waits for the end of                  waits for the last read of
    ========  ====================================  ===========================================
    load      products that write its rows          products and stores that read its rows
    product   loads of its rows, products that      stores that read its destination
              write what it reads
    store     loads and products that write its
              rows
    ========  ====================================  ===========================================

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
        Of the new operation.
    ranges : ``In(ArrayLayout(RowRange(config), HULLS))``
        Of the new operation.
    compare : ``In(1)``
        Compare now.
    insert : ``In(1)``
        Remember now.
    tails : ``In(ArrayLayout(unsigned(POSITION_BITS), 3))``
        Position of the next operation of each queue (load, execute, store).
    needs : ``Out(Needs())``
        What the operation waits for.
    """

    kind: Any
    ranges: data.View
    compare: Signal
    insert: Signal
    tails: data.View
    needs: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "kind": In(Kind),
            "ranges": In(data.ArrayLayout(RowRange(config), HULLS)),
            "compare": In(1),
            "insert": In(1),
            "tails": In(data.ArrayLayout(unsigned(POSITION_BITS), 3)),
            "needs": Out(Needs()),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        config = self.config
        loads = self._table(m, Kind.LOAD, config.load_queue, 1)
        products = self._table(m, Kind.EXECUTE, config.execute_queue, HULLS)
        stores = self._table(m, Kind.STORE, config.store_queue, 2)
        is_product, is_load = self.kind == Kind.EXECUTE, self.kind == Kind.LOAD

        first, *others = self._new_ranges()
        sources = (
            ("load_done", 0, loads, lambda ranges: ~is_load & _meet([first, *others], ranges)),
            ("execute_reads", 1, products, lambda ranges: is_load & _meet([first], ranges[1:])),
            (
                "execute_done",
                1,
                products,
                # Products write in order: one destination does not wait for another.
                lambda ranges: (
                    (~is_product & _meet([first], ranges[:1])) | _meet(others, ranges[:1])
                ),
            ),
            (
                "store_reads",
                2,
                stores,
                lambda ranges: ~(self.kind == Kind.STORE) & _meet([first], ranges),
            ),
        )
        for name, queue, table, conflicts_with in sources:
            conflicts = Signal(len(table), name=f"{name}_conflicts", reset_less=True)
            with m.If(self.compare):
                m.d.sync += conflicts.eq(Cat(conflicts_with(ranges) for ranges in table))
            with m.If(self.insert):
                need = _youngest(conflicts, self.tails[queue])
                m.d.sync += self.needs[name].eq(need)
        return m

    def _new_ranges(self) -> list[data.View]:
        return [self.ranges[hull] for hull in range(HULLS)]

    def _table(self, m: Module, kind: Kind, depth: int, hulls: int) -> list[list[data.View]]:
        """Slots for the rows of `depth` operations."""
        table = [
            [
                Signal(RowRange(self.config), name=f"{kind.name.lower()}_{slot}_{hull}")
                for hull in range(hulls)
            ]
            for slot in range(depth)
        ]
        new_ranges = self._new_ranges()
        tail = self.tails[kind.value][: (depth - 1).bit_length()]
        with m.If(self.insert & (self.kind == kind)), m.Switch(tail):
            for slot, ranges in enumerate(table):
                with m.Case(slot):
                    m.d.sync += [
                        kept.eq(new) for kept, new in zip(ranges, new_ranges, strict=False)
                    ]
        return table


def _meet(ones: list, others: list) -> Value:
    """Whether any of `ones` has a row in common with any of `others`."""
    return Cat(overlap(one, other) for one in ones for other in others).any()


def _youngest(conflicts: Signal, tail: Value) -> Value:
    """The position after the youngest operation in conflict; without any, the oldest possible."""
    depth = len(conflicts)
    # Bit n: the operation n + 1 places before the tail.
    turned = (Cat(conflicts, conflicts) >> tail[: (depth - 1).bit_length()])[:depth][::-1]
    age: Value = Value.cast(depth)
    for places in reversed(range(depth)):
        age = Mux(turned[places], places, age)
    return (tail - age)[:POSITION_BITS]
