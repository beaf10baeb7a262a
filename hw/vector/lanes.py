"""The lanes of the transform unit: from source rows to result rows, statistics aside."""

from collections.abc import Iterator
from typing import Any

from amaranth import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.lib.ring import Ring
from celosia.hw.lib.stages import Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.reduction import (
    MaximumReduction,
    MaximumWrite,
    RowSums,
    SumReduction,
    SumsWrite,
)
from celosia.hw.vector.scaler import ELEMENT_BITS, Scaler, ScaleRequest
from celosia.hw.vector.steps import (
    LaneConstants,
    LaneStep,
    Mode,
    PolynomialRequest,
    RowFacts,
    RowSpan,
    packed,
    polynomial_request,
)
from celosia.isa.config import AcceleratorConfig

__all__ = ["LaneResult", "Lanes"]

SCALED = 10
"""The cycle in which the first scaler's result is there."""
COUNTED = SCALED + Polynomial.SUM_LATENCY
COMPUTED = SCALED + Polynomial.LATENCY


class LaneResult(data.StructLayout):
    """There is a result, and the `ElementType` of its lower and its upper half of lanes.

    They are the step's `kind` and `kind2`.
    """

    def __init__(self) -> None:
        super().__init__({"valid": 1, "kind": unsigned(2), "kind2": unsigned(2)})


class Lanes(wiring.Component):
    """Bias, scale, `Mode`, scale again: a row of int32 in, a row of int32 out, one step per cycle.

    Steps of any modes follow each other.  Nothing ever waits: whoever starts a step has room for
    its result.  Counted from the cycle of a step:

    =====================  ===================================================================
    cycle
    =====================  ===================================================================
    0                      ``step``, ``row``, ``bias`` and ``maximum`` are sampled.
    2                      ``scales_in`` asks, if the first scaler takes scales of columns.
    3 + log2(``dim``)      ``maximum_write``, at the end of a row with MAXIMUM.
    16                     ``facts`` asks, if the mode needs those of the row.
    20, 21                 ``gamma`` and ``beta`` ask, with NORMALIZE.
    21 + log4(``dim``)     ``sums`` asks, if a row begins that is counted and does not start
                           afresh.
    24 + log4(``dim``)     ``sums_write``, at the end of a row that is counted.
    27                     ``scales_out`` asks, if the second scaler takes scales of columns.
    36 = `LATENCY`         ``result``, if the step has one; ``elements`` stand until the next.
    =====================  ===================================================================

    Logarithms are rounded up.  What is asked for is sampled `LOCAL_READ_LATENCY` later.  The
    elements of a step are int32; what was int16 is sign-extended and not scaled.  With NORMALIZE,
    both halves of a row are the same elements.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``parameter_rows`` and ``statistics_rows``.

    State
    -----
    The state of `Polynomial`, and the maximum and the sums of the row under way.

    Members
    -------
    start : ``In(1)``
        There is a step in this cycle.
    step : ``In(LaneStep(config))``
        What it does.
    row : ``In(ArrayLayout(signed(32), dim))``
        Its elements.
    bias : ``In(ArrayLayout(signed(32), dim))``
        What is added to them first, if the step asks for it.
    maximum : ``In(signed(32))``
        Maximum of its slot, with HEADER and where a row of MAXIMUM begins without a fresh start.
    constants : ``In(LaneConstants())``
        Constants of exponents and GELU; they stand still while such a step is under way.
    scales_in : ``Out(RowRead(row, elements))``
        Reads scales of columns for the first scaler; never waits, like all reads.
    scales_out : ``Out(RowRead(row, elements))``
        Reads scales of columns for the second scaler.
    gamma : ``Out(RowRead(row, elements))``
        Reads factors of columns.
    beta : ``Out(RowRead(row, elements))``
        Reads offsets of columns.
    facts : ``Out(RowRead(slot, RowFacts()))``
        Reads what was derived from a row's sums.
    sums : ``Out(RowRead(slot, RowSums()))``
        Reads the sums that a row goes on from.
    maximum_write : ``Out(MaximumWrite(config))``
        Sets a slot's maximum.
    sums_write : ``Out(SumsWrite(config))``
        Sets a slot's sums.
    result : ``Out(LaneResult())``
        There is a new result.
    elements : ``Out(signed(32)).array(dim)``
        The result.
    """

    LATENCY = 36

    start: Signal
    step: data.View
    row: data.View
    bias: data.View
    maximum: Signal
    constants: data.View
    scales_in: RowReadInterface
    scales_out: RowReadInterface
    gamma: RowReadInterface
    beta: RowReadInterface
    facts: RowReadInterface
    sums: RowReadInterface
    maximum_write: data.View
    sums_write: data.View
    result: data.View
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        slot = row_shape(config.statistics_rows)
        parameters = RowRead(row_shape(config.parameter_rows), elements)
        super().__init__({
            "start": In(1),
            "step": In(LaneStep(config)),
            "row": In(elements),
            "bias": In(elements),
            "maximum": In(signed(ELEMENT_BITS)),
            "constants": In(LaneConstants()),
            "scales_in": Out(parameters),
            "scales_out": Out(parameters),
            "gamma": Out(parameters),
            "beta": Out(parameters),
            "facts": Out(RowRead(slot, RowFacts())),
            "sums": Out(RowRead(slot, RowSums())),
            "maximum_write": Out(MaximumWrite(config)),
            "sums_write": Out(SumsWrite(config)),
            "result": Out(LaneResult()),
            "elements": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.maximum = largest = MaximumReduction(self.config)
        m.submodules.scaler_in = scaler_in = Scaler(self.config, every_kind=False)
        m.submodules.polynomial = polynomial = Polynomial(self.config)
        m.submodules.total = total = SumReduction(self.config)
        m.submodules.scaler_out = scaler_out = Scaler(self.config)
        assert 1 + scaler_in.latency == SCALED
        assert COMPUTED + scaler_out.latency == self.LATENCY

        stages = Stages(m, self.start, COUNTED)
        control = _Control(m, stages, self.config, self.step)
        control.find(largest)
        control.compute(scaler_in, polynomial, total)
        control.end(polynomial, scaler_out, self.result)
        m.d.comb += [
            largest.kept.eq(stages.register(1, "kept", self.maximum)),
            scaler_in.request.eq(stages.register(1, "scaling", self.step.scaling)),
            polynomial.constants.eq(self.constants),
            self.maximum_write.eq(largest.write),
            self.sums_write.eq(total.write),
        ]
        for lane, element in enumerate(self._biased(stages)):
            m.d.comb += [
                largest.elements[lane].eq(element),
                scaler_in.row[lane].eq(element),
                polynomial.row[lane].eq(scaler_in.elements[lane]),
                total.elements[lane].eq(polynomial.counted[lane]),
                total.squares[lane].eq(polynomial.squares[lane]),
                scaler_out.row[lane].eq(polynomial.elements[lane]),
                self.elements[lane].eq(scaler_out.elements[lane]),
            ]
        for outer, inner in (
            (self.scales_in, scaler_in.scales),
            (self.scales_out, scaler_out.scales),
            (self.gamma, polynomial.gamma),
            (self.beta, polynomial.beta),
            (self.facts, polynomial.facts),
            (self.sums, total.kept),
        ):
            connect(m, flipped(outer), inner)
        return m

    def _biased(self, stages: Stages) -> Iterator[Value]:
        """Stage 1: the elements plus their bias, or the slot's maximum."""
        header = self.step.mode == Mode.HEADER
        for lane in range(self.config.dim):
            total = self.row[lane] + Mux(self.step.biased, self.bias[lane], 0)
            total = Mux(header, self.maximum, total)[:ELEMENT_BITS].as_signed()
            yield stages.register(1, f"element_{lane}", total)


class _Computing(data.StructLayout):
    """What `Polynomial` wants to know of a step."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "request": PolynomialRequest(config),
            "visible": unsigned(config.dim),
        })


class _Counting(data.StructLayout):
    """What the reductions want to know of a step."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "span": RowSpan(config),
            "squared": 1,
            "visible": unsigned(config.dim),
        })


class _Ending(data.StructLayout):
    """What becomes of a step's result; at most 64 bits."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({"result": 1, "kinds": _Kinds(), "scaling": ScaleRequest(config)})


class _Kinds(data.StructLayout):
    """The kinds of a result."""

    def __init__(self) -> None:
        super().__init__({"kind": unsigned(2), "kind2": unsigned(2)})


class _Control:
    """The parts of a step.  They wait, without moving, for the elements to get there."""

    def __init__(self, m: Module, stages: Stages, config: AcceleratorConfig, step: data.View):
        self._m = m
        finding = step.mode == Mode.MAXIMUM
        self.finding = stages.branch("finding", finding)
        self.computing = stages.branch("computing", ~finding)
        self.counted = self.computing.branch("counted", step.counted)
        request = polynomial_request(config, step)
        computing = packed(_Computing(config), request=request, visible=step.visible)
        counting = packed(
            _Counting(config),
            span=step.span,
            squared=request.flags.squared,
            visible=step.visible,
        )
        kinds = packed(_Kinds(), kind=step.kind, kind2=step.kind2)
        ending = packed(_Ending(config), result=step.result, kinds=kinds, scaling=step.scaling2)
        self._first_computing = stages.register(1, "computing", computing)
        self._first_counting = stages.register(1, "counting", counting)
        self._first_ending = stages.register(1, "ending", ending)

    def find(self, largest: MaximumReduction) -> None:
        """Drive the reduction of what stage 1 leaves."""
        counting = self._first_counting
        self._m.d.comb += [
            largest.start.eq(self.finding.valid[1]),
            largest.span.eq(counting.span),
            largest.visible.eq(counting.visible),
        ]

    def compute(self, scaler: Scaler, polynomial: Polynomial, total: SumReduction) -> None:
        """Drive what follows stage 1, up to `COMPUTED`."""
        m, at_once = self._m, self.computing.valid[1]
        m.d.comb += [scaler.start.eq(at_once), polynomial.start.eq(scaler.valid)]
        computing = self._waiting("computing", at_once, self._first_computing, scaler.valid, SCALED)
        m.d.comb += [
            polynomial.request.eq(computing.request),
            polynomial.visible.eq(computing.visible),
        ]
        counted = self.counted.valid
        counting = self._waiting(
            "counting", counted[1], self._first_counting, counted[COUNTED], COUNTED
        )
        m.d.comb += [
            total.start.eq(counted[COUNTED]),
            total.span.eq(counting.span),
            total.squared.eq(counting.squared),
            total.visible.eq(counting.visible),
        ]

    def end(self, polynomial: Polynomial, scaler: Scaler, result: data.View) -> None:
        """Drive what follows `COMPUTED`."""
        m, at_once = self._m, self.computing.valid[1]
        ending = self._waiting("ending", at_once, self._first_ending, polynomial.valid, COMPUTED)
        m.d.comb += [
            scaler.start.eq(polynomial.valid & ending.result),
            scaler.request.eq(ending.scaling),
        ]
        kinds = self._waiting("kinds", scaler.start, ending.kinds, scaler.valid, scaler.latency + 1)
        m.d.comb += [
            result.valid.eq(scaler.valid),
            result.kind.eq(kinds.kind),
            result.kind2.eq(kinds.kind2),
        ]

    def _waiting(self, name: str, put: Value, value: Any, take: Value, depth: int) -> Any:
        """`value`, as it was put for what is there now."""
        ring = Ring(value.shape(), depth)
        self._m.submodules[f"waiting_{name}"] = ring
        self._m.d.comb += [ring.put.eq(put), ring.value.eq(value), ring.take.eq(take)]
        return ring.oldest
