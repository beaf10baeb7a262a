"""Stores of windows and of norms: what the store path asks about its operations."""

from collections.abc import Callable

from amaranth import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import Component

from celosia.hw.gemmini.fields import pixel_fields
from celosia.hw.gemmini.windows import PoolingController
from celosia.hw.lib.fields import field_signals
from celosia.isa.bert import NormCommand
from celosia.isa.config import AcceleratorConfig

__all__ = [
    "PixelLines",
    "SilentStores",
    "count_elements",
    "describe_pixels",
    "row_leaves",
    "walk_windows",
]


def walk_windows(config: AcceleratorConfig, rows: Component) -> Component:
    """The walker `rows` of a store's rows, together with one of windows where there are any."""
    return PoolingController(config, rows) if config.convolution else rows


def count_elements(
    m: Module, config: AcceleratorConfig, op, read, *, taken: Value, last_in_row: Value
) -> None:
    """Say how many elements of each block count: norms want to know."""
    if not config.bert:
        return
    last_elements = Signal.like(read.elements, reset_less=True)  # Of a last block.
    with m.If(taken):
        m.d.sync += last_elements.eq((op.cols - 1)[: config.dim.bit_length() - 1] + 1)
    m.d.comb += read.elements.eq(Mux(last_in_row, last_elements, config.dim))


def describe_pixels(m: Module, config: AcceleratorConfig, rows, op) -> None:
    """Say of `rows` in memory that they are the pixels which leave the windows of `op`."""
    if not config.convolution:
        return
    m.d.comb += [
        rows.pools.eq(op.pools),
        rows.cols.eq(op.pooling.cols),
        rows.row_stride.eq(op.row_stride),
    ]
    with m.If(op.pools):
        m.d.comb += rows.rows.eq(op.pooling.rows * op.pooling.cols)


def _silent(op) -> Value:
    """Whether an operation, or its row, is not written to memory."""
    return op.passing.passes & (op.passing.command != NormCommand.RESET)


def row_leaves(config: AcceleratorConfig, row) -> Value:
    """Whether a local row is written to memory."""
    return ~_silent(row) if config.bert else Const(1)


class SilentStores:
    """Stores that write nothing to memory: they have no response to wait for, and run alone."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config

    def admit(
        self, m: Module, op: stream.Interface, stores: Value, done: Value
    ) -> tuple[Value, Value]:
        """Whether the store on offer may be taken beside `stores`, and whether it writes memory.

        `done`: the silent one has ended.
        """
        if not self.config.bert:
            return Const(1), Const(1)
        silent, alone = _silent(op.p), Signal()
        with m.If(op.valid & op.ready & silent):
            m.d.sync += alone.eq(1)
        with m.Elif(done):
            m.d.sync += alone.eq(0)
        return ~alone & (~silent | (stores == 0)), ~silent


class PixelLines:
    """Lines of pixels: the stride from one line to the next is not that of pixels."""

    def __init__(self, config: AcceleratorConfig, address_bits: int):
        self.config = config
        layout = {
            "pools": 1,
            "address": unsigned(address_bits),
            "stride": pixel_fields(config).get("row_stride", unsigned(0)),
            "cols": unsigned(8),  # Pixels, less one.
            "left": unsigned(8),  # Pixels after this one.
        }
        self._line = field_signals(data.StructLayout(layout), "line")

    def begin(self, m: Module, rows) -> None:
        """Take up the first line of `rows`."""
        if not self.config.convolution:
            return
        line = self._line
        m.d.sync += [
            line.pools.eq(rows.pools),
            line.address.eq(rows.address),
            line.stride.eq(rows.row_stride),
            line.cols.eq(rows.cols - 1),
            line.left.eq(rows.cols - 1),
        ]

    def advance(self, m: Module, address: Signal, add: Callable[[Value, Value], Value]) -> None:
        """Count a pixel; after the last one of a line, set `address` to the next line."""
        if not self.config.convolution:
            return
        line = self._line
        with m.If(line.pools):
            m.d.sync += line.left.eq(line.left - 1)
            with m.If(line.left == 0):
                start = add(line.address, line.stride)
                m.d.sync += [
                    address.eq(start),
                    line.address.eq(start),
                    line.left.eq(line.cols),
                ]
