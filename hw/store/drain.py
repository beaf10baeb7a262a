"""The drain: it turns local rows into the words that leave for memory."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.drain import RowPasses
from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import delay, tapped_delay
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowRead
from celosia.hw.store.controller import StoreRead
from celosia.hw.vector.requantizer import OUTPUT_BITS, Requantizer, RequantizeRequest
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["BUFFER_WORDS", "Drain", "StoreWord"]

BUFFER_WORDS = 64
"""Words that are read ahead of the memory port: that many rows of int8."""

_CUT = ("last_in_row", "full", "int16")
"""What is known of a row that is being cut into words."""


class StoreWord(data.StructLayout):
    """``dim`` bytes of a row in memory, or what is left of it in its last word."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({"data": unsigned(8 * config.dim), "last": 1})


class Drain(Component):
    """Reads local rows, requantizes them, and keeps the results until the memory port takes them.

    A row is only asked for when there is room for it among the `BUFFER_WORDS` words that may be on
    their way, so that nothing behind a granted read ever waits.  Rows that leave as int8 are read
    one per cycle; after one that leaves as int16 or int32, the next is read only when all its words
    are through, one per cycle.  The first word of a row is on offer `LATENCY` cycles after its
    grant.

    Where norms are built, rows pass `BertLanes` first (`BertLanes.LATENCY` more), some of them
    one by one (`PassingControl`), and those of norm commands do not leave.

    Under ``halt`` no more rows are read; those that were granted still arrive.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and the sizes of the local memories.

    Members
    -------
    reads : ``In(stream.Signature(StoreRead(config)))``
        Rows to read; accepted in the cycle of the grant.
    scratchpad : ``Out(RowRead(row, ArrayLayout(unsigned(8), dim)))``
        Rows that leave as they are.
    accumulator : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Rows that are requantized, or leave as int32.
    parameters : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Biases.  Must grant every request.
    halt : ``In(1)``
        Read nothing any more.
    words : ``Out(stream.Signature(StoreWord(config)))``
        What leaves, in the order of ``reads``.
    silent_done : ``Out(1)``
        The rows of a store that writes nothing are done.
    """

    LATENCY = LOCAL_READ_LATENCY + Requantizer.LATENCY + 2

    reads: stream.Interface
    scratchpad: Any
    accumulator: Any
    parameters: Any
    halt: Annotated[Signal, In(1)]
    words: stream.Interface
    silent_done: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._passes = RowPasses(config)
        narrow = data.ArrayLayout(unsigned(8), config.dim)
        wide = data.ArrayLayout(signed(32), config.dim)
        super().__init__({
            "reads": In(stream.Signature(StoreRead(config))),
            "scratchpad": Out(RowRead(row_shape(config.scratchpad_rows), narrow)),
            "accumulator": Out(RowRead(row_shape(config.accumulator_rows), wide)),
            "parameters": Out(RowRead(row_shape(config.parameter_rows), wide)),
            "words": Out(stream.Signature(StoreWord(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        granted, scale = self._request(m)
        # Bit k: granted k cycles ago.  What is granted goes through at this pace, without a stop.
        depth = LOCAL_READ_LATENCY + self._passes.latency + Requantizer.LATENCY
        granted = tapped_delay(m, granted, depth, name="granted")
        row = self._requantize(m, granted[: LOCAL_READ_LATENCY + 1], scale)
        read = self.reads.p
        cut = Cat(read.last_in_row, read.full, read.int16, read.words_minus_1)
        cut = delay(m, cut, depth - 1, name="cut")
        narrow = Cat(element[:OUTPUT_BITS] for element in row.narrow)
        leaving = self._passes.leave(m, read, narrow, granted[-1], depth)
        self._cut(m, granted[-1], cut, row, leaving)
        return m

    def _request(self, m: Module) -> tuple[Value, Value]:
        """Ask for the row on offer once there is room for its words.

        Returns the grant, and the scale of the row.
        """
        read = self.reads.p
        room = Signal(range(BUFFER_WORDS + 1), init=BUFFER_WORDS)  # For words not asked for yet.
        gap = Signal.like(read.words_minus_1)  # Cycles until the next row may follow the last one.
        fits = (gap == 0) & (room > read.words_minus_1)
        granted = self.reads.ready
        free, scale = self._passes.ask(m, self.reads, granted)
        wanted = self.reads.valid & fits & free & ~self.halt
        from_scratchpad = read.space == Space.SCRATCHPAD
        m.d.comb += [
            self.scratchpad.valid.eq(wanted & from_scratchpad),
            self.scratchpad.row.eq(read.row),
            self.accumulator.valid.eq(wanted & ~from_scratchpad),
            self.accumulator.row.eq(read.row),
            # Asked for until the accumulator grants: a bias that is read in vain does no harm.
            self.parameters.valid.eq(self.accumulator.valid & read.bias),
            self.parameters.row.eq(read.bias_row),
            granted.eq(
                (self.scratchpad.valid & self.scratchpad.ready)
                | (self.accumulator.valid & self.accumulator.ready)
            ),
        ]
        m.d.comb += self.silent_done.eq(self._passes.silent_done)
        taken = Mux(granted, self._passes.words(read, read.words_minus_1 + 1), 0)
        m.d.sync += room.eq(room - taken + (self.words.valid & self.words.ready))
        with m.If(granted):
            m.d.sync += gap.eq(read.words_minus_1)
        with m.Elif(gap != 0):
            m.d.sync += gap.eq(gap - 1)
        return granted, scale

    def _requantize(self, m: Module, granted: Value, scale: Value) -> Requantizer:
        """Requantize a row when its memory delivers it."""
        m.submodules.requantizer = requantizer = Requantizer(self.config)
        read, layout = self.reads.p, RequantizeRequest()
        request = Signal(layout)
        as_it_is = read.space == Space.SCRATCHPAD
        m.d.comb += [
            request.as_it_is.eq(as_it_is),
            request.raw.eq(read.full),
            request.int16.eq(read.int16),
            request.biased.eq(read.bias & ~as_it_is),
            request.relu.eq(read.relu),
            request.scale.eq(scale),
        ]
        for stage in range(LOCAL_READ_LATENCY):
            register = Signal(layout, name=f"request_{stage + 1}", reset_less=True)
            with m.If(granted[stage]):
                m.d.sync += register.eq(request)
            request = register
        entry = self._passes.enter(m, requantizer)
        m.d.comb += [
            entry.request.eq(request),
            entry.request.valid.eq(granted[-1]),
            entry.bytes.eq(self.scratchpad.data),
            entry.row.eq(self.accumulator.data),
            entry.bias.eq(self.parameters.data),
        ]
        return requantizer

    def _cut(
        self,
        m: Module,
        next_arrives: Value,
        cut: Value,
        result: Requantizer,
        leaving: tuple[Value, Value],
    ) -> None:
        """Cut a row that arrives in the next cycle, and then stands, into words for the buffer.

        `leaving`: it as int8, and whether it leaves at all.
        """
        narrow, leaves = leaving
        last_in_row, full, int16 = (Signal(name=name, reset_less=True) for name in _CUT)
        words_left = Signal(range(ACC_BYTES + 1))  # Of the row that stands.
        index = Signal(range(ACC_BYTES), reset_less=True)  # Of the next one.
        with m.If(words_left != 0):
            m.d.sync += [words_left.eq(words_left - 1), index.eq(index + 1)]
        with m.If(next_arrives):
            m.d.sync += [
                Cat(last_in_row, full, int16).eq(cut),
                words_left.eq(cut[len(_CUT) :] + 1),
                index.eq(0),
            ]
            with m.If(~leaves):
                m.d.sync += words_left.eq(0)

        # The fifo's output register makes it one word deeper than the memory in it.
        word = StoreWord(self.config)
        m.submodules.buffer = fifo = SyncFIFOBuffered(width=word.size, depth=BUFFER_WORDS + 1)
        entry = word(fifo.w_data)
        m.d.comb += [
            fifo.w_en.eq(words_left != 0),
            entry.last.eq(last_in_row & (words_left == 1)),
            self.words.valid.eq(fifo.r_rdy),
            self.words.payload.eq(fifo.r_data),
            fifo.r_en.eq(self.words.ready),
        ]
        with m.If(fifo.w_en & ~full & ~int16):
            m.d.comb += entry.data.eq(narrow)
        with m.Elif(fifo.w_en), m.Switch(index):
            for part in range(ACC_BYTES):
                with m.Case(part):
                    word = Cat(result.wide).word_select(part, len(entry.data))
                    if self.config.stores_int16 and part < 2:
                        half = Cat(result.narrow).word_select(part, len(entry.data))
                        word = Mux(int16, half, word)
                    m.d.comb += entry.data.eq(word)
        m.d.sync += [
            Assert(~fifo.w_en | fifo.w_rdy, "a word without room"),
            Assert(~next_arrives | (words_left <= 1), "a row while another is being cut"),
        ]
