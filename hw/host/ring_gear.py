"""The gear that turns beats into commands: an entry of the ring is three words of 64 bits."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.window import BeatWindow, CheckedBeat
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS
from celosia.hw.host.ring_pointers import RingRun
from celosia.hw.lib.component import Component
from celosia.hw.lib.layouts import COMMAND
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, RING_ENTRY, WORD_BITS
from celosia.isa.registers.errors import Cause

__all__ = ["RingGear"]

ENTRY_BITS = 8 * RING_ENTRY.size
ENTRY_WORDS = ENTRY_BITS // WORD_BITS


class RingGear(Component):
    """Cuts the entries of each run out of its beats.

    A run begins with a new beat, of which the words before its address are dropped, and so is what
    follows its last entry.  Where a beat has one word or less, every beat is taken at once, and an
    entry is on offer together with its last beat.  Else beats pass a window of two, and an entry is
    on offer when both its beats are in it: two entries in three cycles if a beat has two words, one
    per cycle if it has more.  A run is taken when the one before it has ended.

    An entry that is broken is not offered but named in `cause`, and everything stops there.

    Members
    -------
    runs : ``In(stream.Signature(RingRun()))``
        What the beats hold.
    beats : ``In(stream.Signature(CheckedBeat(config)))``
        The memory's answers.
    commands : ``Out(stream.Signature(COMMAND))``
        The entries.
    cause : ``Out(Cause)``
        What is wrong with the next entry.
    address : ``Out(64)``
        Byte address of the next entry.
    starved : ``Out(1)``
        Beats of the next entry are missing.
    drops : ``Out(1)``
        A beat of which nothing is left goes.
    """

    runs: Annotated[stream.Interface, In(stream.Signature(RingRun()))]
    beats: stream.Interface
    commands: Annotated[stream.Interface, Out(stream.Signature(COMMAND))]
    cause: Annotated[Any, Out(Cause)]
    address: Annotated[Signal, Out(DRAM_ADDRESS_BITS)]
    starved: Annotated[Signal, Out(1)]
    drops: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({"beats": In(stream.Signature(CheckedBeat(config)))})

    def elaborate(self, platform) -> Module:
        m = Module()
        active, taken, last = Signal(), Signal(), Signal()
        left = Signal.like(self.runs.p.entries, reset_less=True)  # Entries after the next one.
        here, bad = Signal(), Signal()  # The next entry is; the memory failed to read it.
        entry = Signal(ENTRY_BITS)
        m.d.comb += [
            last.eq(left == 0),
            taken.eq(self.commands.valid & self.commands.ready),
            self.starved.eq(active & ~here),
        ]
        with m.If(self.runs.valid & self.runs.ready):
            run = self.runs.p
            m.d.sync += [active.eq(1), left.eq(run.entries - 1), self.address.eq(run.address)]
        with m.Elif(taken):
            m.d.sync += [active.eq(~last), left.eq(left - 1)]
            m.d.sync += self.address.eq(self.address + RING_ENTRY.size)

        with m.If(here):
            funct, rest = entry[:WORD_BITS], entry[WORD_BITS:]
            with m.If(bad):
                m.d.comb += self.cause.eq(Cause.READ_RESPONSE)
            with m.Elif(funct[FUNCT_BITS:].any()):
                m.d.comb += self.cause.eq(Cause.RING_ENTRY)
            with m.Else():
                m.d.comb += self.commands.valid.eq(1)
            m.d.comb += [
                self.commands.p.funct.eq(funct),
                self.commands.p.rs1.eq(rest[:WORD_BITS]),
                self.commands.p.rs2.eq(rest[WORD_BITS:]),
            ]
        if self.config.bus_bits > WORD_BITS:
            self._cut(m, active, here, bad, entry, taken, last)
        else:
            self._join(m, active, here, bad, entry, taken)
        return m

    def _join(self, m: Module, active, here, bad, entry, taken) -> None:
        """An entry is several whole beats: keep all but the last one."""
        parts = ENTRY_BITS // self.config.bus_bits
        index = Signal(range(parts))
        kept, kept_bad = [], Signal(reset_less=True)
        beat = self.beats.p
        keeps, completes = Signal(), Signal()
        m.d.comb += [
            completes.eq(index == parts - 1),
            keeps.eq(active & ~completes & self.beats.valid),
            here.eq(active & completes & self.beats.valid),
            self.beats.ready.eq(Mux(completes, taken, active)),
            self.runs.ready.eq(~active),
            bad.eq(beat.bad | kept_bad),
        ]
        for part in range(parts - 1):
            register = Signal(self.config.bus_bits, name=f"part_{part}", reset_less=True)
            with m.If(keeps & (index == part)):
                m.d.sync += register.eq(beat.data)
            kept.append(register)
        m.d.comb += entry.eq(Cat(*kept, beat.data))
        with m.If(keeps):
            m.d.sync += [index.eq(index + 1), kept_bad.eq(beat.bad | (kept_bad & (index != 0)))]
        with m.Elif(taken):
            m.d.sync += index.eq(0)

    def _cut(self, m: Module, active, here, bad, entry, taken, last) -> None:
        """An entry begins at some word of the oldest beat, and may end in the one after it."""
        words = self.config.bus_bits // WORD_BITS
        m.submodules.window = window = BeatWindow(self.config)
        connect(m, flipped(self.beats), window.beats)
        word = Signal(range(words + 1))  # Where the next entry begins; `words`: in the next beat.
        drops, straddles = Signal(), Signal()
        m.d.comb += [
            drops.eq(word == words),
            straddles.eq(word + ENTRY_WORDS > words),
            here.eq(active & ~drops & window.head_valid & (window.second_valid | ~straddles)),
            self.runs.ready.eq(~active & ~drops),
            self.drops.eq(drops & window.head_valid),
        ]
        with m.If(here):
            m.d.comb += bad.eq(window.head.bad | (straddles & window.second.bad))
            both = Cat(window.head.data, window.second.data)
            with m.Switch(word):
                for first in range(words):
                    with m.Case(first):
                        low = first * WORD_BITS
                        m.d.comb += entry.eq(both[low : low + ENTRY_BITS])
        end = word + ENTRY_WORDS
        with m.If(self.runs.valid & self.runs.ready):
            low = (WORD_BITS // 8 - 1).bit_length()
            m.d.sync += word.eq(self.runs.p.address[low : low + (words - 1).bit_length()])
        with m.Elif(taken & last):
            # What is left of the last beat goes, and with it the beat before it.
            m.d.comb += window.take.eq(1)
            m.d.sync += word.eq(Mux(end > words, words, 0))
        with m.Elif(taken):
            m.d.comb += window.take.eq(end >= words)
            m.d.sync += word.eq(Mux(end >= words, end - words, end))
        with m.Elif(self.drops):
            m.d.comb += window.take.eq(1)
            m.d.sync += word.eq(0)
