"""The last beats that arrived, side by side."""

from typing import Annotated

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.fields import chunk_registers
from celosia.isa.config import AcceleratorConfig

__all__ = ["ENTRIES", "BeatWindow", "CheckedBeat"]

ENTRIES = 3
"""Two that are seen, and one for the beat that arrives before `ready` has fallen."""


class CheckedBeat(data.StructLayout):
    """A beat of read data, or the sign that there is none."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": unsigned(config.bus_bits),
            "bad": 1,  # The data mean nothing: there was an error.
        })


class BeatWindow(Component):
    """A queue of beats whose two oldest entries are seen at once.

    Data that straddle two beats can be taken from it in one go.  ``beats.ready`` comes from a
    register.  A beat is seen in the cycle after it was accepted, and beats pass at one per cycle
    as long as one is taken in every cycle in which there is one, or, if the one after it is
    needed too, in which there are two.

    Members
    -------
    beats : ``In(stream.Signature(CheckedBeat(config)))``
        What arrives.
    head : ``Out(CheckedBeat(config))``
        The oldest beat.
    head_valid : ``Out(1)``
        There is one.
    second : ``Out(CheckedBeat(config))``
        The one after it.
    second_valid : ``Out(1)``
        There is one.
    take : ``In(1)``
        Drop the oldest beat.  Only while ``head_valid``.
    """

    beats: stream.Interface
    head: data.View
    head_valid: Annotated[Signal, Out(1)]
    second: data.View
    second_valid: Annotated[Signal, Out(1)]
    take: Annotated[Signal, In(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        beat = CheckedBeat(config)
        super().__init__({
            "beats": In(stream.Signature(beat)),
            "head": Out(beat),
            "second": Out(beat),
        })

    def elaborate(self, platform) -> Module:
        m = Module()

        valid = [Signal(name=f"valid_{index}") for index in range(ENTRIES)]
        beat = Value.cast(self.head)
        entries = [chunk_registers(beat, f"entry_{index}") for index in range(ENTRIES)]
        arrives = self.beats.valid & self.beats.ready

        m.d.comb += [
            self.beats.ready.eq(~valid[-1]),
            self.head_valid.eq(valid[0]),
            self.second_valid.eq(valid[1]),
        ]
        for seen, entry in ((self.head, 0), (self.second, 1)):
            with m.If(valid[entry]):
                m.d.comb += Value.cast(seen).eq(Cat(entries[entry]))

        incoming = Value.cast(self.beats.p)
        for index in range(ENTRIES):
            # After this cycle, entry `index` holds what is now in it, behind it, or arriving.
            behind = valid[index + 1] if index + 1 < ENTRIES else Const(0)
            before = valid[index - 1] if index else Const(1)
            stays = valid[index] & ~self.take
            moves = self.take & behind
            lands = arrives & Mux(self.take, valid[index] & ~behind, before & ~valid[index])
            m.d.sync += valid[index].eq(stays | moves | lands)
            with m.If(moves):
                if index + 1 < ENTRIES:
                    m.d.sync += Cat(entries[index]).eq(Cat(entries[index + 1]))
            with m.Elif(lands):
                m.d.sync += Cat(entries[index]).eq(incoming)

        return m
