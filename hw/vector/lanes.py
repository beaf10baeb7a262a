"""The lanes of the transform unit: from source rows to result rows, statistics aside."""

from collections.abc import Iterator

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.hdl import Assert
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.lib.stages import Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.hw.vector.control import COMPUTED, SCALED, LaneControl
from celosia.hw.vector.parts import ParameterRead, RowGatherer
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.reduction import (
    MaximumReduction,
    MaximumWrite,
    RowSums,
    SumReduction,
    SumsWrite,
)
from celosia.hw.vector.scaler import ELEMENT_BITS, Scaler
from celosia.hw.vector.steps import LaneConstants, LaneStep, Mode, RowFacts
from celosia.isa.config import AcceleratorConfig

__all__ = ["Lanes"]


class Lanes(wiring.Component):
    """Bias, scale, `Mode`, scale again: a row of int32 in, a row of int32 out.

    A row of ``dim`` elements is sampled at once, and enters in parts of ``vector_lanes`` elements,
    one part per cycle, up to the step's `last_part`; its results are gathered.  A step of MAXIMUM
    enters as a whole.  Steps of any modes follow each other, each no earlier than the last part of
    the one before it enters, but in a later cycle; nothing else ever waits: whoever starts a step
    has room for its result.  Counted from the cycle of a step:

    ========================  =================================================================
    cycle
    ========================  =================================================================
    0                         ``step``, ``row``, ``bias`` and ``maximum`` are sampled.
    2                         ``scales_in`` asks, if the first scaler takes scales of columns.
    3 + log2(``dim``)         ``maximum_write``, at the end of a row with MAXIMUM.
    16                        ``facts`` asks, if the mode needs those of the row.
    20, 21                    ``gamma`` and ``beta`` ask, with NORMALIZE.
    21 + log4(``lanes``)      ``sums`` asks, if a row begins that is counted and does not start
                              afresh.
    24 + log4(``lanes``)      ``sums_write``, at the end of a row that is counted.
    27                        ``scales_out`` asks, if the second scaler takes scales of columns.
    `latency`                 ``result``, if the step has one; ``elements`` stand until those
                              of another one are gathered.
    ========================  =================================================================

    Logarithms are rounded up, that of the lanes to 1 at least.  `latency` is 36, or 37 where rows
    have several parts.  All this is of a step's first part; parts follow each other cycle by cycle,
    and ``sums_write`` and ``result`` come with the last one.  What is asked for is sampled
    `LOCAL_READ_LATENCY` later.  The elements of a step are int32; what was int16 is sign-extended
    and not scaled.  With NORMALIZE, both halves of a row are the same elements.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes``, ``parameter_rows`` and ``statistics_rows``.

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
    scales_in : ``Out(ParameterRead(config))``
        Reads scales of columns for the first scaler; never waits, like all reads.
    scales_out : ``Out(ParameterRead(config))``
        Reads scales of columns for the second scaler.
    gamma : ``Out(ParameterRead(config))``
        Reads factors of columns.
    beta : ``Out(ParameterRead(config))``
        Reads offsets of columns.
    facts : ``Out(RowRead(slot, RowFacts()))``
        Reads what was derived from a row's sums.
    sums : ``Out(RowRead(slot, RowSums()))``
        Reads the sums that a row goes on from.
    maximum_write : ``Out(MaximumWrite(config))``
        Sets a slot's maximum.
    sums_write : ``Out(SumsWrite(config))``
        Sets a slot's sums.
    result : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(32)).array(dim)``
        The result.
    """

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
    result: Signal
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.latency = 36 + (config.row_parts > 1)
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        slot = row_shape(config.statistics_rows)
        parameters = ParameterRead(config)
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
            "result": Out(1),
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
        gathering = self.config.row_parts > 1
        assert COMPUTED + scaler_out.latency + gathering == self.latency

        # What enters in parts stands until the last one.
        stages = Stages(m, self.start, 1, free=not gathering)
        control = LaneControl(m, stages, self.config, self.step)
        parts = control.parts
        m.d.sync += Assert(~self.start | parts.last, "a step while another one enters")
        control.find(largest)
        control.compute(scaler_in, polynomial, total)
        ends_row = control.end(polynomial, scaler_out)
        gathered = RowGatherer(m, self.config, scaler_out.valid, ends_row, scaler_out.elements)
        m.d.comb += [
            largest.kept.eq(stages.register(1, "kept", self.maximum)),
            polynomial.constants.eq(self.constants),
            self.maximum_write.eq(largest.write),
            self.sums_write.eq(total.write),
            self.result.eq(gathered.valid),
        ]
        row = list(self._biased(stages))
        for ports, elements in (
            (largest.elements, row),
            (scaler_in.row, parts.of(row)),
            (polynomial.row, scaler_in.elements),
            (total.elements, polynomial.counted),
            (total.squares, polynomial.squares),
            (scaler_out.row, polynomial.elements),
            (self.elements, gathered.row),
        ):
            m.d.comb += [port.eq(value) for port, value in zip(ports, elements, strict=True)]
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
