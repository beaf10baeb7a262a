"""From pieces of local rows to writes into the local memories."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.compute.load_scaler import LoadScaler
from celosia.hw.control.ops import Space
from celosia.hw.dma.unpack import Piece, piece_bytes
from celosia.hw.dma.window import split_chunks
from celosia.hw.memory.ports import AccumulatorWrite, ParameterWrite, ScratchpadWrite
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["RowWriter"]


class RowWriter(wiring.Component):
    """Scales pieces, gathers them to local rows and writes these.

    A row is on offer `LATENCY` cycles after its last piece was accepted; throughput is one piece
    per cycle.  The pipeline moves as a whole: it stops while a row is on offer that its memory does
    not accept, and it does not close bubbles.  int8 pieces with ``scaled`` are scaled as
    `celosia.isa.numerics.mvin_scale` defines it, and sign-extended where the row is int32.

    With `stop`, what is in the pipeline is thrown away; only a row on offer stands until it is
    accepted.

    Members
    -------
    pieces : ``In(stream.Signature(Piece(config)))``
        Parts of local rows.
    stop : ``In(1)``
        Throw everything away.
    scratchpad : ``Out(stream.Signature(ScratchpadWrite(config)))``
        Rows of int8.
    accumulator : ``Out(stream.Signature(AccumulatorWrite(config)))``
        Rows of int32.
    parameters : ``Out(stream.Signature(ParameterWrite(config), always_ready=True))``
        Rows of int32.
    done : ``Out(1)``
        The last row of a load is accepted in this cycle.
    fault : ``Out(1)``
        The rows of all pieces before a fault were accepted.  For one cycle.
    """

    LATENCY = LoadScaler.LATENCY + 1

    pieces: stream.Interface
    stop: Signal
    scratchpad: stream.Interface
    accumulator: stream.Interface
    parameters: stream.Interface
    done: Signal
    fault: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        parameters = stream.Signature(ParameterWrite(config), always_ready=True)
        super().__init__({
            "pieces": In(stream.Signature(Piece(config))),
            "stop": In(1),
            "scratchpad": Out(stream.Signature(ScratchpadWrite(config))),
            "accumulator": Out(stream.Signature(AccumulatorWrite(config))),
            "parameters": Out(parameters),
            "done": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.scaler = scaler = LoadScaler(self.config)

        offered = Signal()
        space = Signal(Space, reset_less=True)
        row = Signal.like(self.pieces.p.info.row, reset_less=True)
        accumulate, op_last = Signal(reset_less=True), Signal(reset_less=True)
        mask = Signal(self.config.dim, reset_less=True)

        accepted, advance = Signal(), Signal()
        with m.Switch(space):
            with m.Case(Space.SCRATCHPAD):
                m.d.comb += self.scratchpad.valid.eq(offered)
                m.d.comb += accepted.eq(offered & self.scratchpad.ready)
            with m.Case(Space.ACCUMULATOR):
                m.d.comb += self.accumulator.valid.eq(offered)
                m.d.comb += accepted.eq(offered & self.accumulator.ready)
            with m.Default():
                m.d.comb += self.parameters.valid.eq(offered)
                m.d.comb += accepted.eq(offered)
        m.d.comb += [
            advance.eq(~offered | accepted),
            self.pieces.ready.eq(advance | self.stop),
            self.done.eq(accepted & op_last),
        ]

        # Stages 1 and 2: beside the scaler.
        piece = self.pieces.p
        m.d.comb += [
            scaler.advance.eq(advance),
            scaler.enable.eq(self.pieces.valid & piece.info.scaled),
            scaler.scale.eq(piece.scale),
            Value.cast(scaler.elements).eq(piece.data[: Value.cast(scaler.elements).shape().width]),
        ]
        valid, info, found = self._accompany(m, advance)

        # Stage 3: into the row.
        move = advance & valid
        with m.If(advance):
            m.d.sync += offered.eq(valid & info.row_last & ~info.fault & ~self.stop)
        with m.If(move):
            m.d.sync += [
                space.eq(info.space),
                row.eq(info.row),
                accumulate.eq(info.accumulate),
                op_last.eq(info.op_last),
                mask.eq(self._mask(info) | Mux(info.index == 0, 0, mask)),
            ]
        m.d.comb += self.fault.eq(move & info.fault & ~self.stop)

        elements = self._gather(m, move, info, found, scaler.results)
        for port in (self.scratchpad.p, self.accumulator.p, self.parameters.p):
            m.d.comb += [port.row.eq(row), port.mask.eq(mask)]
            for lane, element in enumerate(elements):
                m.d.comb += port.data[lane].eq(element)
        m.d.comb += self.accumulator.p.accumulate.eq(accumulate)
        return m

    def _accompany(self, m: Module, advance: Value) -> tuple[Value, data.View, Value]:
        """Whether a piece leaves the scaler, its info, and its bytes as they were."""
        valid: Value = self.pieces.valid
        info, parts = self.pieces.p.info, split_chunks(self.pieces.p.data)
        for stage in range(1, LoadScaler.LATENCY + 1):
            next_valid = Signal(name=f"s{stage}_valid")
            next_info = Signal.like(info, name=f"s{stage}_info", reset_less=True)
            next_parts = [
                Signal.like(part, name=f"s{stage}_data_{number}", reset_less=True)
                for number, part in enumerate(parts)
            ]
            with m.If(advance | self.stop):
                m.d.sync += next_valid.eq(valid & ~self.stop)
            with m.If(advance & valid):
                m.d.sync += next_info.eq(info)
            with m.If(advance & valid & ~info.zero):
                m.d.sync += [new.eq(old) for new, old in zip(next_parts, parts, strict=True)]
            valid, info, parts = next_valid, next_info, next_parts
        return valid, info, Cat(parts)

    def _mask(self, info: data.View) -> Value:
        """The elements of its row that a piece holds."""
        bits = []
        for lane in range(self.config.dim):
            holds = []
            for size, element_bytes in zip(piece_bytes(self.config), (1, ACC_BYTES), strict=True):
                index, place = divmod(lane * element_bytes, size)
                holds.append((info.index == index) & (info.bytes > place))
            bits.append(Mux(info.words, holds[1], holds[0]))
        return Cat(bits)

    def _gather(
        self, m: Module, move: Value, info: data.View, found: Value, results: data.View
    ) -> list[Signal]:
        """The elements of the row, as int32."""
        narrow, wide = piece_bytes(self.config)
        elements = []
        for lane in range(self.config.dim):
            element = Signal(32, name=f"element_{lane}", reset_less=True)
            index, place = divmod(lane, narrow)
            small = Mux(info.scaled, results[place], found.word_select(place, 8).as_signed())
            wide_index, wide_place = divmod(lane * ACC_BYTES, wide)
            with m.If(move & ~info.words & (info.index == index)):
                m.d.sync += element.eq(Mux(info.zero, 0, small))
            with m.If(move & info.words & (info.index == wide_index)):
                large = found[8 * wide_place : 8 * (wide_place + ACC_BYTES)]
                m.d.sync += element.eq(Mux(info.zero, 0, large))
            elements.append(element)
        return elements
