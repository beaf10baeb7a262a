"""Counts what happens, under the names of `celosia.isa.registers.events`."""

from typing import Annotated

from amaranth import Module, Mux, Signal, Value, unsigned
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.wide import wide_sum
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS, TABLES, Table

__all__ = ["COUNTER_NUMBER", "Counters", "CycleEvents", "OwnerCounters", "owner_number"]

COUNTER_NUMBER = range(len(COUNTERS))
"""The number of a counter: its place in `COUNTERS`."""

_NUMBERS = {owner.name: number for table in TABLES for number, owner in enumerate(table.owners)}
_SINGLE = [counter.name for counter in COUNTERS if counter.name not in _NUMBERS]
assert [counter.name for counter in COUNTERS] == [*_SINGLE, *_NUMBERS]


def owner_number(name: str) -> int:
    """The number of an owner in its table of `TABLES`."""
    return _NUMBERS[name]


class CycleEvents(data.StructLayout):
    """What happens in one cycle: the number of each table's owner, and what else is counted."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "busy": 1,
            **{table.name: range(len(table.owners)) for table in TABLES},
            "command": 1,
            "read_bytes": range(129),
            "write_bytes": range(129),
            "read_beat": 1,
            "write_beat": 1,
        })


class OwnerCounters(Component):
    """The counters of one table: a memory, so that they have one adder and one cell per bit.

    Cycles with the same owner are counted in one register, and added to the owner's counter in the
    cycle after the last of them: a cycle costs next to nothing, in gates that switch and in
    simulation.  So counters are complete two cycles after the last one with `busy`.

    Parameters
    ----------
    table : :class:`Table`
        The table whose owners are counted.

    Members
    -------
    busy : ``In(1)``
        This cycle counts.
    owner : ``In(range(len(owners)))``
        Owner of the cycle.
    read : ``In(1)``
        Read a counter.
    number : ``In(range(len(owners)))``
        Which one.
    value : ``Out(COUNTER_BITS)``
        Where the one that was read last stood then, from the next cycle on.
    """

    busy: Annotated[Signal, In(1)]
    owner: Signal
    read: Annotated[Signal, In(1)]
    number: Signal
    value: Annotated[Signal, Out(COUNTER_BITS)]

    def __init__(self, table: Table = TABLES[0]):
        number = range(len(table.owners))
        super().__init__({
            "owner": In(number),
            "number": In(number),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        depth = 1 << len(self.owner)
        shape = unsigned(COUNTER_BITS)
        m.submodules.memory = memory = Memory(shape=shape, depth=depth, init=[])
        write = memory.write_port()
        old, read = memory.read_port(domain="comb"), memory.read_port()
        known = Signal(depth)  # The others are 0, whatever the memory says.

        # A run of cycles with the same owner.
        runs, owner = Signal(), Signal.like(self.owner, reset_less=True)
        length = Signal(COUNTER_BITS, reset_less=True)
        goes_on, ends = Signal(), Signal()
        m.d.comb += [
            goes_on.eq(runs & self.busy & (self.owner == owner)),
            ends.eq(runs & ~goes_on),
        ]
        with m.If(goes_on):
            m.d.sync += length.eq(length + 1)
        with m.Elif(runs | self.busy):
            m.d.sync += [runs.eq(self.busy), owner.eq(self.owner), length.eq(1)]
        m.d.comb += [
            old.addr.eq(owner),
            write.addr.eq(owner),
            write.en.eq(ends),
        ]
        with m.If(ends):
            before = Mux(known.bit_select(owner, 1), old.data, 0)
            m.d.comb += write.data.eq(wide_sum(before, length, bits=COUNTER_BITS))
            m.d.sync += known.eq(known | (1 << owner))

        shown = Signal(reset_less=True)
        m.d.comb += [read.en.eq(self.read), read.addr.eq(self.number)]
        with m.If(self.read):
            m.d.sync += shown.eq(known.bit_select(self.number, 1))
        with m.If(shown):
            m.d.comb += self.value.eq(read.data)
        return m


class Counters(Component):
    """Free-running counters, `LATENCY` cycles behind the events.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Configuration of the accelerator.

    Members
    -------
    events : ``In(CycleEvents(config))``
        What happens in this cycle.
    read : ``In(1)``
        Read a counter.
    number : ``In(COUNTER_NUMBER)``
        Which one.
    value : ``Out(COUNTER_BITS)``
        Where the one that was read last stood then, from the next cycle on.
    """

    LATENCY = 3
    """Cycles after the last busy one until all is counted."""

    events: data.View
    read: Annotated[Signal, In(1)]
    number: Annotated[Signal, In(COUNTER_NUMBER)]
    value: Annotated[Signal, Out(COUNTER_BITS)]

    def __init__(self, config: AcceleratorConfig):
        super().__init__({"events": In(CycleEvents(config))})
        self.now = Signal(CycleEvents(config))
        """What happened in the cycle before."""

    def elaborate(self, platform) -> Module:
        m = Module()
        now = self.now
        m.d.sync += now.eq(self.events)
        singles = {name: Signal(COUNTER_BITS, name=name) for name in _SINGLE}

        def count(event: Value, name: str, amount: Value | int = 1) -> None:
            with m.If(event):
                m.d.sync += singles[name].eq(singles[name] + amount)

        count(now.busy, "cycles")
        count(now.command, "commands")
        count(now.read_beat, "read_beats")
        count(now.write_beat, "write_beats")
        for name in ("read_bytes", "write_bytes"):
            count(now[name] != 0, name, now[name])
        self._read(m, list(singles.values()))
        return m

    def _read(self, m: Module, singles: list[Signal]) -> None:
        """Count owners, and show what is read: it is in the table `shown`, or alone."""
        shown, single = Signal(range(len(TABLES) + 1)), Signal(COUNTER_BITS, reset_less=True)
        with m.If(self.read):
            m.d.sync += shown.eq(0)
            with m.Switch(self.number):
                for number, counter in enumerate(singles):
                    with m.Case(number):
                        m.d.sync += single.eq(counter)
        first = len(singles)
        choices = [single]
        for index, table in enumerate(TABLES, 1):
            m.submodules[table.name] = part = OwnerCounters(table)
            end = first + len(table.owners)
            m.d.comb += [part.busy.eq(self.now.busy), part.owner.eq(self.now[table.name])]
            with m.If(self.read & (self.number >= first) & (self.number < end)):
                m.d.comb += [part.read.eq(1), part.number.eq(self.number - first)]
                m.d.sync += shown.eq(index)
            choices.append(part.value)
            first = end
        with m.Switch(shown):
            for index, value in enumerate(choices):
                with m.Case(index):
                    m.d.comb += self.value.eq(value)
