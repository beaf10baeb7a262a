"""When TRANSFORMs are over: what the scratchpad still has to take."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.transform.writer import BUFFER_WORDS
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["Endings"]

PORTS = 2
"""Ports for results: one for first and one for second results."""
COUNT_BITS = (2 * BUFFER_WORDS).bit_length()
"""Width of counters of words, in bits.  They wrap: those that are compared are at most
`BUFFER_WORDS` apart."""


class Endings(Component):
    """Counts the words of results from their promise until the scratchpad takes them.

    An operation is over when all words are taken that were promised up to its last step.  They end
    in order, at most one in a cycle: ``done`` is high in the cycle after its last word was taken.
    An operation without results has its `done` three cycles after its last step, or one after that
    of the operation before it.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``transform_queue``, the most operations between last step and end.

    Members
    -------
    accepted : ``In(1)``
        A step goes on its way: its words are promised.
    last : ``In(1)``
        It is its operation's last.
    words : ``In(ArrayLayout(range(5), 2))``
        Words of its results.
    coming : ``In(ArrayLayout(range(5), 2))``
        Words of results of the step behind it.
    moves : ``In(1)``
        That one is on offer in the next cycle; else the same still is, if there is one.
    taken : ``In(ArrayLayout(1, 2))``
        A word is taken.
    fits : ``Out(1)``
        There is room for `words`, found out in the cycle before, and for an operation to end.
    done : ``Out(1)``
        An operation is over.
    idle : ``Out(1)``
        All operations are.
    """

    accepted: Annotated[Signal, In(1)]
    last: Annotated[Signal, In(1)]
    words: data.View
    coming: data.View
    moves: Annotated[Signal, In(1)]
    taken: Annotated[data.View, In(data.ArrayLayout(1, PORTS))]
    fits: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    idle: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        words = data.ArrayLayout(range(ACC_BYTES + 1), PORTS)
        super().__init__({
            "words": In(words),
            "coming": In(words),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        # What was promised when an operation took its last step.
        marks = data.ArrayLayout(unsigned(COUNT_BITS), PORTS)
        m.submodules.marks = fifo = SyncFIFOBuffered(
            width=marks.size, depth=self.config.transform_queue
        )
        fits, reached, now = [], [], []
        for port in range(PORTS):
            promised = Signal(COUNT_BITS, name=f"promised_{port}")
            gone = Signal(COUNT_BITS, name=f"gone_{port}")
            total = Signal(COUNT_BITS, name=f"total_{port}")
            waiting = Signal(range(BUFFER_WORDS + 1), name=f"waiting_{port}")  # What is not gone.
            added = Mux(self.accepted, self.words[port], 0)
            m.d.sync += waiting.eq(waiting + added - self.taken[port])
            m.d.comb += total.eq(promised + self.words[port])
            with m.If(self.accepted):
                m.d.sync += promised.eq(total)
            with m.If(self.taken[port]):
                m.d.sync += gone.eq(gone + 1)
            mark = marks(fifo.r_data)[port]
            now.append(total)
            # Whether a step is accepted, and a word taken, is known last: comparisons come before.
            # Bit w is for w - 1 words, or for w behind one that leaves.
            fitting = range(-1, ACC_BYTES + 1)
            before, after = (
                Cat(held <= BUFFER_WORDS - words for words in fitting)
                for held in (waiting, waiting + self.words[port])
            )
            room = Mux(self.accepted, after, before)
            room = Mux(self.taken[port], room[:-1], room[1:])
            kept, coming = (room.bit_select(words[port], 1) for words in (self.words, self.coming))
            fits.append(Mux(self.moves, coming, kept))
            reached.append(~(gone + self.taken[port] - mark)[COUNT_BITS - 1])
        over = fifo.r_rdy & Cat(reached).all()
        room = Signal()
        m.d.sync += room.eq(Cat(fits).all())
        m.d.comb += [
            self.fits.eq(room & (fifo.w_rdy | ~self.last)),
            fifo.w_en.eq(self.accepted & self.last),
            fifo.w_data.eq(Cat(now)),
            fifo.r_en.eq(over),
            self.idle.eq(fifo.r_level == 0),
        ]
        m.d.sync += self.done.eq(over)
        return m
