"""What a lane computes between its two scalers."""

from amaranth import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowRead, RowReadInterface
from celosia.hw.vector.affine import BETA_STAGE, GAMMA_STAGE, AffineHalf
from celosia.hw.vector.quadratic import Quadratic
from celosia.hw.vector.scaler import ELEMENT_BITS
from celosia.hw.vector.steps import LaneConstants, PolynomialRequest, RowFacts
from celosia.hw.vector.wide_product import WideProduct
from celosia.isa.config import AcceleratorConfig

__all__ = ["COUNTED_BITS", "SQUARE_BITS", "Polynomial"]

COUNTED_BITS = 17
"""Width of what counts in a sum, in bits, signed: an exponent or an int16."""
SQUARE_BITS = 31
SCORE_BITS = 16
INT16_BOUND = 1 << 15
FACTS_STAGE = 9
"""The stage in which a row's mean and reciprocal are read."""


class Polynomial(wiring.Component):
    """The modes of a step, exactly as `celosia.isa.numerics` defines them (see `Mode`).

    Latency is `LATENCY` cycles, and `SUM_LATENCY` to what counts in sums; throughput is one row per
    cycle, of any mode.  It cannot be stalled.  ``valid``
    lasts one cycle.

    The elements are int16, except with PASS and CONTEXT.  A HEADER is remembered until the next
    one, and what KEEP keeps until the next KEEP.

    With NORMALIZE, the lower and the upper half of the lanes have a kind and a shift each.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``parameter_rows`` and ``statistics_rows``.

    State
    -----
    The reference of exponents and the kept int16 of each lane.

    Members
    -------
    start : ``In(1)``
        There is a row in this cycle.
    request : ``In(PolynomialRequest(config))``
        What becomes of it.
    visible : ``In(dim)``
        Which elements have an exponent.
    row : ``In(signed(32)).array(dim)``
        Its elements.
    constants : ``In(LaneConstants())``
        Constants of exponents and GELU; they stand still while one is under way.
    facts : ``Out(RowRead(slot, RowFacts()))``
        Reads what is known of a row; never waits.
    gamma : ``Out(RowRead(row, elements))``
        Reads int16 factors of columns; never waits.
    beta : ``Out(RowRead(row, elements))``
        Reads offsets of columns; never waits.
    counted : ``Out(signed(17)).array(dim)``
        What counts in sums, `SUM_LATENCY` after the row.
    squares : ``Out(unsigned(31)).array(dim)``
        Their squares, in the same cycle; only of what is squared.
    valid : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(32)).array(dim)``
        The result.
    """

    LATENCY = 16
    SUM_LATENCY = 12

    start: Signal
    request: data.View
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
        dim = config.dim
        elements = signed(ELEMENT_BITS)
        parameters = RowRead(row_shape(config.parameter_rows), data.ArrayLayout(elements, dim))
        super().__init__({
            "start": In(1),
            "request": In(PolynomialRequest(config)),
            "visible": In(dim),
            "row": In(elements).array(dim),
            "constants": In(LaneConstants()),
            "facts": Out(RowRead(row_shape(config.statistics_rows), RowFacts())),
            "gamma": Out(parameters),
            "beta": Out(parameters),
            "counted": Out(signed(COUNTED_BITS)).array(dim),
            "squares": Out(unsigned(SQUARE_BITS)).array(dim),
            "valid": Out(1),
            "elements": Out(elements).array(dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.LATENCY)
        requests = stages.line("request", self.request)
        m.d.comb += self.valid.eq(stages.valid[-1])
        self._read_parameters(m, stages, requests)

        reference = self.row[0][:SCORE_BITS].as_signed()
        reference = stages.branch("header", self.request.header).register(1, "reference", reference)
        quadratic = Quadratic(stages, requests, self.visible, self.constants)
        product = WideProduct(stages, requests, self.facts.data, self.constants.exponent.unit)
        last = requests[12]
        normalized = stages.branch("normalized", self.request.flags.normalize)
        halves = []
        for name, shift, kind in (
            ("lower", last.shift, last.kind),
            ("upper", last.shift2, last.kind2),
        ):
            half = AffineHalf(stages.part(name), normalized.part(name), shift, kind)
            halves.append(half)
        keeping = stages.branch("keeping", self.request.keep)
        moving = stages.branch("moving", ~self.request.flags.exponential)
        for lane, row in enumerate(self.row):
            element = _element(keeping.part(lane), moving.part(lane), requests, row)
            score = row[:SCORE_BITS].as_signed()
            factor = quadratic.factor(lane, score, reference, element)
            result, square = product.result(lane, factor, element[8])
            m.d.comb += [self.counted[lane].eq(result), self.squares[lane].eq(square)]
            half = halves[2 * lane // self.config.dim]
            result = half.result(lane, result, self.gamma.data[lane], self.beta.data[lane])
            m.d.comb += self.elements[lane].eq(result)
        return m

    def _read_parameters(self, m: Module, stages: Stages, requests: Line) -> None:
        """Ask for what depends on the row or the column, so that it is there when needed."""
        asked = BETA_STAGE - 1 - LOCAL_READ_LATENCY
        beta_row = (requests[asked - 1].gamma_row + 1)[: len(self.beta.row)]
        beta_row = stages.register(asked, "beta_row", beta_row)
        for port, stage, needed, row in (
            (self.facts, FACTS_STAGE, "facts", "slot"),
            (self.gamma, GAMMA_STAGE, "normalize", "gamma_row"),
            (self.beta, BETA_STAGE, "normalize", beta_row),
        ):
            asked = stage - 1 - LOCAL_READ_LATENCY
            request = requests[asked]
            m.d.comb += [
                port.valid.eq(stages.valid[asked] & request.flags[needed]),
                port.row.eq(request[row] if isinstance(row, str) else row),
            ]


def _element(keeping: Stages, moving: Stages, requests: Line, row: Value) -> Line:
    """The element, `moving` if it has no exponent; what is added, in stages 1 and 2."""
    kept = keeping.register(1, "kept", row[:SCORE_BITS].as_signed())
    total = Mux(requests[0].add, row + kept, row)[:ELEMENT_BITS].as_signed()
    total = moving.register(1, "sum", total)
    low = requests[1].add & (total < -INT16_BOUND)
    high = requests[1].add & (total >= INT16_BOUND)
    saturated = Mux(low, -INT16_BOUND, Mux(high, INT16_BOUND - 1, total))
    element = moving.register(2, "element", saturated[:ELEMENT_BITS].as_signed())
    return moving.line("element", element, 2)
