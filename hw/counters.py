"""Counts what happens, under the names of `celosia.isa.events`."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig
from celosia.isa.events import COUNTER_BITS, COUNTERS, TABLES

__all__ = ["Counters", "CycleEvents", "owner_number"]


_NUMBERS = {owner.name: number for table in TABLES for number, owner in enumerate(table.owners)}


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


class Counters(wiring.Component):
    """Free-running counters, one cycle behind the events.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Of the accelerator.

    Members
    -------
    events : ``In(CycleEvents(config))``
        What happens in this cycle.
    values : ``Out(Signature({name: Out(COUNTER_BITS)}))``
        The counters.
    """

    events: data.View
    values: Any

    def __init__(self, config: AcceleratorConfig):
        values = wiring.Signature({counter.name: Out(COUNTER_BITS) for counter in COUNTERS})
        super().__init__({"events": In(CycleEvents(config)), "values": Out(values)})

    def elaborate(self, platform) -> Module:
        m = Module()
        now = Signal.like(self.events)
        m.d.sync += now.eq(self.events)

        def count(name: str, amount=1) -> None:
            counter = getattr(self.values, name)
            m.d.sync += counter.eq(counter + amount)

        with m.If(now.busy):
            count("cycles")
            for table in TABLES:
                with m.Switch(now[table.name]):
                    for number, owner in enumerate(table.owners):
                        with m.Case(number):
                            count(owner.name)
        for event, name in (
            (now.command, "commands"),
            (now.read_beat, "read_beats"),
            (now.write_beat, "write_beats"),
        ):
            with m.If(event):
                count(name)
        for name in ("read_bytes", "write_bytes"):
            with m.If(now[name] != 0):
                count(name, now[name])
        return m
