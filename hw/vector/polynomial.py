"""What a lane computes between its two scalers, in stages.

========  =========================================================================================
stages    file
========  =========================================================================================
1, 2      `element`: x, alone or with what was kept of an earlier row.
1 to 8    `quadratic`: a curve of it, the first factor of most products.
8 to 12   `wide_product`: two factors are chosen, multiplied by halves (9), added (10), rounded (11)
          and cut (12).
8 to 11   `sigmoid`: SiLU's table, by the same product.
12 to 16  `affine`: two factors are chosen, multiplied (13), added to (14), shifted and saturated.
========  =========================================================================================

What each mode does in them is the table of `modes`.
"""

from typing import Annotated

from amaranth import Module, Signal, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import (
    LOCAL_READ_LATENCY,
    ParameterRead,
    RowRead,
    RowReadInterface,
)
from celosia.hw.vector.affine import BETA_STAGE, GAMMA_STAGE, Affines
from celosia.hw.vector.element import Elements
from celosia.hw.vector.modes import Element, ModeBits, Times, bits_of, chooses
from celosia.hw.vector.parts import parameter_part, part_shape
from celosia.hw.vector.quadratic import Quadratic
from celosia.hw.vector.scaler import ELEMENT_BITS
from celosia.hw.vector.sigmoid import Sigmoid
from celosia.hw.vector.steps import LaneConstants, PolynomialRequest, RowFacts
from celosia.hw.vector.wide_product import WideProduct
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import SCORE_BITS

__all__ = ["COUNTED_BITS", "SQUARE_BITS", "Polynomial"]

COUNTED_BITS = 17
"""Width of what counts in a sum, in bits, signed: an exponent or an int16."""
SQUARE_BITS = 31
HALF_BITS = 16
"""Width of half an element, whose upper one may be what was kept, in bits."""
FACTS_STAGE = 3
"""The stage in which a row's mean and reciprocal are read."""


class Polynomial(Component):
    """The modes of a step, exactly as `celosia.isa.numerics` defines them (see `Mode`).

    Latency is `LATENCY` cycles, and `SUM_LATENCY` to what counts in sums; throughput is one part of
    a row per cycle, of any mode.  It cannot be stalled.  ``valid`` lasts one cycle.

    The elements are int16, except with PASS and CONTEXT; scores have `SCORE_BITS`.  A HEADER is
    remembered until the next one, what KEEP keeps until the next KEEP, and the product of MULTIPLY
    until the next MULTIPLY.

    With NORMALIZE, the lower and the upper half of a row have a kind and a shift each.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes``, ``parameter_rows`` and ``statistics_rows``.

    State
    -----
    The reference of exponents, a row of int16 and a row of products that are kept.

    Members
    -------
    start : ``In(1)``
        There is a part in this cycle.
    request : ``In(PolynomialRequest(config))``
        What becomes of it.
    part : ``In(unsigned(n))``
        The number of the part, of its row.
    visible : ``In(lanes)``
        Which elements have an exponent.
    row : ``In(signed(32)).array(lanes)``
        Its elements.
    constants : ``In(LaneConstants())``
        Constants of exponents, which SiLU has as well, and GELU; they stand still while one is
        under way.
    facts : ``Out(RowRead(slot, RowFacts()))``
        Reads what is known of a row; never waits.
    gamma : ``Out(ParameterRead(config))``
        Reads int16 factors of columns; never waits.
    beta : ``Out(ParameterRead(config))``
        Reads offsets of columns; never waits.
    counted : ``Out(signed(17)).array(lanes)``
        What counts in sums, `SUM_LATENCY` after the part.
    squares : ``Out(unsigned(31)).array(lanes)``
        Their squares, in the same cycle; only of what is squared.
    valid : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(32)).array(lanes)``
        The result.
    """

    LATENCY = 16
    SUM_LATENCY = 12

    start: Annotated[Signal, In(1)]
    request: data.View
    part: Signal
    visible: Signal
    row: list[Signal]
    constants: Annotated[data.View, In(LaneConstants())]
    facts: RowReadInterface
    gamma: RowReadInterface
    beta: RowReadInterface
    counted: list[Signal]
    squares: list[Signal]
    valid: Annotated[Signal, Out(1)]
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        lanes, elements = config.lanes, signed(ELEMENT_BITS)
        super().__init__({
            "request": In(PolynomialRequest(config)),
            "part": In(part_shape(config)),
            "visible": In(lanes),
            "row": In(elements).array(lanes),
            "facts": Out(RowRead(row_shape(config.statistics_rows), RowFacts())),
            "gamma": Out(ParameterRead(config)),
            "beta": Out(ParameterRead(config)),
            "counted": Out(signed(COUNTED_BITS)).array(lanes),
            "squares": Out(unsigned(SQUARE_BITS)).array(lanes),
            "elements": Out(elements).array(lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        config = self.config
        stages = Stages(m, self.start, self.LATENCY, free=True)
        requests = stages.line("request", self.request)
        bits = Signal(ModeBits())
        controls = stages.line("controls", bits)
        parts = stages.line("part", self.part)
        m.d.comb += [self.valid.eq(stages.valid[-1]), bits.eq(bits_of(self.request.mode))]
        self._read_parameters(m, stages, requests, controls, parts)

        scores = [row[:SCORE_BITS].as_signed() for row in self.row]
        headers = stages.branch("header", chooses(self.request.mode, Element.REFERENCE))
        reference = headers.held(1, "reference", scores[0])
        facts = self.facts.data
        mean = stages.line("mean", facts.mean, FACTS_STAGE - 1)
        reciprocal = stages.line("reciprocal", facts.reciprocal, FACTS_STAGE - 1)

        elements = Elements(stages, controls, self.request.mode, self.part, config)
        quadratic = Quadratic(stages, controls, self.visible, self.constants, reciprocal)
        known, unit = (mean[7], reciprocal[7]), self.constants.exponent.unit
        product = WideProduct(stages, controls, requests, known, unit, config)
        sigmoid = Sigmoid(stages)
        affines = Affines(stages, controls, requests, parts, config)
        for lane, (row, score) in enumerate(zip(self.row, scores, strict=True)):
            element = elements.line(lane, row)
            factor, rest = quadratic.factor(lane, score, reference, element)
            own = stages.part(lane)
            carried = own.line("carried", own.register(8, "carried", rest), 8)
            halves = product.halves(lane, factor, rest, sigmoid.operands(factor))
            share = sigmoid.factor(lane, factor, halves[0], carried)
            result, normalized, square = product.rounded(lane, halves, carried)
            kept = carried[11][HALF_BITS:].as_signed()
            lefts = {
                Times.GAMMA: normalized, Times.SIGMOID: share,
                Times.KEPT: kept, Times.LESS: -kept,
            }  # fmt: skip
            factors = affines.factors(lane, result, lefts, self.gamma.data[lane])
            m.d.comb += [
                self.counted[lane].eq(factors[1]),
                self.squares[lane].eq(square),
                self.elements[lane].eq(affines.result(lane, factors, self.beta.data[lane])),
            ]
        return m

    def _read_parameters(
        self, m: Module, stages: Stages, requests: Line, controls: Line, parts: Line
    ) -> None:
        """Ask for what depends on the row or the column, so that it is there when needed."""
        asked = FACTS_STAGE - 1 - LOCAL_READ_LATENCY
        m.d.comb += [
            self.facts.valid.eq(stages.valid[asked] & controls[asked].right.reciprocal),
            self.facts.row.eq(requests[asked].slot),
        ]
        gamma, beta = (stage - 1 - LOCAL_READ_LATENCY for stage in (GAMMA_STAGE, BETA_STAGE))
        row_before = requests[beta - 1].gamma_row
        beta_row = stages.register(beta, "beta_row", (row_before + 1)[: len(row_before)])
        for port, asked, row in (
            (self.gamma, gamma, requests[gamma].gamma_row),
            (self.beta, beta, beta_row),
        ):
            m.d.comb += [
                port.valid.eq(stages.valid[asked] & controls[asked].plus.beta),
                port.row.eq(parameter_part(self.config, row, parts[asked])),
            ]
