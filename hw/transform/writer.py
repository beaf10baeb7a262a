"""Results of TRANSFORM on their way into the scratchpad."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.early_queue import EarlyQueue
from celosia.hw.memory.ports import ScratchpadWrite
from celosia.hw.transform.controller import Placement
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["BUFFER_WORDS", "Placer", "words_minus_1"]

BUFFER_WORDS = 64
"""Rows that may wait for the scratchpad, or be on their way through the lanes."""


def words_minus_1(config: AcceleratorConfig, place: data.View) -> Value:
    """Local rows that a result takes, less one."""
    shift = Mux(place.kind == ElementType.INT16, 1, Mux(place.kind == ElementType.INT32, 2, 0))
    return (((place.elements << shift) - 1) >> (config.dim - 1).bit_length())[:2]


class _Word(data.StructLayout):
    """A `ScratchpadWrite` that waits, its row in two parts."""

    def __init__(self, config: AcceleratorConfig):
        written = ScratchpadWrite(config).members
        super().__init__({
            "data": written["data"],
            "place": unsigned((config.scratchpad_bank_rows - 1).bit_length()),  # In its bank.
            "bank": unsigned((config.scratchpad_banks - 1).bit_length()),
            "mask": written["mask"],
        })


class Placer(Component):
    """Cuts results into local rows, and keeps them until the scratchpad takes them.

    A result comes with its place, then stands; its first word is cut in that cycle, each further
    one in the next.  A word is on offer two cycles after it was cut; its bank comes from a
    register, since who gets a bank is decided by it.  The user keeps no more than `BUFFER_WORDS`
    words on their way, and results as far apart as they have words.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and the rows of the scratchpad.
    half : int
        The half of the lanes in which the result begins, 0 or 1.

    Members
    -------
    valid : ``In(1)``
        A result is there from this cycle on.
    place : ``In(Placement(config))``
        Where it goes.
    elements : ``In(signed(32)).array(dim)``
        The result.
    words : ``Out(stream.Signature(ScratchpadWrite(config)))``
        Rows for the scratchpad.
    """

    valid: Annotated[Signal, In(1)]
    place: data.View
    elements: list[Signal]
    words: stream.Interface

    def __init__(self, config: AcceleratorConfig, *, half: int = 0):
        self.config = config
        self.half = half
        super().__init__({
            "place": In(Placement(config)),
            "elements": In(signed(8 * ACC_BYTES)).array(config.dim),
            "words": Out(stream.Signature(ScratchpadWrite(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        # What is on offer is not in the memory: the buffer is one word deeper than that.
        fifo = EarlyQueue(_Word(self.config), ("bank",), BUFFER_WORDS + 1)
        m.submodules.buffer = fifo
        word, entry = fifo.o.p, Signal(ScratchpadWrite(self.config))
        m.d.comb += [
            self.words.valid.eq(fifo.o.valid),
            self.words.p.data.eq(word.data),
            self.words.p.row.eq(Cat(word.place, word.bank)),
            self.words.p.mask.eq(word.mask),
            fifo.o.ready.eq(self.words.ready),
            fifo.i.p.data.eq(entry.data),
            Cat(fifo.i.p.place, fifo.i.p.bank).eq(entry.row),
            fifo.i.p.mask.eq(entry.mask),
        ]
        # The result that is being cut, after its first cycle.
        kept = Signal(Placement(self.config), reset_less=True)
        left = Signal(2)  # Words after this one.
        index = Signal(2, reset_less=True)
        with m.If(self.valid):
            m.d.sync += [
                Assert(left == 0, "a result while another is being cut"),
                kept.eq(self.place),
                kept.row.eq(self.place.row + self.place.stride),
                left.eq(words_minus_1(self.config, self.place)),
                index.eq(1),
            ]
            m.d.comb += [
                fifo.i.valid.eq(1),
                entry.row.eq(self.place.row),
                entry.mask.eq(self._mask(self.place, 0)),
                entry.data.as_value().eq(self._bytes(self.place)[0]),
            ]
        with m.Elif(left != 0):
            m.d.sync += [
                left.eq(left - 1),
                kept.row.eq(kept.row + kept.stride),
                index.eq(index + 1),
            ]
            m.d.comb += [fifo.i.valid.eq(1), entry.row.eq(kept.row)]
            with m.Switch(index):
                for number, word in enumerate(self._bytes(kept)[1:], start=1):
                    with m.Case(number):
                        m.d.comb += [
                            entry.mask.eq(self._mask(kept, number)),
                            entry.data.as_value().eq(word),
                        ]
        m.d.sync += Assert(~fifo.i.valid | fifo.i.ready, "a word without room")
        return m

    def _bytes(self, place: data.View) -> list[Value]:
        """The words of a result as `place` wants it."""
        dim = self.config.dim
        lanes = self.elements[self.half * dim // 2 :]
        # A half row of bytes is put into both halves; the mask chooses.
        narrow = Cat(lane[:8] for lane in lanes[: dim // 2])
        upper = narrow if self.half else Cat(lane[:8] for lane in self.elements[dim // 2 :])
        bytes_ = Cat(narrow, Mux(place.upper, narrow, upper))
        halves = Cat(lane[:16] for lane in lanes)
        whole = Cat(self.elements)
        words = []
        for number in range(ACC_BYTES):
            word: Value = whole.word_select(number, 8 * dim)
            if number < len(halves) // (8 * dim):
                part = halves.word_select(number, 8 * dim)
                word = Mux(place.kind == ElementType.INT16, part, word)
            if number == 0:
                narrow_kind = (place.kind == ElementType.INT8) | (place.kind == ElementType.UINT8)
                word = Mux(narrow_kind, bytes_, word)
            words.append(word)
        return words

    def _mask(self, place: data.View, number: int) -> Value:
        """Bytes of word `number` that the result has."""
        dim = self.config.dim
        shift = Mux(place.kind == ElementType.INT16, 1, Mux(place.kind == ElementType.INT32, 2, 0))
        size = place.elements << shift
        mask = Cat(size > number * dim + byte for byte in range(dim))
        return (mask << Mux(place.upper, dim // 2, 0))[:dim]
