"""What is said of a step in `Lanes`, and how it waits for the elements of each of its parts."""

from typing import Any

from amaranth import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import data

from celosia.hw.lib.delay import delay
from celosia.hw.lib.ring import Ring
from celosia.hw.lib.stages import Stages
from celosia.hw.vector.parts import RowParts, part_shape
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.reduction import MaximumReduction, SumReduction
from celosia.hw.vector.scaler import Scaler, ScaleRequest
from celosia.hw.vector.steps import (
    Mode,
    PolynomialRequest,
    RowSpan,
    packed,
    polynomial_request,
)
from celosia.isa.config import AcceleratorConfig

__all__ = ["COMPUTED", "COUNTED", "SCALED", "LaneControl"]

SCALED = 10
"""The cycle in which the first scaler's result of a step's first part is there."""
COUNTED = SCALED + Polynomial.SUM_LATENCY
COMPUTED = SCALED + Polynomial.LATENCY


class _Computing(data.StructLayout):
    """What `Polynomial` wants to know of a part."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "request": PolynomialRequest(config),
            "visible": unsigned(config.lanes),
            "part": part_shape(config),
        })


class _Counting(data.StructLayout):
    """What the reductions want to know of a step, or of a part; `visible` is as wide as it is."""

    def __init__(self, config: AcceleratorConfig, elements: int):
        super().__init__({"span": RowSpan(config), "squared": 1, "visible": unsigned(elements)})


class _Ending(data.StructLayout):
    """What becomes of a part's result; at most 64 bits."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "result": 1,
            "last": 1,  # Part of its step.
            "part": part_shape(config),
            "scaling": ScaleRequest(config),
        })


class LaneControl:
    """The parts of a step.  They wait, without moving, for the elements to get there.

    `parts` are those of the steps that are not of MAXIMUM.
    """

    def __init__(self, m: Module, stages: Stages, config: AcceleratorConfig, step: data.View):
        """`step` is there when `stages` begin, and of `stages` there is one."""
        self._m, self._config = m, config
        finding = step.mode == Mode.MAXIMUM
        self._finds = stages.branch("finding", finding).valid[1]
        computes = Signal()
        m.d.comb += computes.eq(stages.valid[0] & ~finding)
        self.parts = RowParts(m, config, computes, step.last_part)
        request = polynomial_request(config, step)
        counting = packed(
            _Counting(config, config.dim),
            span=step.span,
            squared=request.flags.squared,
            visible=step.visible,
        )
        self._request = stages.register(1, "request", request)
        self._counting = stages.register(1, "counting", counting)
        self._counted = stages.register(1, "counted", step.counted)
        self._result = stages.register(1, "result", step.result)
        self._scaling = stages.register(1, "scaling", step.scaling)
        self._scaling2 = stages.register(1, "scaling2", step.scaling2)

    def find(self, largest: MaximumReduction) -> None:
        """Drive the reduction of what stage 1 leaves."""
        self._m.d.comb += [
            largest.start.eq(self._finds),
            largest.span.eq(self._counting.span),
            largest.visible.eq(self._counting.visible),
        ]

    def compute(self, scaler: Scaler, polynomial: Polynomial, total: SumReduction) -> None:
        """Drive what follows stage 1, up to `COMPUTED`."""
        m, config, parts = self._m, self._config, self.parts
        visible = Cat(parts.of(self._counting.visible))
        m.d.comb += [
            scaler.start.eq(parts.enters),
            scaler.request.eq(self._scaling),
            scaler.part.eq(parts.number),
            polynomial.start.eq(scaler.valid),
        ]
        computing = packed(
            _Computing(config), request=self._request, visible=visible, part=parts.number
        )
        computing = self._waiting("computing", parts.enters, computing, scaler.valid, SCALED)
        m.d.comb += [
            polynomial.request.eq(computing.request),
            polynomial.visible.eq(computing.visible),
            polynomial.part.eq(computing.part),
        ]
        span = self._counting.span
        of_part = packed(
            RowSpan(config),
            first=span.first & (parts.number == 0),
            last=span.last & parts.last,
            start=span.start,
            finish=span.finish,
            slot=span.slot,
        )
        counting = packed(
            _Counting(config, config.lanes),
            span=of_part,
            squared=self._counting.squared,
            visible=visible,
        )
        enters = parts.enters & self._counted
        counted = Stages(m, enters, COUNTED - 1, "counted").valid[-1]
        counting = self._waiting("counting", enters, counting, counted, COUNTED)
        m.d.comb += [
            total.start.eq(counted),
            total.span.eq(counting.span),
            total.squared.eq(counting.squared),
            total.visible.eq(counting.visible),
        ]

    def end(self, polynomial: Polynomial, scaler: Scaler) -> Value:
        """Drive what follows `COMPUTED`; returns whether what leaves `scaler` ends its row."""
        m, parts = self._m, self.parts
        ending = packed(
            _Ending(self._config),
            result=self._result,
            last=parts.last,
            part=parts.number,
            scaling=self._scaling2,
        )
        ending = self._waiting("ending", parts.enters, ending, polynomial.valid, COMPUTED)
        m.d.comb += [
            scaler.start.eq(polynomial.valid & ending.result),
            scaler.request.eq(ending.scaling),
            scaler.part.eq(ending.part),
        ]
        if self._config.row_parts == 1:
            return Const(1)
        return delay(m, ending.last, scaler.latency, name="ends_row")

    def _waiting(self, name: str, put: Value, value: Any, take: Value, depth: int) -> Any:
        """`value`, as it was put for what is there now."""
        ring = Ring(value.shape(), depth)
        self._m.submodules[f"waiting_{name}"] = ring
        self._m.d.comb += [ring.put.eq(put), ring.value.eq(value), ring.take.eq(take)]
        return ring.oldest
