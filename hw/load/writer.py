"""The writer of local rows: it gathers their pieces and writes them into the local memories."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.copies import row_copies
from celosia.hw.lib.component import Component
from celosia.hw.lib.fields import chunk_registers
from celosia.hw.load.scaler import LoadScaler
from celosia.hw.load.unpack import Piece, piece_bytes
from celosia.hw.memory.ports import AccumulatorWrite, ParameterWrite, ScratchpadWrite
from celosia.isa.config import ACC_BYTES, AcceleratorConfig

__all__ = ["RowWriter"]

ELEMENT_BITS = 8 * ACC_BYTES


class RowWriter(Component):
    """Scales pieces, gathers them to local rows and writes these.

    A row is on offer `LATENCY` cycles after its last piece was accepted; throughput is one piece
    per cycle.  The pipeline moves as a whole: it stops while a row is on offer that its memory does
    not accept, and it does not close bubbles.  int8 pieces with ``scaled`` are scaled as
    `celosia.isa.numerics.mvin_scale` defines it, and sign-extended where the row is int32.  With
    ``copies``, the row is on offer that many more times, a cycle each.

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
    stop: Annotated[Signal, In(1)]
    scratchpad: stream.Interface
    accumulator: stream.Interface
    parameters: stream.Interface
    done: Annotated[Signal, Out(1)]
    fault: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._copies = row_copies(config)
        parameters = stream.Signature(ParameterWrite(config), always_ready=True)
        super().__init__({
            "pieces": In(stream.Signature(Piece(config))),
            "scratchpad": Out(stream.Signature(ScratchpadWrite(config))),
            "accumulator": Out(stream.Signature(AccumulatorWrite(config))),
            "parameters": Out(parameters),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.scaler = scaler = LoadScaler(self.config)

        offered = Signal()
        space = Signal(Space, reset_less=True)
        row = Signal.like(self.pieces.p.info.row, reset_less=True)
        accumulate, op_last = Signal(reset_less=True), Signal(reset_less=True)
        mask = Signal(self.config.dim, reset_less=True)

        # What is offered to one memory; the others see zeros, which costs no time to simulate.
        accepted, advance = Signal(), Signal()
        elements = [
            Signal(ELEMENT_BITS, name=f"element_{lane}", reset_less=True)
            for lane in range(self.config.dim)
        ]
        for case, port in (
            (Space.SCRATCHPAD, self.scratchpad),
            (Space.ACCUMULATOR, self.accumulator),
            (Space.PARAMETER, self.parameters),
        ):
            with m.If(offered & (space == case)):
                m.d.comb += [
                    accepted.eq(port.ready),
                    port.valid.eq(1),
                    port.p.row.eq(row),
                    port.p.mask.eq(mask),
                    *(port.p.data[lane].eq(e) for lane, e in enumerate(elements)),
                ]
                if port is self.accumulator:
                    m.d.comb += port.p.accumulate.eq(accumulate)
        leaves = self._copies.offer(m, accepted, row, mask, elements, self.scratchpad)
        m.d.comb += [
            advance.eq(~offered | leaves),
            self.pieces.ready.eq(advance | self.stop),
            self.done.eq(leaves & op_last),
        ]

        # Stages 1 to 3: beside the scaler.
        piece = self.pieces.p
        m.d.comb += [
            scaler.advance.eq(advance),
            scaler.enable.eq(self.pieces.valid & piece.info.scaled),
            scaler.scale.eq(piece.scale),
            Value.cast(scaler.elements).eq(piece.data[: Value.cast(scaler.elements).shape().width]),
        ]
        valid, info, found = self._accompany(m, advance)

        # Stage 4: into the row.
        move = Signal()
        m.d.comb += move.eq(advance & valid)
        with m.If(advance):
            m.d.sync += offered.eq(valid & info.row_last & ~info.fault & ~self.stop)
        with m.If(move):
            held = self._mask(m, info)
            m.d.sync += [
                space.eq(info.space),
                row.eq(info.row),
                accumulate.eq(info.accumulate),
                op_last.eq(info.op_last),
                mask.eq(held | Mux(info.index == 0, 0, mask)),
            ]
            self._gather(m, elements, info, found, scaler.results)
            self._copies.begin(m, info)
        m.d.comb += self.fault.eq(move & info.fault & ~self.stop)
        return m

    def _accompany(self, m: Module, advance: Value) -> tuple[Value, data.View, Value]:
        """Whether a piece leaves the scaler, its info, and its bytes as they were."""
        valid: Value = self.pieces.valid
        info, found = self.pieces.p.info, Value.cast(self.pieces.p.data)
        for stage in range(1, LoadScaler.LATENCY + 1):
            next_valid = Signal(name=f"s{stage}_valid")
            next_info = Signal.like(info, name=f"s{stage}_info", reset_less=True)
            next_found = Cat(chunk_registers(found, f"s{stage}_data"))
            with m.If(advance | self.stop):
                m.d.sync += next_valid.eq(valid & ~self.stop)
            with m.If(advance & valid):
                m.d.sync += [next_info.eq(info), next_found.eq(found)]
            valid, info, found = next_valid, next_info, next_found
        return valid, info, found

    def _mask(self, m: Module, info: data.View) -> Signal:
        """The elements of its row that a piece holds."""
        mask = Signal(self.config.dim, name="piece_mask")
        for words, element_bytes in enumerate((1, ACC_BYTES)):
            size = piece_bytes(self.config)[words]
            with m.If(info.words == words):
                for lane in range(self.config.dim):
                    index, place = divmod(lane * element_bytes, size)
                    m.d.comb += mask[lane].eq((info.index == index) & (info.bytes > place))
        return mask

    def _gather(
        self, m: Module, row: list[Signal], info: data.View, found: Value, results: list[Signal]
    ) -> None:
        """Put a piece into its place in `row`."""
        narrow, wide = piece_bytes(self.config)
        with m.If(info.words):
            for lane, element in enumerate(row):
                index, place = divmod(lane * ACC_BYTES, wide)
                with m.If(info.index == index):
                    large = found[8 * place : 8 * (place + ACC_BYTES)]
                    m.d.sync += element.eq(Mux(info.zero, 0, large))
        with m.Else():
            small = [Signal(signed(8), name=f"small_{place}") for place in range(narrow)]
            for place, element in enumerate(small):
                with m.If(info.scaled):
                    m.d.comb += element.eq(results[place])
                with m.Elif(~info.zero):
                    m.d.comb += element.eq(found.word_select(place, 8).as_signed())
            for lane, element in enumerate(row):
                index, place = divmod(lane, narrow)
                with m.If(info.index == index):
                    m.d.sync += element.eq(small[place])
