"""The unpacker: it cuts pieces of local rows out of beats of the bus, at any alignment."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.window import BeatWindow, CheckedBeat
from celosia.hw.decode.ops import TAG_BITS, Space, local_row_bits
from celosia.hw.gemmini.fields import copy_fields
from celosia.hw.lib.component import Component
from celosia.hw.lib.fields import chunk_registers
from celosia.hw.load.controller import LoadContext
from celosia.hw.load.reader import Run
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import float_bits

__all__ = ["Piece", "PieceInfo", "Unpacker", "piece_bytes"]

ONE = float_bits(1.0)


def piece_bytes(config: AcceleratorConfig) -> tuple[int, int]:
    """Bytes in memory of a piece, int8 or int32: a beat, or a local row if that is less."""
    rows = config.dim, ACC_BYTES * config.dim
    narrow, wide = (min(config.bus_bytes, row) for row in rows)
    return narrow, wide


def pieces_per_row(config: AcceleratorConfig) -> tuple[int, int]:
    """Pieces that fill one local row, for int8 and for int32."""
    narrow, wide = piece_bytes(config)
    return config.dim // narrow, ACC_BYTES * config.dim // wide


class PieceInfo(data.StructLayout):
    """Where a piece belongs and what becomes of it."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "bytes": range(piece_bytes(config)[1] + 1),  # Useful ones, from the first on.
            "index": range(max(pieces_per_row(config))),  # In its local row.
            "row": unsigned(local_row_bits(config)),
            "space": Space,
            "accumulate": 1,
            "words": 1,  # int32, not int8.
            "scaled": 1,  # `Piece.scale` is to be applied.
            "row_last": 1,  # No more of this row follows: write it.
            "op_last": 1,  # Nor of this load.
            "zero": 1,  # `Piece.data` mean nothing, the bytes are 0.
            "fault": 1,  # An error in place of a piece: nothing follows.
            **copy_fields(config),
        })


class Piece(data.StructLayout):
    """A part of a local row, as it is in memory."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": unsigned(8 * piece_bytes(config)[1]),
            "scale": unsigned(32),
            "info": PieceInfo(config),
        })


class Unpacker(Component):
    """Cuts the bytes of runs out of beats, and says which local row they belong to.

    A piece is as many consecutive bytes as one beat and one local row can hold; it may straddle two
    beats.  Pieces come one per cycle as soon as their bytes have arrived, the first one two cycles
    after its (last) beat was accepted.  A run costs one cycle per piece, and one more if its last
    piece straddles: where rows are as long as a beat or longer, that is one cycle per beat.

    A bad beat becomes a piece that is a `fault`.  After it, or with `stop`, no piece is made any
    more, and beats are accepted and thrown away.  Only a reset ends this.

    Members
    -------
    contexts : ``In(stream.Signature(LoadContext(config)))``
        What the runs of a load have in common; one per load, not later than its first run.
    runs : ``In(stream.Signature(Run(config)))``
        What the beats hold.
    beats : ``In(stream.Signature(CheckedBeat(config)))``
        The beats.
    stop : ``In(1)``
        Make no more pieces.
    pieces : ``Out(stream.Signature(Piece(config)))``
        Parts of local rows, in order.
    tag : ``Out(unsigned(TAG_BITS))``
        Tag of the load whose piece is made next; after a fault, of the load that failed.
    """

    LATENCY = 2

    contexts: stream.Interface
    runs: stream.Interface
    beats: stream.Interface
    stop: Annotated[Signal, In(1)]
    pieces: stream.Interface
    tag: Annotated[Signal, Out(unsigned(TAG_BITS))]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "contexts": In(stream.Signature(LoadContext(config))),
            "runs": In(stream.Signature(Run(config))),
            "beats": In(stream.Signature(CheckedBeat(config))),
            "pieces": Out(stream.Signature(Piece(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.window = window = BeatWindow(self.config)
        wiring.connect(m, wiring.flipped(self.beats), window.beats)
        bus_bytes = self.config.bus_bytes
        narrow, wide = piece_bytes(self.config)

        active = Signal()  # There is a run; the registers below describe it.
        offset = Signal(range(bus_bytes), reset_less=True)  # Of the next piece in the oldest beat.
        left = Signal.like(self.runs.p.bytes, reset_less=True)  # Bytes from there on.
        zero = Signal(reset_less=True)
        words = Signal(reset_less=True)
        used = Signal()  # What the oldest beat had to give went into the last piece.
        dead = Signal()  # There was a fault.

        size, count = Signal(range(wide + 1)), Signal(range(wide + 1))
        ends_run, straddles = Signal(), Signal()
        with m.If(active):
            m.d.comb += [
                size.eq(Mux(words, wide, narrow)),
                ends_run.eq(left <= size),
                count.eq(Mux(ends_run, left, size)),
                straddles.eq((offset + count) > bus_bytes),
            ]
        enough = window.second_valid | window.head.bad | ~straddles
        there = zero | (window.head_valid & enough & ~used)
        bad = ~zero & (window.head.bad | (window.second.bad & straddles))
        finished = ends_run | ((offset + size) >= bus_bytes)  # With the oldest beat.

        stop = dead | self.stop
        make, load = Signal(), Signal()
        m.d.comb += [
            make.eq(active & there & (self.pieces.ready | ~self.pieces.valid) & ~stop),
            load.eq(self.runs.valid & self.contexts.valid & (~active | (make & ends_run)) & ~stop),
            window.take.eq(window.head_valid & (stop | used | (make & ~zero & finished))),
            self.runs.ready.eq(load),
            self.contexts.ready.eq(load & self.runs.p.op_last),
        ]
        m.d.sync += used.eq(make & ~zero & ends_run & straddles)
        with m.If(make):
            m.d.sync += [
                dead.eq(bad),
                active.eq(~ends_run),
                offset.eq(offset + size),
                left.eq(left - size),
            ]
        with m.If(load):
            m.d.sync += [
                active.eq(1),
                offset.eq(self.runs.p.offset),
                left.eq(self.runs.p.bytes),
                zero.eq(self.runs.p.zero),
                words.eq(self.contexts.p.words),
                self.tag.eq(self.contexts.p.tag),
            ]

        info, scale = self._place(m, make, load, words, ends_run)
        with m.If(make):
            m.d.comb += [
                info.bytes.eq(count),
                info.words.eq(words),
                info.zero.eq(zero),
                info.fault.eq(bad),
            ]
        beats = Cat(window.head.data, window.second.data)
        self._emit(m, make, info, scale, (beats >> (offset << 3))[: 8 * wide])
        return m

    def _place(
        self, m: Module, make: Value, load: Value, words: Value, ends_run: Value
    ) -> tuple[data.View, Signal]:
        """Follow the local rows: the place of the next piece, and its scale."""
        run, context = self.runs.p, self.contexts.p
        info = Signal(PieceInfo(self.config), name="next")
        scale = Signal(32, reset_less=True)
        block_stride = Signal.like(context.block_stride, reset_less=True)
        index = Signal.like(info.index, reset_less=True)
        row = Signal.like(info.row, reset_less=True)
        run_last, op_last = Signal(reset_less=True), Signal(reset_less=True)
        space = Signal(Space, reset_less=True)
        accumulate, scaled = Signal(reset_less=True), Signal(reset_less=True)

        narrow, wide = pieces_per_row(self.config)
        last_index = Mux(words, wide - 1, narrow - 1)
        row_last = Signal()
        with m.If(make):
            m.d.comb += [
                row_last.eq((index == last_index) | (ends_run & run_last)),
                info.index.eq(index),
                info.row.eq(row),
                info.space.eq(space),
                info.accumulate.eq(accumulate),
                info.scaled.eq(scaled),
                info.row_last.eq(row_last),
                info.op_last.eq(ends_run & op_last),
            ]
            m.d.sync += index.eq(Mux(row_last, 0, index + 1))
            with m.If(row_last):
                m.d.sync += row.eq(row + block_stride)
        with m.If(load):
            m.d.sync += [
                run_last.eq(run.last),
                op_last.eq(run.op_last),
                space.eq(context.space),
                block_stride.eq(context.block_stride),
                accumulate.eq(context.accumulate),
                scaled.eq(~context.words & ~run.zero & (context.scale != ONE)),
                scale.eq(context.scale),
            ]
            with m.If(run.first):
                m.d.sync += [row.eq(run.row), index.eq(0)]
        self._copy(m, make, load, info)
        return info, scale

    def _copy(self, m: Module, make: Value, load: Value, info: data.View) -> None:
        """Keep what a load says of copies."""
        for name in copy_fields(self.config):
            register = Signal.like(info[name], name=name, reset_less=True)
            with m.If(load):
                m.d.sync += register.eq(self.contexts.p[name])
            with m.If(make):
                m.d.comb += info[name].eq(register)

    def _emit(self, m: Module, make: Value, info: data.View, scale: Value, found: Value) -> None:
        """Register a piece."""
        piece = self.pieces.p
        piece_info = Signal.like(info, name="piece_info", reset_less=True)
        piece_scale = Signal.like(scale, name="piece_scale", reset_less=True)
        shifted = Signal.like(found, name="shifted")
        chunks = chunk_registers(shifted, "piece_data")
        valid = Signal(name="piece_valid")
        with m.If(self.pieces.ready | ~valid):
            m.d.sync += valid.eq(make)
        with m.If(make):
            m.d.sync += piece_info.eq(info)
        with m.If(make & ~info.zero):
            m.d.comb += shifted.eq(found)
            m.d.sync += Cat(chunks).eq(shifted)
        with m.If(make & info.scaled):
            m.d.sync += piece_scale.eq(scale)
        m.d.comb += self.pieces.valid.eq(valid)
        with m.If(valid):
            m.d.comb += [
                piece.data.eq(Cat(chunks)),
                piece.scale.eq(piece_scale),
                piece.info.eq(piece_info),
            ]
