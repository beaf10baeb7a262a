"""What is said of a step in `Lanes`, and how it waits for the elements of each of its parts.

The scaler has two turns, one before `Polynomial` and one behind it.  A step takes both, either or
none, and goes on at once where it takes none.
"""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data

from celosia.hw.lib.delay import delay
from celosia.hw.lib.ring import Ring
from celosia.hw.lib.stages import Stages
from celosia.hw.vector.modes import Left, Mode, chooses
from celosia.hw.vector.parts import RowGatherer, RowParts, part_shape
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.reduction import MaximumReduction, SumReduction
from celosia.hw.vector.scaler import Scaler, ScaleRequest
from celosia.hw.vector.steps import PolynomialRequest, RowSpan, packed, polynomial_request
from celosia.isa.config import AcceleratorConfig

__all__ = ["LaneControl"]


class _Computing(data.StructLayout):
    """What `Polynomial` wants to know of a part."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "request": PolynomialRequest(config),
            "visible": unsigned(config.lanes),
            "part": part_shape(config),
            "counted": 1,
        })


class _Counting(data.StructLayout):
    """What the reductions want to know of a step, or of a part; `visible` is as wide as it is."""

    def __init__(self, config: AcceleratorConfig, elements: int):
        super().__init__({"span": RowSpan(config), "squared": 1, "visible": unsigned(elements)})


class _Ending(data.StructLayout):
    """What becomes of a part's result; at most 64 bits where scales have 24."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "result": 1,
            "last": 1,  # Part of its step.
            "part": part_shape(config),
            "scaling": ScaleRequest(config),
            # Elements that the scaler looks for long scales of.
            "present": unsigned(config.lanes if config.zero_scale_bits else 0),
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
        counting = packed(
            _Counting(config, config.dim),
            span=step.span,
            squared=chooses(step.mode, Left.SIZE),
            visible=step.visible,
        )
        self._request = stages.register(1, "request", polynomial_request(config, step))
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

    def compute(
        self, row: list[Value], scaler: Scaler, polynomial: Polynomial, total: SumReduction
    ) -> None:
        """Drive what stage 1, which leaves `row`, comes to: the scaler's turn, `polynomial`."""
        m, config, parts = self._m, self._config, self.parts
        self._visible = Cat(parts.of(self._counting.visible))
        self._elements = parts.of(row)
        self._scales = parts.enters & ~self._scaling.raw
        self._scaled = Stages(m, self._scales, Scaler.LATENCY, "scaling").valid[-1]
        passes = parts.enters & self._scaling.raw
        m.d.sync += Assert(~self._scaled | ~passes, "a part overtakes another one")
        now = packed(
            _Computing(config),
            request=self._request,
            visible=self._visible,
            part=parts.number,
            counted=self._counted,
        )
        waited = self._waiting("computing", self._scales, now, self._scaled, Scaler.LATENCY)
        computing = Signal(_Computing(config))
        m.d.comb += [
            computing.eq(Mux(self._scaled, waited, now)),
            polynomial.start.eq(self._scaled | passes),
            polynomial.request.eq(computing.request),
            polynomial.visible.eq(computing.visible),
            polynomial.part.eq(computing.part),
        ]
        for port, element, scaled in zip(
            polynomial.row, self._elements, scaler.elements, strict=True
        ):
            m.d.comb += port.eq(Mux(self._scaled, scaled, element))
        counts = polynomial.start & computing.counted
        self._count(total, Stages(m, counts, Polynomial.SUM_LATENCY, "counted").valid[-1])

    def _count(self, total: SumReduction, counted: Value) -> None:
        """Drive the reduction of what `polynomial` has of a part that is `counted`."""
        m, config, parts = self._m, self._config, self.parts
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
            visible=self._visible,
        )
        depth = Scaler.LATENCY + Polynomial.SUM_LATENCY
        enters = parts.enters & self._counted
        counting = self._waiting("counting", enters, counting, counted, depth)
        m.d.comb += [
            total.start.eq(counted),
            total.span.eq(counting.span),
            total.squared.eq(counting.squared),
            total.visible.eq(counting.visible),
        ]

    def end(self, polynomial: Polynomial, scaler: Scaler) -> RowGatherer:
        """Drive both turns of the scaler, and gather what comes of `polynomial` and of it."""
        m, parts = self._m, self.parts
        put = packed(
            _Ending(self._config),
            result=self._result,
            last=parts.last,
            part=parts.number,
            scaling=self._scaling2,
            present=self._visible if self._config.zero_scale_bits else Const(0, 0),
        )
        # Into a register a cycle ahead: what becomes of a result chooses what the scaler takes.
        ahead = Polynomial.LATENCY - 1
        coming = Stages(m, polynomial.start, ahead, "coming").valid[-1]
        depth = Scaler.LATENCY + ahead
        ending = Signal(_Ending(self._config), name="ending", reset_less=True)
        m.d.sync += ending.eq(self._waiting("ending", parts.enters, put, coming, depth))
        ends = polynomial.valid & ending.result
        rescales, passes = ends & ~ending.scaling.raw, ends & ending.scaling.raw
        rescaled = scaler.valid & ~self._scaled
        m.d.sync += [
            Assert(~self._scales | ~rescales, "both turns of the scaler in one cycle"),
            Assert(~rescaled | ~passes, "a result overtakes another one"),
        ]
        m.d.comb += [
            scaler.start.eq(self._scales | rescales),
            scaler.request.eq(Mux(rescales, ending.scaling, self._scaling)),
            scaler.part.eq(Mux(rescales, ending.part, parts.number)),
        ]
        if self._config.zero_scale_bits:
            present = Mux(rescales, ending.present, self._visible)
            m.d.comb += scaler.present.eq(present)
        for port, element, computed in zip(
            scaler.row, self._elements, polynomial.elements, strict=True
        ):
            m.d.comb += port.eq(Mux(rescales, computed, element))
        last = delay(m, ending.last, Scaler.LATENCY, name="ends_row")
        last = Mux(rescaled, last, ending.last)
        long = None
        if self._config.zero_scale_bits:
            before = self._long_before(scaler, polynomial, ending)
            behind = delay(m, before, Scaler.LATENCY, name="long_before") | scaler.long
            long = Mux(rescaled, behind, before)
        return RowGatherer(
            m,
            self._config,
            passes | rescaled,
            last,
            [
                Mux(rescaled, scaled, computed)
                for scaled, computed in zip(scaler.elements, polynomial.elements, strict=True)
            ],
            long,
        )

    def _long_before(self, scaler: Scaler, polynomial: Polynomial, ending: data.View) -> Value:
        """Whether the scaler's first turn met a long scale in a part of the step that ends.

        What a step without a result met counts as the next one's, which goes on from it.
        """
        m, met = self._m, Signal(name="long_met")
        now = delay(m, self._scaled & scaler.long, Polynomial.LATENCY, name="long")
        with m.If(polynomial.valid):
            m.d.sync += met.eq((met | now) & ~(ending.result & ending.last))
        return met | now

    def _waiting(self, name: str, put: Value, value: Any, take: Value, depth: int) -> Any:
        """`value`, as it was put for what is there now."""
        ring = Ring(value.shape(), depth)
        self._m.submodules[f"waiting_{name}"] = ring
        self._m.d.comb += [ring.put.eq(put), ring.value.eq(value), ring.take.eq(take)]
        return ring.oldest
