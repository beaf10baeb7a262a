"""What a lane computes between its two scalers."""

from amaranth import Array, Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import (
    LOCAL_READ_LATENCY,
    ParameterRead,
    RowRead,
    RowReadInterface,
)
from celosia.hw.vector.affine import BETA_STAGE, AffineHalf
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
"""Width of an int16, or of half an element."""
INT16_BOUND = 1 << 15
NORMALIZED_BITS = 18
GAMMA_STAGE = 13
"""The stage in which gammas are read, and multiply; so do sigmoids and what was kept."""
PRODUCT_BITS = 32
SCALED_BITS = NORMALIZED_BITS + HALF_BITS
FACTS_STAGE = 3
"""The stage in which a row's mean and reciprocal are read."""


class Polynomial(wiring.Component):
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

    start: Signal
    request: data.View
    part: Signal
    visible: Signal
    row: list[Signal]
    constants: data.View
    facts: RowReadInterface
    gamma: RowReadInterface
    beta: RowReadInterface
    counted: list[Signal]
    squares: list[Signal]
    valid: Signal
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        lanes, elements = config.lanes, signed(ELEMENT_BITS)
        super().__init__({
            "start": In(1),
            "request": In(PolynomialRequest(config)),
            "part": In(part_shape(config)),
            "visible": In(lanes),
            "row": In(elements).array(lanes),
            "constants": In(LaneConstants()),
            "facts": Out(RowRead(row_shape(config.statistics_rows), RowFacts())),
            "gamma": Out(ParameterRead(config)),
            "beta": Out(ParameterRead(config)),
            "counted": Out(signed(COUNTED_BITS)).array(lanes),
            "squares": Out(unsigned(SQUARE_BITS)).array(lanes),
            "valid": Out(1),
            "elements": Out(elements).array(lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.LATENCY, free=True)
        requests = stages.line("request", self.request)
        m.d.comb += self.valid.eq(stages.valid[-1])
        parts = stages.line("part", self.part)
        self._read_parameters(m, stages, requests, parts)

        reference = self.row[0][:SCORE_BITS].as_signed()
        reference = stages.branch("header", self.request.header).held(1, "reference", reference)
        mean = stages.line("mean", self.facts.data.mean, FACTS_STAGE - 1)
        reciprocal = stages.line("reciprocal", self.facts.data.reciprocal, FACTS_STAGE - 1)
        quadratic = Quadratic(stages, requests, self.visible, self.constants, reciprocal)
        unit = self.constants.exponent.unit
        product = WideProduct(stages, requests, mean[8], reciprocal[8], unit)
        sigmoid = Sigmoid(stages.branch("sigmoid", self.request.flags.sigmoid))
        halves = self._halves(stages, requests, parts)
        keeping = [
            stages.branch(f"keeping_{number}", self.request.keep & (self.part == number))
            for number in range(self.config.row_parts)
        ]
        flags = self.request.flags
        producing = [
            stages.branch(f"producing_{number}", flags.kept & ~flags.paired & (self.part == number))
            for number in range(self.config.row_parts)
        ]
        moving = stages.branch("moving", ~self.request.flags.exponential)
        for lane, row in enumerate(self.row):
            kept = Array(_kept(each.part(lane), row) for each in keeping)[self.part]
            element = _element(moving.part(lane), requests, row, kept)
            score = row[:SCORE_BITS].as_signed()
            factor, upper = quadratic.factor(lane, score, reference, element)
            # Stage 8: the upper product takes the place of the context's element.
            carried = Mux(requests[7].flags.context, upper, element[7])[:ELEMENT_BITS].as_signed()
            carried = moving.part(lane).register(8, "carried", carried)
            others = sigmoid.operands(factor)
            result, square, fall = product.result(lane, factor, carried, others)
            m.d.comb += [self.counted[lane].eq(result), self.squares[lane].eq(square)]

            # Stage 13: what is normalized times gamma, or the sigmoid or what was kept times the
            # element.
            at, sigma = requests[12].flags, sigmoid.factor(lane, factor, carried[-1], fall)
            kept = result[HALF_BITS:].as_signed()
            kept = Mux(at.less, ~kept, kept)
            left = Mux(at.sigmoid, sigma, Mux(at.kept, kept, result[:NORMALIZED_BITS].as_signed()))
            left = left[:NORMALIZED_BITS].as_signed()
            right = Mux(at.sigmoid | at.kept, result, self.gamma.data[lane])
            right = right[:HALF_BITS].as_signed()
            scales = at.normalize | at.sigmoid | at.kept
            # Less a product is (~kept + 1) * element.
            times = (left * right + Mux(at.less, right, 0))[:SCALED_BITS].as_signed()
            scaled = Mux(scales, times, result)
            scaled = stages.part(lane).register(GAMMA_STAGE, "scaled", scaled)

            half = halves[lane * len(halves) // self.config.lanes]
            products = Array(_product(each.part(lane), scaled) for each in producing)
            paired = requests[GAMMA_STAGE].flags.paired
            beta = Mux(paired, products[parts[GAMMA_STAGE]], self.beta.data[lane])
            m.d.comb += self.elements[lane].eq(half.result(lane, scaled, beta))
        return m

    def _halves(self, stages: Stages, requests: Line, parts: Line) -> list[AffineHalf]:
        """What lanes share: both halves of them, or all if a part is within one half of a row."""
        last = requests[12]
        lower, upper = (last.shift, last.kind), (last.shift2, last.kind2)
        shared = {"lower": lower, "upper": upper}
        if self.config.row_parts > 1:
            chosen = [Mux(parts[12][-1], high, low) for low, high in zip(lower, upper, strict=True)]
            shared = {"both": chosen}
        flags = last.flags
        normalize = stages.line("normalize", flags.normalize | flags.paired, 12)
        return [
            AffineHalf(stages.part(name), normalize, shift, kind)
            for name, (shift, kind) in shared.items()
        ]

    def _read_parameters(self, m: Module, stages: Stages, requests: Line, parts: Line) -> None:
        """Ask for what depends on the row or the column, so that it is there when needed."""
        asked = BETA_STAGE - 1 - LOCAL_READ_LATENCY
        gamma_row = requests[asked - 1].gamma_row
        beta_row = stages.register(asked, "beta_row", (gamma_row + 1)[: len(gamma_row)])
        for port, stage, needed, row in (
            (self.facts, FACTS_STAGE, "facts", None),
            (self.gamma, GAMMA_STAGE, "normalize", gamma_row),
            (self.beta, BETA_STAGE, "normalize", beta_row),
        ):
            asked = stage - 1 - LOCAL_READ_LATENCY
            request = requests[asked]
            read = request.slot if row is None else parameter_part(self.config, row, parts[asked])
            m.d.comb += [
                port.valid.eq(stages.valid[asked] & request.flags[needed]),
                port.row.eq(read),
            ]


def _kept(keeping: Stages, row: Value) -> Value:
    """What the same part of the next row is added to, or multiplied by."""
    return keeping.held(1, "kept", row[:HALF_BITS].as_signed())


def _product(producing: Stages, scaled: Value) -> Value:
    """What the product of the same part of a later row is added to, or taken from."""
    return producing.held(BETA_STAGE, "product", scaled[:PRODUCT_BITS].as_signed())


def _element(moving: Stages, requests: Line, row: Value, kept: Value) -> Line:
    """The element, `moving` if it has no exponent; `kept` is added in stages 1 and 2.

    If it is to be multiplied by what was kept, that takes the place of its upper half.
    """
    total = Mux(requests[0].add, row + kept, row)[:ELEMENT_BITS]
    total = Mux(requests[0].flags.kept, Cat(row[:HALF_BITS], kept), total).as_signed()
    total = moving.register(1, "sum", total)
    low = requests[1].add & (total < -INT16_BOUND)
    high = requests[1].add & (total >= INT16_BOUND)
    saturated = Mux(low, -INT16_BOUND, Mux(high, INT16_BOUND - 1, total))
    element = moving.register(2, "element", saturated[:ELEMENT_BITS].as_signed())
    return moving.line("element", element, 2)
