"""The scaler of the vector unit's lanes: requantization of parts of rows of int32."""

from dataclasses import replace
from typing import Annotated

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.float32 import Float32
from celosia.hw.lib.float_scaler import FloatScaler, Scale, Scaled, ScalerShape, scale_shift
from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, ParameterRead, RowReadInterface
from celosia.hw.vector.parts import parameter_part, part_shape
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.numerics import SCORE_BITS

__all__ = ["ELEMENT_BITS", "SCALED_BITS", "SCORE", "ScaleRequest", "Scaler"]

ELEMENT_BITS = 32
SCALED_BITS = SCORE_BITS
"""Width of a result, in bits, signed.  Narrower ones saturate to it first: room for a zero point.
"""
SCORE = ElementType.INT32
"""The kind of scores whose row's maximum is still to be subtracted, of `SCORE_BITS`."""

SHAPE = ScalerShape(
    element_bits=ELEMENT_BITS,
    result_bits=SCALED_BITS,
    magnitude=1,
    normalize=(2, 3),
    to_float=4,
    multiply=5,
    add=6,
    sign=5,
    round=7,
    align=7,
    integer=8,
    result=9,
)
SCALE_STAGE = SHAPE.multiply - 1
"""Stage in which scales arrive."""


class ScaleRequest(data.StructLayout):
    """What becomes of a row."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "raw": 1,  # It stays as it is, whatever else is asked: it does not come to a `Scaler`.
            "kind": unsigned(2),  # What it saturates to: int8, uint8, int16 or `SCORE`.
            "relu": 1,
            "zero_point": unsigned(8),  # Added to uint8 only.
            "by_column": 1,  # The scales are a row of parameters.
            "scale": unsigned(32),  # Else: the bits of a float32.
            "scale_row": row_shape(config.parameter_rows),
        })


class Scaler(Component):
    """Scales parts of rows of int32, exactly as `celosia.isa.numerics.requantize_to` defines it.

    Each lane is a `FloatScaler`; every bit pattern is a legal scale.  With ``scale_bits`` below 24,
    a column's scale that is longer is told with the result, which then means nothing.

    Latency is `LATENCY` cycles and throughput one part per cycle; it cannot be stalled.  ``valid``
    lasts one cycle, and so does the result.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes``, ``scale_bits`` and ``parameter_rows``.

    Members
    -------
    start : ``In(1)``
        There is a part in this cycle.
    request : ``In(ScaleRequest(config))``
        What becomes of it; it is not raw.
    part : ``In(unsigned(n))``
        The number of the part, of its row.
    row : ``In(signed(32)).array(lanes)``
        Its elements.
    present : ``In(unsigned(lanes))``
        Which of them there are, for `long`.
    scales : ``Out(ParameterRead(config))``
        Reads scales of columns, as the bits of float32; never waits.
    valid : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(24)).array(lanes)``
        The result.
    long : ``Out(1)``
        The scale of one of its columns has more than ``scale_bits``.
    """

    LATENCY = 10

    start: Annotated[Signal, In(1)]
    request: data.View
    part: Signal
    row: list[Signal]
    present: Signal
    scales: RowReadInterface
    valid: Annotated[Signal, Out(1)]
    elements: list[Signal]
    long: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "request": In(ScaleRequest(config)),
            "part": In(part_shape(config)),
            "row": In(signed(ELEMENT_BITS)).array(config.lanes),
            "present": In(config.lanes),
            "scales": Out(ParameterRead(config)),
            "elements": Out(signed(SCALED_BITS)).array(config.lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.LATENCY, free=True)
        requests, numbers = stages.line("request", self.request), stages.line("part", self.part)
        asked = SCALE_STAGE - 1 - LOCAL_READ_LATENCY
        m.d.comb += [
            self.valid.eq(stages.valid[-1]),
            self.scales.valid.eq(stages.valid[asked] & requests[asked].by_column),
            self.scales.row.eq(
                parameter_part(self.config, requests[asked].scale_row, numbers[asked])
            ),
        ]
        ending, request = _Ending(stages, requests), requests[SCALE_STAGE - 1]
        shape = replace(SHAPE, scale_bits=self.config.scale_bits)
        for index, row in enumerate(self.row):
            lane = stages.part(index)
            column = self.scales.data[index].as_unsigned()
            bits = Mux(request.by_column, column, request.scale)
            scale = _scale(lane, bits, shape.scale_bits)
            element = ending.element(lane, FloatScaler(lane, shape).scaled(row, scale))
            m.d.comb += self.elements[index].eq(element)
        if self.config.zero_scale_bits:
            self._find_long(m, stages, request)
        return m

    def _find_long(self, m: Module, stages: Stages, request: data.View) -> None:
        """Drive `long` by the scales that are there with `request`."""
        present = stages.line("present", self.present)[SCALE_STAGE - 1]
        rest = [column[: self.config.zero_scale_bits].any() for column in self.scales.data]
        long = request.by_column & (Cat(rest) & present).any()
        m.d.comb += self.long.eq(stages.line("long", long, SCALE_STAGE - 1)[self.LATENCY])


def _scale(stages: Stages, bits: Value, scale_bits: int) -> Scale:
    """The scale of a lane, from the bits of a float32."""
    scale = Float32(stages.register(SCALE_STAGE, "scale", bits), scale_bits)
    nan = stages.register(SHAPE.multiply, "nan", scale.nan)
    return Scale(scale.negative, scale.mantissa, scale_shift(scale), nan)


class _Ending:
    """Stages 9 and 10: activation, zero point, saturation."""

    def __init__(self, stages: Stages, requests: Line):
        kind = requests[7].kind
        offset = Mux(kind == ElementType.UINT8, requests[7].zero_point, 0)
        self.relu = stages.register(8, "relu", requests[7].relu)
        self.offset = stages.register(8, "offset", offset)
        kind = requests[8].kind
        low: Value = Const(-(1 << SCALED_BITS - 1))
        high: Value = Const((1 << SCALED_BITS - 1) - 1)
        for narrow, least, most in (
            (ElementType.INT8, -(1 << 7), (1 << 7) - 1),
            (ElementType.UINT8, 0, (1 << 8) - 1),
            (ElementType.INT16, -(1 << 15), (1 << 15) - 1),
        ):
            low, high = Mux(kind == narrow, least, low), Mux(kind == narrow, most, high)
        self.low = stages.register(9, "lowest", low)
        self.high = stages.register(9, "highest", high)

    def element(self, lane: Stages, scaled: Scaled) -> Value:
        """What stage 10 makes of `scaled`."""
        # Stage 9: sign, activation and zero point.
        size = Mux(scaled.negative, Mux(self.relu, 0, -scaled.size), scaled.size)
        total = lane.register(9, "total", size + self.offset)
        # Stage 10: saturate.
        element = Mux(total < self.low, self.low, Mux(total > self.high, self.high, total))
        return lane.register(10, "element", element[:SCALED_BITS].as_signed())
