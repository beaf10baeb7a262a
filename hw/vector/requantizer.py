"""The way out of the local memories: bias, float32-encoded scale, saturation, activation."""

from dataclasses import replace
from typing import Annotated

from amaranth import Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.float32 import Float32
from celosia.hw.lib.float_scaler import FloatScaler, Scale, Scaled, ScalerShape, scale_shift
from celosia.hw.lib.sleep import Wakeful
from celosia.hw.lib.stages import Line, Stages
from celosia.isa.config import AcceleratorConfig

__all__ = ["OUTPUT_BITS", "RequantizeRequest", "Requantizer"]

ELEMENT_BITS = 32
OUTPUT_BITS = 8
INT16_BITS = 16


def _shape(result_bits: int) -> ScalerShape:
    return ScalerShape(
        element_bits=ELEMENT_BITS,
        result_bits=result_bits,
        magnitude=2,
        sign=2,
        normalize=(3, 4),
        to_float=5,
        multiply=6,
        add=7,
        round=8,
        align=8,
        integer=9,
        result=10,
    )


SHAPE = _shape(OUTPUT_BITS)
WIDER_SHAPE = _shape(INT16_BITS)
"""The shape where rows may become int16: what becomes int8 saturates at its end."""


class RequantizeRequest(data.StructLayout):
    """What becomes of the row that is there in this cycle."""

    def __init__(self) -> None:
        super().__init__({
            "valid": 1,
            "as_it_is": 1,  # Take the row from `bytes`; it is raw.
            "raw": 1,  # Neither scale nor activate it.
            "int16": 1,  # Scale it to int16, not to int8; only with `stores_int16`.
            "biased": 1,  # Add `bias`.  Not to `bytes`.
            "relu": 1,
            "scale": unsigned(32),  # The bits of a float32.
        })


class Requantizer(Component):
    """Scales rows of int32 to int8 or int16, as `celosia.isa.numerics.requantize_to` defines it.

    An element x of ``row`` becomes ``requantize_to(x + bias, scale, int8)`` (or int16, if the
    configuration has ``stores_int16``), where the sum wraps at 32 bits, and then its `relu` if
    asked; a raw one becomes ``x + bias``.  Each lane is a `FloatScaler`, and
    raw elements go through its registers.  Every bit pattern is a legal scale (NaN gives 0,
    infinity saturates).  An element of ``bytes`` counts as raw.

    Latency is `LATENCY` cycles and throughput one row per cycle.  The pipeline runs freely: it
    cannot be stalled, so whoever makes a request has room for the result.  ``valid`` lasts one
    cycle; the result stands until the next one, on ``wide`` until the next raw one.

    A value that is used more than once is a register: so nothing is computed outside the enable of
    its stage, and a stage without a row costs a simulator one branch.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``scale_bits`` and ``stores_int16``.

    Members
    -------
    request : ``In(RequantizeRequest())``
        What to do with the row that is there in this cycle.
    row : ``In(ArrayLayout(signed(32), dim))``
        Elements to scale.
    bias : ``In(ArrayLayout(signed(32), dim))``
        What to add to them first.
    bytes : ``In(ArrayLayout(unsigned(8), dim))``
        Elements that stay as they are.
    valid : ``Out(1)``
        There is a new result.
    narrow : ``Out(signed(8 or 16)).array(dim)``
        The result as int8, or as int16; of a raw row its low bytes.  It has 16 bits with
        ``stores_int16``.
    wide : ``Out(signed(32)).array(dim)``
        The result of a raw row.
    """

    LATENCY = 10

    request: Annotated[data.View, In(RequantizeRequest())]
    row: data.View
    bias: data.View
    bytes: data.View
    valid: Annotated[Signal, Out(1)]
    narrow: list[Signal]
    wide: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        shape = WIDER_SHAPE if config.stores_int16 else SHAPE
        self._shape = replace(shape, scale_bits=config.scale_bits)
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        super().__init__({
            "row": In(elements),
            "bias": In(elements),
            "bytes": In(data.ArrayLayout(unsigned(OUTPUT_BITS), config.dim)),
            "narrow": Out(signed(self._shape.result_bits)).array(config.dim),
            "wide": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m, request = Module(), self.request
        stages = Stages(m, request.valid, self.LATENCY, free=isinstance(platform, Wakeful))
        unscaled = stages.branch("raw", request.raw | request.as_it_is)
        scales = stages.line("scale", request.scale)
        scale = _shared_scale(stages, unscaled, scales, self._shape.scale_bits)
        relu = stages.line("relu", request.relu)
        int16 = stages.line("int16", request.int16)
        m.d.comb += self.valid.eq(stages.valid[-1])
        for lane in range(self.config.dim):
            # Stage 1: bias.
            element = Mux(request.as_it_is, self.bytes[lane].as_signed(), self.row[lane])
            total = element + Mux(request.biased, self.bias[lane], 0)
            here, raw = stages.part(lane), unscaled.part(lane)
            total = here.register(1, "total", total[:ELEMENT_BITS].as_signed())

            # Stages 2 to 9: scale.
            scaled = FloatScaler(here, self._shape, unscaled).scaled(total, scale)
            whole = raw.register(9, "whole", scaled.unscaled)

            # Stage 10: saturation to int8, sign and activation.
            bits, integer = self._shape.result_bits, scaled.integer()
            if self.config.stores_int16:
                integer = Mux(int16[9], integer, _byte(scaled))
            result = Mux(scaled.negative & relu[9], 0, integer)
            result = Mux(unscaled.valid[9], whole[:bits], result)
            narrow = here.held(10, "narrow", result[:bits].as_signed())
            m.d.comb += self.narrow[lane].eq(narrow)
            m.d.comb += self.wide[lane].eq(raw.held(10, "wide", whole.as_signed()))
        return m


def _byte(scaled: Scaled) -> Value:
    """What a scaler of int16 has made, saturated to int8."""
    largest = 1 << OUTPUT_BITS - 1
    size = Mux(scaled.size >= largest, largest, scaled.size)[:OUTPUT_BITS]
    return scaled._replace(size=size).integer()


def _shared_scale(stages: Stages, unscaled: Stages, scales: Line, scale_bits: int) -> Scale:
    """The scale of a row, decoded once for all lanes; a raw row has the mantissa of 1."""
    before = SHAPE.multiply - 1
    scale = Float32(scales[before - 1], scale_bits)
    one = Const(1 << scale_bits - 1, scale_bits)
    mantissa = Mux(unscaled.valid[before - 1], one, scale.mantissa)
    nan = Float32(scales[before]).nan & ~unscaled.valid[before]
    return Scale(
        negative=scales[SHAPE.sign - 1][-1],
        mantissa=stages.register(before, "scale_mantissa", mantissa),
        shift=stages.register(before, "scale_shift", scale_shift(scale)),
        nan=stages.register(SHAPE.add - 1, "scale_nan", nan),
    )
