"""Execution of loads: an operation becomes one segment of memory per row."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bursts import max_segment_bytes
from celosia.hw.decode.ops import DRAM_ADDRESS_BITS, TAG_BITS, LoadOp, Space, local_row_bits
from celosia.hw.gemmini.fields import copy_fields
from celosia.hw.lib.wide import wide_sum
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["LoadContext", "LoadController", "LoadSegment"]


class LoadContext(data.StructLayout):
    """What all segments of a load have in common."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "space": Space,
            "block_stride": unsigned(16),
            "words": 1,  # Elements in memory are int32, not int8.
            "accumulate": 1,
            "scale": unsigned(32),
            "tag": unsigned(TAG_BITS),
            **copy_fields(config),
        })


class LoadSegment(data.StructLayout):
    """Consecutive bytes in memory, and the local row that the first of them goes to.

    Each `dim` elements fill a row; the next `dim` follow `block_stride` rows further.
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "bytes": range(max_segment_bytes(config) + 1),
            "row": unsigned(local_row_bits(config)),
            "zero": 1,  # Write zeros, read nothing.
            "last": 1,  # Of its load.
        })


class LoadController(wiring.Component):
    """Walks the rows of loads.

    Takes an operation, passes its context on in the same cycle, and emits its segments in order,
    from the next cycle on, one per cycle.  A row is one segment, except for the parameter memory,
    whose single row of any length is cut into segments of `max_segment_bytes`.  The next operation
    is taken together with the last segment, so that operations follow one another without a
    bubble: one of *n* segments occupies the controller for *n* cycles.

    An operation without rows or columns becomes one `zero` segment of no bytes, so that it can be
    reported as done in its turn.

    Members
    -------
    op : ``In(stream.Signature(LoadOp(config)))``
        Loads whose hazards have been resolved.
    context : ``Out(stream.Signature(LoadContext(config)))``
        One per operation, not later than its first segment.
    segments : ``Out(stream.Signature(LoadSegment(config)))``
        What to read, in order.
    """

    LATENCY = 1

    op: stream.Interface
    context: stream.Interface
    segments: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "op": In(stream.Signature(LoadOp(config))),
            "context": Out(stream.Signature(LoadContext(config))),
            "segments": Out(stream.Signature(LoadSegment(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        segment = self.segments.p
        step = max_segment_bytes(self.config)
        step_rows = step // self.config.accumulator_row_bytes

        valid = Signal()
        address = Signal.like(segment.address, reset_less=True)
        stride = Signal.like(address, reset_less=True)
        row = Signal.like(segment.row, reset_less=True)
        parameters = Signal(reset_less=True)  # Segments are parts of one long row.
        zero = Signal(reset_less=True)
        todo = Signal(unsigned(16), reset_less=True)  # Segments after the one on offer.
        last_bytes = Signal.like(segment.bytes, reset_less=True)  # Of the last segment.

        last = Signal()
        m.d.comb += [last.eq(todo == 0), self.segments.valid.eq(valid)]
        with m.If(valid):
            m.d.comb += [
                segment.address.eq(address),
                segment.bytes.eq(Mux(parameters & ~last, step, last_bytes)),
                segment.row.eq(row),
                segment.zero.eq(zero),
                segment.last.eq(last),
            ]

        free, taken = Signal(), Signal()
        m.d.comb += [
            free.eq(~valid | (self.segments.ready & last)),
            self.op.ready.eq(free & self.context.ready),
            self.context.valid.eq(free & self.op.valid),
            taken.eq(self.op.valid & self.op.ready),
        ]
        with m.If(free):
            m.d.sync += valid.eq(taken)
        op = self.op.p
        with m.If(taken):
            is_parameters, empty = Signal(), Signal()
            steps, rest = _parts(op.cols, step // ACC_BYTES)
            elements = Mux(is_parameters, rest, op.cols)
            m.d.comb += [
                is_parameters.eq(op.space == Space.PARAMETER),
                empty.eq((op.rows == 0) | (op.cols == 0)),
            ]
            m.d.sync += [
                address.eq(op.address),
                stride.eq(Mux(is_parameters, step, op.stride)),
                row.eq(op.row),
                parameters.eq(is_parameters),
                zero.eq(op.zero | empty),
                todo.eq(Mux(empty, 0, Mux(is_parameters, steps, op.rows - 1))),
                last_bytes.eq(Mux(empty, 0, elements << Mux(_words(op), 2, 0))),
            ]
        with m.Elif(valid & self.segments.ready):
            next_address = Signal.like(address)
            m.d.comb += next_address.eq(wide_sum(address, stride, bits=len(address)))
            m.d.sync += [
                address.eq(next_address),
                row.eq(row + Mux(parameters, step_rows, 1)),
                todo.eq(todo - 1),
            ]

        with m.If(self.op.valid):
            m.d.comb += [
                self.context.p.space.eq(op.space),
                self.context.p.block_stride.eq(op.block_stride),
                self.context.p.words.eq(_words(op)),
                self.context.p.accumulate.eq(op.accumulate),
                self.context.p.scale.eq(op.scale),
                self.context.p.tag.eq(op.tag),
            ]
            m.d.comb += [self.context.p[name].eq(op[name]) for name in copy_fields(self.config)]
        return m


def _words(op: data.View) -> Value:
    """Whether the elements of `op` in memory are int32."""
    return (op.space != Space.SCRATCHPAD) & ~((op.space == Space.ACCUMULATOR) & op.shrunk)


def _parts(count: Value, size: int) -> tuple[Value, Value]:
    """`count` as parts of `size` (a power of two): how many before the last, and the last one."""
    shift = size.bit_length() - 1
    index = count - 1
    return index >> shift, (index[:shift] + 1)
