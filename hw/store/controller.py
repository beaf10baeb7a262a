"""Execution of MVOUT: one operation becomes the local rows that it reads."""

from amaranth import Module, Mux, Signal, Value
from amaranth.hdl import Assert
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out

from celosia.hw.decode.ops import Space, StoreOp
from celosia.hw.gemmini.fields import kept_fields, read_fields
from celosia.hw.gemmini.stores import count_elements
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["StoreController", "StoreRead", "element_bytes", "store_ports"]


def element_bytes(op: data.View) -> Value:
    """The bytes that a `StoreOp` writes per element."""
    full = op.full & (op.space == Space.ACCUMULATOR)
    return Mux(full, ACC_BYTES, Mux(op.int16, 2, 1))


class StoreRead(data.StructLayout):
    """A local row to read, and what becomes of it on its way to memory.

    It leaves as *words* of ``dim`` bytes: one if its elements leave as int8, up to two as int16, up
    to four as int32.
    """

    def __init__(self, config: AcceleratorConfig):
        op = StoreOp(config).members
        super().__init__({
            "space": Space,
            "row": op["row"],
            "bias": 1,
            "bias_row": op["bias_row"],
            "full": 1,  # Leaves as int32.
            "int16": 1,  # Leaves as int16.
            "relu": 1,
            "scale": op["scale"],
            "words_minus_1": range(ACC_BYTES),
            "last_in_row": 1,  # The last block of a row in memory.
            "last": 1,  # Of its operation.
            **read_fields(config),
        })


def store_ports(config: AcceleratorConfig) -> dict[str, Member]:
    """The ports of a component that walks operations of the queue of stores."""
    return {
        "op": In(stream.Signature(StoreOp(config))),
        "reads": Out(stream.Signature(StoreRead(config))),
    }


class StoreController(wiring.Component):
    """Walks the blocks of each row of a store.

    Takes an operation (of at least one row and one column), then emits its local rows, one per
    cycle while ``reads`` accepts: all blocks of row 0, then those of row 1, and so on.  The first
    one is on offer in the cycle after the operation was taken, and the next operation is taken in
    the cycle in which the last one is accepted, so that nothing is lost between operations.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and the sizes of the local memories.

    Members
    -------
    op : ``In(stream.Signature(StoreOp(config)))``
        Operations whose hazards have been resolved.
    reads : ``Out(stream.Signature(StoreRead(config)))``
        Local rows, in the order in which they stand in memory.
    """

    op: stream.Interface
    reads: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__(store_ports(config))

    def elaborate(self, platform) -> Module:
        m = Module()
        op, read = self.op.p, self.reads.p
        blocks_minus_1 = ((op.cols - 1) >> _log2(self.config.dim))[: _log2(self.config.max_blocks)]

        size = element_bytes(op)
        active = Signal()
        # What stays the same while an operation is walked.
        passed_on = ("space", "bias", "int16", "relu", "scale", *kept_fields(self.config))
        constant = {
            name: Signal(op.shape()[name].shape, name=name, reset_less=True)
            for name in (*passed_on, "block_stride", "bias_row")
        }
        full = Signal(reset_less=True)
        blocks = Signal.like(blocks_minus_1, reset_less=True)  # In a row, less one.
        # Of a block, and of a last one, less one.
        whole_words, last_words = (
            Signal.like(read.words_minus_1, name=name, reset_less=True)
            for name in ("whole_words", "last_words")
        )
        # What is on offer.
        rows_left = Signal.like(op.rows, reset_less=True)  # After this one.
        blocks_left = Signal.like(blocks, reset_less=True)  # After this one, in its row.
        first_row = Signal.like(op.row, reset_less=True)  # The local row of block 0.
        row = Signal.like(op.row, reset_less=True)
        bias_row = Signal.like(op.bias_row, reset_less=True)

        last_in_row = blocks_left == 0
        m.d.comb += [
            self.reads.valid.eq(active),
            self.op.ready.eq(~active | (self.reads.ready & read.last)),
            read.row.eq(row),
            read.bias_row.eq(bias_row),
            read.full.eq(full),
            read.words_minus_1.eq(Mux(last_in_row, last_words, whole_words)),
            read.last_in_row.eq(last_in_row),
            read.last.eq(last_in_row & (rows_left == 0)),
        ]
        m.d.comb += [read[name].eq(constant[name]) for name in passed_on]
        taken = self.op.ready & self.op.valid
        count_elements(m, self.config, op, read, taken=taken, last_in_row=last_in_row)

        with m.If(self.op.ready):
            m.d.sync += active.eq(self.op.valid)
        with m.If(taken):
            m.d.sync += [register.eq(op[name]) for name, register in constant.items()]
            m.d.sync += [
                Assert((op.rows != 0) & (op.cols != 0), "a store of nothing"),
                full.eq(size == ACC_BYTES),
                blocks.eq(blocks_minus_1),
                whole_words.eq(size - 1),
                last_words.eq(self._words_minus_1(op.cols, size)),
                rows_left.eq(op.rows - 1),
                blocks_left.eq(blocks_minus_1),
                first_row.eq(op.row),
                row.eq(op.row),
                bias_row.eq(op.bias_row),
            ]
        with m.Elif(self.reads.ready & last_in_row):
            m.d.sync += [
                rows_left.eq(rows_left - 1),
                blocks_left.eq(blocks),
                first_row.eq(first_row + 1),
                row.eq(first_row + 1),
                bias_row.eq(constant["bias_row"]),
            ]
        with m.Elif(self.reads.ready):
            m.d.sync += [
                blocks_left.eq(blocks_left - 1),
                row.eq(row + constant["block_stride"]),
                bias_row.eq(bias_row + 1),
            ]
        return m

    def _words_minus_1(self, cols: Value, size: Value) -> Value:
        """Words of the last block of a row of `cols` elements of `size` bytes, less one."""
        within = (cols - 1)[: _log2(self.config.dim)]  # The last column, counted in its block.
        shift = Mux(size == ACC_BYTES, 2, size == 2)
        return ((within << shift) + size - 1) >> _log2(self.config.dim)


def _log2(power: int) -> int:
    return power.bit_length() - 1
