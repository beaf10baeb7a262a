"""Words of one local row, to chunks of one bus beat."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.store.drain import StoreWord
from celosia.isa.config import AcceleratorConfig

__all__ = ["Gear"]


class Gear(Component):
    """Cuts or joins words so that each chunk has as many bytes as a bus beat.

    The words of a row in memory become chunks from its first byte on; the last one may hold less.
    The next row starts with a new word and a new chunk.  A chunk is on offer in the cycle in which
    the word that completes it is, and while words are wider than chunks, or as wide, one chunk
    leaves per cycle; else one word is taken per cycle.

    Members
    -------
    words : ``In(stream.Signature(StoreWord(config)))``
        Words, of which the last one of each row is marked.
    finish : ``In(1)``
        The row ends with this cycle: its last chunk was accepted before, or is accepted now.
    chunks : ``Out(stream.Signature(unsigned(bus_bits)))``
        The same bytes, row by row.
    """

    words: stream.Interface
    finish: Annotated[Signal, In(1)]
    chunks: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "words": In(stream.Signature(StoreWord(config))),
            "chunks": Out(stream.Signature(unsigned(config.bus_bits))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        if self.config.dim > self.config.bus_bytes:
            self._cut(m)
        else:
            self._join(m)
        return m

    def _cut(self, m: Module) -> None:
        """Hand a word out in parts.  What a row leaves of its last word is dropped."""
        parts = self.config.dim // self.config.bus_bytes
        part = Signal(range(parts))  # Parts of the word on offer that are gone.
        accepted = self.chunks.valid & self.chunks.ready
        m.d.comb += [
            self.chunks.valid.eq(self.words.valid),
            self.chunks.p.eq(self.words.p.data.word_select(part, self.config.bus_bits)),
            self.words.ready.eq(
                Mux(self.finish, self.chunks.ready | (part != 0), self.chunks.ready & part.all())
            ),
        ]
        with m.If(self.finish):
            m.d.sync += part.eq(0)
        with m.Elif(accepted):
            m.d.sync += part.eq(part + 1)

    def _join(self, m: Module) -> None:
        """Keep words until the one that completes the chunk is on offer."""
        slots = self.config.bus_bytes // self.config.dim
        slot = Signal(range(slots))  # Of the word on offer.
        word = self.words.p
        kept = []
        for index in range(slots - 1):
            register = Signal(word.data.shape(), name=f"slot_{index}", reset_less=True)
            with m.If(self.words.valid & (slot == index)):
                m.d.sync += register.eq(word.data)
            kept.append(Mux(slot == index, word.data, register))
        completes = word.last | (slot == slots - 1)
        m.d.comb += [
            self.chunks.valid.eq(self.words.valid & completes),
            self.chunks.p.eq(Cat(*kept, word.data)),
            self.words.ready.eq(self.chunks.ready | ~completes),
        ]
        with m.If(self.words.valid & self.words.ready):
            m.d.sync += slot.eq(Mux(completes, 0, slot + 1))
