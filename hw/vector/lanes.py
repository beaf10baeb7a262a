"""The lanes of the transform unit: from source rows to result rows, statistics aside."""

from collections.abc import Iterator
from typing import Annotated

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.hdl import Assert
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.lib.sleep import Sleeping
from celosia.hw.lib.stages import Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import ParameterRead, RowRead, RowReadInterface
from celosia.hw.vector.control import LaneControl
from celosia.hw.vector.modes import Mode
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.reduction import (
    MaximumReduction,
    MaximumWrite,
    RowSums,
    SumReduction,
    SumsWrite,
)
from celosia.hw.vector.scaler import ELEMENT_BITS, Scaler
from celosia.hw.vector.steps import LaneConstants, LaneStep, RowFacts
from celosia.isa.config import AcceleratorConfig

__all__ = ["Lanes"]


class Lanes(Sleeping):
    """Bias, scale, `Mode`, scale again: a row of int32 in, a row of int32 out.

    A row of ``dim`` elements is sampled at once, and enters in parts of ``vector_lanes`` elements,
    one part per cycle, up to the step's `last_part`; its results are gathered.  A step of MAXIMUM
    enters as a whole.  There is one scaler: a part that is not raw takes a turn of it before its
    mode, one with a result whose second scaling is not raw takes one behind it.

    Counted from the cycle of a step, whose mode begins in cycle c = 1, or 1 + `Scaler.LATENCY` if
    it is scaled first; its result is complete in cycle c + `Polynomial.LATENCY`, or so many more
    if it is scaled again:

    ========================  =================================================================
    cycle
    ========================  =================================================================
    0                         ``step``, ``row``, ``bias`` and ``maximum`` are sampled.
    2                         ``scales`` asks, for scales of columns before the mode.
    2 + log4(``dim``)         ``maximum_write``, at the end of a row with MAXIMUM.
    c                         ``facts`` asks, if the mode needs those of the row.
    c + 9, c + 11             ``gamma`` and ``beta`` ask, with NORMALIZE.
    c + 10 + log4(``lanes``)  ``sums`` asks, if a row begins that is counted and does not start
                              afresh.
    c + 13 + log4(``lanes``)  ``sums_write``, at the end of a row that is counted.
    c + 17                    ``scales`` asks, for scales of columns behind the mode.
    complete + 1              ``result``, if the step has one; ``elements`` stand until those
                              of another one are gathered.
    ========================  =================================================================

    Logarithms are rounded up, that of the lanes to 2 at least.  All this is of a step's first part;
    parts follow each other cycle by cycle, and ``sums_write`` and ``result`` come with the last
    one.  What is asked for is sampled `LOCAL_READ_LATENCY` later.  The elements of a step are
    int32; what was int16 is sign-extended and not scaled.  With NORMALIZE, both halves of a row are
    the same elements.

    Steps of any modes follow each other.  Nothing waits: whoever starts a step has room for its
    result, and starts it no earlier than the last part of the one before it enters, but in a later
    cycle.  No part of a step may overtake one before it, neither on the way to its mode nor as a
    result, and none may want the scaler in the same cycle as another one.  They sleep in cycles
    without `busy`.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes``, ``scale_bits``, ``parameter_rows`` and
        ``statistics_rows``.

    State
    -----
    The state of `Polynomial`, and the maximum and the sums of the row under way.

    Members
    -------
    busy : ``In(1)``
        There is a step, or a result to come.
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
    scales : ``Out(ParameterRead(config))``
        Reads scales of columns; never waits, like all reads.
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
    long : ``Out(1)``
        A column of the result has a scale of more than ``scale_bits``.
    """

    busy: Annotated[Signal, In(1)]
    start: Annotated[Signal, In(1)]
    step: data.View
    row: data.View
    bias: data.View
    maximum: Annotated[Signal, In(signed(ELEMENT_BITS))]
    constants: Annotated[data.View, In(LaneConstants())]
    scales: RowReadInterface
    gamma: RowReadInterface
    beta: RowReadInterface
    facts: RowReadInterface
    sums: RowReadInterface
    maximum_write: data.View
    sums_write: data.View
    result: Annotated[Signal, Out(1)]
    elements: list[Signal]
    long: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        slot = row_shape(config.statistics_rows)
        parameters = ParameterRead(config)
        super().__init__({
            "step": In(LaneStep(config)),
            "row": In(elements),
            "bias": In(elements),
            "scales": Out(parameters),
            "gamma": Out(parameters),
            "beta": Out(parameters),
            "facts": Out(RowRead(slot, RowFacts())),
            "sums": Out(RowRead(slot, RowSums())),
            "maximum_write": Out(MaximumWrite(config)),
            "sums_write": Out(SumsWrite(config)),
            "elements": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def build(self, m: Module, outer: Module) -> Value:
        m.submodules.maximum = largest = MaximumReduction(self.config)
        m.submodules.scaler = scaler = Scaler(self.config)
        m.submodules.polynomial = polynomial = Polynomial(self.config)
        m.submodules.total = total = SumReduction(self.config)

        # What enters in parts stands until the last one.
        stages = Stages(m, self.start, 1, free=self.config.row_parts == 1)
        control = LaneControl(m, stages, self.config, self.step)
        parts = control.parts
        m.d.sync += Assert(~self.start | parts.last, "a step while another one enters")
        control.find(largest)
        row = list(self._biased(stages))
        control.compute(row, scaler, polynomial, total)
        gathered = control.end(polynomial, scaler)
        m.d.comb += [
            largest.kept.eq(stages.register(1, "kept", self.maximum)),
            polynomial.constants.eq(self.constants),
            self.maximum_write.eq(largest.write),
            self.sums_write.eq(total.write),
            self.result.eq(gathered.valid),
            self.long.eq(gathered.marked),
        ]
        for ports, elements in (
            (largest.elements, row),
            (total.elements, polynomial.counted),
            (total.squares, polynomial.squares),
            (self.elements, gathered.row),
        ):
            m.d.comb += [port.eq(value) for port, value in zip(ports, elements, strict=True)]
        for port, inner in (
            (self.scales, scaler.scales),
            (self.gamma, polynomial.gamma),
            (self.beta, polynomial.beta),
            (self.facts, polynomial.facts),
            (self.sums, total.kept),
        ):
            connect(m, flipped(port), inner)
        return self.busy

    def _biased(self, stages: Stages) -> Iterator[Value]:
        """Stage 1: the elements plus their bias, or the slot's maximum."""
        header = self.step.mode == Mode.HEADER
        for lane in range(self.config.dim):
            # The first part enters at once.
            register = stages.passing if lane < self.config.lanes else stages.register
            total = self.row[lane] + Mux(self.step.biased, self.bias[lane], 0)
            total = Mux(header, self.maximum, total)[:ELEMENT_BITS].as_signed()
            yield register(1, f"element_{lane}", total)
