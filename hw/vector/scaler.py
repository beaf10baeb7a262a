"""Requantization of rows of int32 on their way into the vector unit's lanes and out of them."""

from amaranth import Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.float32 import EXPONENT_BIAS, FRACTION_BITS, Float32
from celosia.hw.lib.float_scaler import FloatScaler, Scale, Scaled, ScalerShape, scale_shift
from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowReadInterface
from celosia.hw.vector.parts import ParameterRead, parameter_part, part_shape
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["ELEMENT_BITS", "ScaleRequest", "Scaler"]

ELEMENT_BITS = 32
INTEGER_BITS = 16
"""Width of the widest output, in bits.  Others saturate to it first: room for a zero point."""

SHAPE = ScalerShape(
    element_bits=ELEMENT_BITS,
    result_bits=INTEGER_BITS,
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
ONE = EXPONENT_BIAS << FRACTION_BITS
"""The bits of the scale of raw rows, whose mantissa changes nothing."""


class ScaleRequest(data.StructLayout):
    """What becomes of a row.  `kind`, `relu` and `zero_point` only matter where bytes leave."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "raw": 1,  # It stays as it is, whatever else is asked.
            "kind": unsigned(2),  # An ElementType of at most 16 bits: what it saturates to.
            "relu": 1,
            "zero_point": unsigned(8),  # Added to uint8 only.
            "by_column": 1,  # The scales are a row of parameters.
            "scale": unsigned(32),  # Else: the bits of a float32.
            "scale_row": row_shape(config.parameter_rows),
        })


class Scaler(wiring.Component):
    """Scales parts of rows of int32, exactly as `celosia.isa.numerics.requantize_to` defines it.

    Each lane is a `FloatScaler`; every bit pattern is a legal scale.  What is raw passes unchanged,
    through the same registers.

    Without `every_kind`, everything that is not raw becomes int16, without ReLU.

    Latency is `latency` cycles (10, or 9 without `every_kind`) and throughput one part per cycle;
    it cannot be stalled.  ``valid`` lasts one cycle; the result stands until the next one.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes`` and ``parameter_rows``.
    every_kind : bool
        Also make int8 and uint8, activate, and add zero points.

    Members
    -------
    start : ``In(1)``
        There is a part in this cycle.
    request : ``In(ScaleRequest(config))``
        What becomes of it.
    part : ``In(unsigned(n))``
        The number of the part, of its row.
    row : ``In(signed(32)).array(lanes)``
        Its elements.
    scales : ``Out(ParameterRead(config))``
        Reads scales of columns, as the bits of float32; never waits.
    valid : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(32)).array(lanes)``
        The result.
    """

    start: Signal
    request: data.View
    part: Signal
    row: list[Signal]
    scales: RowReadInterface
    valid: Signal
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig, *, every_kind: bool = True):
        self.config = config
        self.every_kind = every_kind
        self.latency = 10 if every_kind else 9
        super().__init__({
            "start": In(1),
            "request": In(ScaleRequest(config)),
            "part": In(part_shape(config)),
            "row": In(signed(ELEMENT_BITS)).array(config.lanes),
            "scales": Out(ParameterRead(config)),
            "valid": Out(1),
            "elements": Out(signed(ELEMENT_BITS)).array(config.lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.latency, free=True)
        unscaled = stages.branch("raw", self.request.raw)
        requests, numbers = stages.line("request", self.request), stages.line("part", self.part)
        by_column = stages.line("by_column", self.request.by_column & ~self.request.raw)
        scales = stages.line("scale", Mux(self.request.raw, ONE, self.request.scale))
        asked = SCALE_STAGE - 1 - LOCAL_READ_LATENCY
        m.d.comb += [
            self.valid.eq(stages.valid[-1]),
            self.scales.valid.eq(stages.valid[asked] & by_column[asked]),
            self.scales.row.eq(
                parameter_part(self.config, requests[asked].scale_row, numbers[asked])
            ),
        ]
        end = self.latency
        ending = _Bytes(stages, requests) if self.every_kind else None
        for index, row in enumerate(self.row):
            lane = stages.part(index)
            column = self.scales.data[index].as_unsigned()
            bits = Mux(by_column[SCALE_STAGE - 1], column, scales[SCALE_STAGE - 1])
            scale = _scale(lane, bits)
            result = FloatScaler(lane, SHAPE, unscaled).scaled(row, scale)
            scaled = ending.element(lane, result) if ending else result.integer()
            # The last stage: what was scaled, or what only passed.
            passed = lane.line("passed", result.unscaled, SHAPE.integer - 1)[end - 1]
            element = Mux(unscaled.valid[end - 1], passed, scaled)[:ELEMENT_BITS].as_signed()
            m.d.comb += self.elements[index].eq(lane.held(end, "element", element))
        return m


def _scale(stages: Stages, bits: Value) -> Scale:
    """The scale of a lane, from the bits of a float32."""
    scale = Float32(stages.register(SCALE_STAGE, "scale", bits))
    nan = stages.register(SHAPE.multiply, "nan", scale.nan)
    return Scale(scale.negative, scale.mantissa, scale_shift(scale), nan)


class _Bytes:
    """Stages 9 and 10 for every kind of element: activation, zero point, saturation."""

    def __init__(self, stages: Stages, requests: Line):
        kind = requests[7].kind
        offset = Mux(kind == ElementType.UINT8, requests[7].zero_point, 0)
        self.relu = stages.register(8, "relu", requests[7].relu)
        self.offset = stages.register(8, "offset", offset)
        kind = requests[8].kind
        low: Value = Const(-(1 << INTEGER_BITS - 1))
        high: Value = Const((1 << INTEGER_BITS - 1) - 1)
        for byte, least, most in (
            (ElementType.INT8, -(1 << 7), (1 << 7) - 1),
            (ElementType.UINT8, 0, (1 << 8) - 1),
        ):
            low, high = Mux(kind == byte, least, low), Mux(kind == byte, most, high)
        self.low = stages.register(9, "lowest", low)
        self.high = stages.register(9, "highest", high)

    def element(self, lane: Stages, scaled: Scaled) -> Value:
        """What stage 10 makes of `scaled`."""
        # Stage 9: sign, activation and zero point.
        size = Mux(scaled.negative, Mux(self.relu, 0, -scaled.size), scaled.size)
        total = lane.register(9, "total", size + self.offset)
        # Stage 10: saturate.
        return Mux(total < self.low, self.low, Mux(total > self.high, self.high, total))
