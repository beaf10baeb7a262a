"""The execute path: products in, rows of results out."""

from typing import Annotated, Any

from amaranth import Module, Signal, signed, unsigned
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.decode.ops import ExecuteOp
from celosia.hw.execute.array import ArrayPath
from celosia.hw.execute.results import ResultWriter
from celosia.hw.execute.rows import RowStreamer
from celosia.hw.execute.weights import WeightLoader
from celosia.hw.lib.component import Component
from celosia.hw.memory.accumulator import ResultAddress
from celosia.hw.memory.ports import ScratchpadWrite, row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["ArrayState", "ExecutePath"]


class ArrayState(enum.Enum, shape=3):
    """What the array does in a cycle, as far as the execute path knows."""

    EMPTY = 0
    ROWS = 1
    PADDING = 2
    WEIGHTS = 3
    BANK = 4
    RESULTS = 5
    ISSUE = 6
    D = 7


class ExecutePath(Component):
    """Multiplies: weights one wave ahead, rows of A behind them, results into their memory.

    A product with n rows takes max(dim, n, 4) cycles, or max(dim/2, n, 4) if its weights come in
    pairs of lines, and none is lost between products whose
    operands are there: see `WeightLoader` and `RowStreamer` for what waits.  From a product's
    acceptance to its first row it takes 5 cycles (dim + 6 with a transposed operand); from a row's
    request to its result in memory, 2*dim + 2 cycles, and one more where products may be
    output-stationary.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies every size.

    Members
    -------
    op : ``In(stream.Signature(ExecuteOp(config)))``
        Products whose hazards are resolved, in order.
    weights : ``Out(RowRead(row, bytes))``
        Scratchpad, always granted.
    operands : ``Out(RowRead(row, bytes))``
        Scratchpad.
    scratchpad : ``Out(stream.Signature(ScratchpadWrite(config), always_ready=True))``
        Results for the scratchpad.
    address : ``Out(ResultAddress(config))``
        Accumulator row of the next cycle's elements.
    elements : ``Out(signed(32)).array(dim)``
        Results for the accumulator.
    reads_done : ``Out(1)``
        A product will read no more; in order.
    done : ``Out(1)``
        The results of a product are in their memory by the end of the next cycle; in order.
    state : ``Out(ArrayState)``
        What the array does in this cycle.
    idle : ``Out(1)``
        No product is held, and no result on its way.
    """

    op: stream.Interface
    weights: RowReadInterface
    operands: RowReadInterface
    scratchpad: stream.Interface
    address: data.View
    elements: list[Signal]
    reads_done: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    state: Annotated[Any, Out(ArrayState)]
    idle: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        row = row_shape(config.scratchpad_rows)
        read = RowRead(row, data.ArrayLayout(unsigned(8), config.dim))
        super().__init__({
            "op": In(stream.Signature(ExecuteOp(config))),
            "weights": Out(read),
            "operands": Out(read),
            "scratchpad": Out(stream.Signature(ScratchpadWrite(config), always_ready=True)),
            "address": Out(ResultAddress(config)),
            "elements": Out(signed(32)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        config = self.config
        m.submodules.array = array = ArrayPath(config)
        m.submodules.loader = loader = WeightLoader(config)
        m.submodules.streamer = streamer = RowStreamer(config)
        m.submodules.writer = writer = ResultWriter(config, array.latency)

        # Products: weights, then rows, then results.
        connect(m, flipped(self.op), loader.i)
        connect(m, loader.o, streamer.i)
        connect(m, streamer.results, writer.i)
        m.d.comb += [
            loader.swapped.eq(streamer.swapped),
            loader.transposer_taken.eq(streamer.transposer_taken),
            loader.hold.eq(writer.scratchpad_pending),
            streamer.wave.eq(loader.wave),
            streamer.transposer_ready.eq(loader.transposer_ready),
        ]

        # Rows: scratchpad, array, accumulator or scratchpad.
        connect(m, loader.read, flipped(self.weights))
        connect(m, streamer.read, flipped(self.operands))
        connect(m, writer.scratchpad, flipped(self.scratchpad))
        m.d.comb += [
            array.weight_control.eq(loader.control),
            array.row_control.eq(streamer.control),
            array.weights.eq(self.weights.data),
            array.operands.eq(self.operands.data),
            writer.entered.eq(streamer.control.valid),
            writer.d_valid.eq(array.d_valid),
            writer.d.eq(array.d),
            self.address.eq(writer.address),
            self.reads_done.eq(streamer.reads_done),
            self.done.eq(writer.done),
            self.idle.eq(loader.empty & streamer.empty & writer.empty),
        ]
        m.d.comb += [x.eq(y) for x, y in zip(writer.sums, array.sums, strict=True)]
        m.d.comb += [x.eq(y) for x, y in zip(self.elements, writer.elements, strict=True)]
        self._name_state(m, loader, streamer)
        return m

    def _name_state(self, m: Module, loader: WeightLoader, streamer: RowStreamer) -> None:
        with m.If(streamer.control.valid):
            m.d.comb += self.state.eq(ArrayState.ROWS)
            with m.If(streamer.padding):
                m.d.comb += self.state.eq(ArrayState.PADDING)
        with m.Elif(streamer.control.d_valid):
            m.d.comb += self.state.eq(ArrayState.D)
        with m.Elif(streamer.waits_bank):
            m.d.comb += self.state.eq(ArrayState.BANK)
        with m.Elif(loader.waiting):
            m.d.comb += self.state.eq(ArrayState.RESULTS)
        with m.Elif(streamer.waits_weights | loader.working):
            m.d.comb += self.state.eq(ArrayState.WEIGHTS)
        with m.Elif(~streamer.empty | ~loader.empty):
            m.d.comb += self.state.eq(ArrayState.ISSUE)
