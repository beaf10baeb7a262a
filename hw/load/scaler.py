"""Scaling of int8 elements on their way into the local memories."""

from dataclasses import replace
from typing import Annotated

from amaranth import Module, Signal, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.float32 import Float32
from celosia.hw.lib.float_scaler import FloatScaler, Scale, ScalerShape, scale_shift
from celosia.hw.lib.stages import Stages
from celosia.isa.config import AcceleratorConfig

__all__ = ["LoadScaler", "scaler_lanes"]

ELEMENT_BITS = 8

SHAPE = ScalerShape(
    element_bits=ELEMENT_BITS,
    result_bits=ELEMENT_BITS,
    magnitude=1,
    sign=1,
    normalize=(1,),
    to_float=1,
    multiply=2,
    add=3,
    round=3,
    align=4,
    integer=4,
    result=4,
)


def scaler_lanes(config: AcceleratorConfig) -> int:
    """Elements per step: as many int8 as one beat brings, but no more than fit a row."""
    return min(config.bus_bytes, config.dim)


class LoadScaler(Component):
    """Scales int8 elements, exactly as `celosia.isa.numerics.mvin_scale` defines it.

    Every bit pattern is a legal scale (NaN gives 0, infinity saturates).  Each lane is a
    `FloatScaler` of three stages, the last of whose steps is left to the user.

    The pipeline is rigid: it moves when ``advance`` says so, and results are those of the elements
    that were there `LATENCY` moves earlier.  Elements without ``enable`` leave every lane alone (a
    scale of 1 costs nothing if its user goes round), and their results mean nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``scale_bits``, and the number of lanes, `scaler_lanes`.

    Members
    -------
    advance : ``In(1)``
        Move.
    enable : ``In(1)``
        Scale ``elements``.
    scale : ``In(unsigned(32))``
        The bits of a float32.
    elements : ``In(ArrayLayout(signed(8), lanes))``
        What to scale.
    results : ``Out(signed(8)).array(lanes)``
        The elements of `LATENCY` moves ago, scaled.
    """

    LATENCY = 3

    advance: Annotated[Signal, In(1)]
    enable: Annotated[Signal, In(1)]
    scale: Annotated[Signal, In(unsigned(32))]
    elements: data.View
    results: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.lanes = scaler_lanes(config)
        self._shape = replace(SHAPE, scale_bits=config.scale_bits)
        elements = data.ArrayLayout(signed(ELEMENT_BITS), self.lanes)
        super().__init__({
            "elements": In(elements),
            "results": Out(signed(ELEMENT_BITS)).array(self.lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.enable, self.LATENCY, advance=self.advance)
        scale = Float32(self.scale, self._shape.scale_bits)
        scale = Scale(
            negative=scale.negative,
            mantissa=stages.register(1, "mantissa", scale.mantissa),
            shift=stages.register(1, "scale_shift", scale_shift(scale)),
            nan=stages.register(2, "nan", stages.register(1, "nan", scale.nan)),
        )
        for lane in range(self.lanes):
            # Stage 4 is to be registered by the user, and computed for elements with `enable` only.
            scaled = FloatScaler(stages.part(lane), self._shape).scaled(self.elements[lane], scale)
            m.d.comb += self.results[lane].eq(scaled.integer())
        return m
