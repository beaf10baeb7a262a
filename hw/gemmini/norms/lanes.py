"""Rows of the accumulator on their way to the scale: what their elements become."""

from typing import Annotated

from amaranth import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, enum
from amaranth.lib.wiring import In, Out

from celosia.hw.gemmini.norms.op import CONSTANTS
from celosia.hw.lib.component import Component
from celosia.hw.vector.requantizer import RequantizeRequest
from celosia.isa.config import AcceleratorConfig

__all__ = ["BertLanes", "Curve"]

WORD_BITS = 32
FRACTION_BITS = 16
"""Fraction bits of ``-q * ln2_inverse``."""
PLACES_BITS = 5


class Curve(enum.Enum, shape=2):
    """What an element becomes, after an offset is taken from it."""

    LINEAR = 0
    SQUARE = 1
    GELU = 2
    EXPONENTIAL = 3


class BertLanes(Component):
    """Adds the bias, takes an offset away, and follows a curve; all sums and products wrap.

    A row that comes with ``request`` leaves `LATENCY` cycles later, one per cycle, with a request
    for the `Requantizer` that has neither a bias nor bytes left to it.  The curves are
    `celosia.isa.numerics.wrapped_gelu`, `wrapped_exponential` and the square.  ``curve``,
    ``offset`` and ``constants`` must stand while a row is inside for which they are not LINEAR and
    0.  A stage without a row, or with nothing to do, costs a simulator one branch.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    curve : ``In(Curve)``
        Curve of the rows inside.
    offset : ``In(signed(32))``
        What is taken from the elements of the rows inside.
    constants : ``In(CONSTANTS)``
        Constants of the curve.
    request : ``In(RequantizeRequest())``
        What to do with the row that is there.
    row : ``In(ArrayLayout(signed(32), dim))``
        The row.
    bias : ``In(ArrayLayout(signed(32), dim))``
        What to add to it.
    bytes : ``In(ArrayLayout(unsigned(8), dim))``
        The row, if it stays as it is.
    next_request : ``Out(RequantizeRequest())``
        The request of `LATENCY` cycles ago.
    next_row : ``Out(ArrayLayout(signed(32), dim))``
        Its row.
    """

    LATENCY = 6

    curve: Annotated[Signal, In(Curve)]
    offset: Annotated[Signal, In(signed(WORD_BITS))]
    constants: Annotated[data.View, In(CONSTANTS)]
    request: Annotated[data.View, In(RequantizeRequest())]
    row: data.View
    bias: data.View
    bytes: data.View
    next_request: Annotated[data.View, Out(RequantizeRequest())]
    next_row: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        words = data.ArrayLayout(signed(WORD_BITS), config.dim)
        super().__init__({
            "row": In(words),
            "bias": In(words),
            "bytes": In(data.ArrayLayout(unsigned(8), config.dim)),
            "next_row": Out(words),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        valid = self._accompany(m)
        for lane in range(self.config.dim):
            self._lane(m, lane, valid)
        return m

    def _accompany(self, m: Module) -> list[Value]:
        """The requests; returns whether each stage has a row."""
        request, valid = self.request, [self.request.valid]
        for stage in range(1, self.LATENCY + 1):
            kept = Signal(RequantizeRequest(), name=f"s{stage}_request")
            m.d.sync += kept.valid.eq(request.valid)
            with m.If(request.valid):
                m.d.sync += [
                    kept.raw.eq(request.raw | request.as_it_is),
                    kept.relu.eq(request.relu),
                    kept.scale.eq(request.scale),
                ]
            request = kept
            valid.append(kept.valid)
        m.d.comb += self.next_request.eq(request)
        return valid

    def _lane(self, m: Module, lane: int, valid: list[Value]) -> None:
        constants, curved = self.constants, self.curve != Curve.LINEAR
        gelu, exponential = self.curve == Curve.GELU, self.curve == Curve.EXPONENTIAL

        def register(stage: int, name: str, value: Value, enable: Value | int = 1) -> Signal:
            kept = Signal(signed(WORD_BITS), name=f"s{stage}_{name}_{lane}", reset_less=True)
            with m.If(valid[stage - 1] & enable):
                m.d.sync += kept.eq(value)
            return kept

        # Stage 1: the sum, or the byte.
        total = self.row[lane] + Mux(self.request.biased, self.bias[lane], 0)
        byte = self.bytes[lane].as_signed()
        x = register(1, "x", Mux(self.request.as_it_is, byte, total))

        # Stage 2: without the offset; the magnitude for GELU.
        u = register(2, "u", x - self.offset)
        size = register(2, "size", Mux(x < 0, -x, x), gelu)

        # Stage 3: what the curve begins with, and how often ln 2 is in it.
        least = (-constants.qb)[:WORD_BITS].as_signed()
        start = Mux(gelu, Mux(size < least, size, least), u)
        q = register(3, "q", start, curved)
        product = ((-u)[:WORD_BITS] * constants.ln2_inverse)[:WORD_BITS].as_signed()
        places = register(3, "places", product >> FRACTION_BITS, exponential)
        u = register(3, "u", u)

        # Stage 4: the number to be squared.
        whole = Mux(exponential, (places.as_unsigned() * constants.ln2)[:WORD_BITS], 0)
        added = Mux(self.curve == Curve.SQUARE, 0, constants.qb)
        base = register(4, "base", (q.as_unsigned() + whole + added)[:WORD_BITS], curved)
        places = register(4, "places", places, exponential)
        u = register(4, "u", u)

        # Stage 5: its square.
        square = (base.as_unsigned() * base.as_unsigned())[:WORD_BITS]
        added = Mux(self.curve == Curve.SQUARE, 0, constants.qc)
        square = register(5, "square", (square + added)[:WORD_BITS], curved)
        places = register(5, "places", places, exponential)
        u = register(5, "u", u)

        # Stage 6: the curve.
        slope = (Mux(u < 0, -square, square)[:WORD_BITS] + constants.qc)[:WORD_BITS]
        raised = (u.as_unsigned() * slope)[:WORD_BITS]
        most = (1 << PLACES_BITS) - 1
        shift = Mux(places < 0, 0, Mux(places > most, most, places))[:PLACES_BITS]
        result = Signal(signed(WORD_BITS), name=f"result_{lane}")
        with m.Switch(self.curve):
            with m.Case(Curve.LINEAR):
                m.d.comb += result.eq(u)
            with m.Case(Curve.SQUARE):
                m.d.comb += result.eq(square)
            with m.Case(Curve.GELU):
                m.d.comb += result.eq(raised)
            with m.Case(Curve.EXPONENTIAL):
                m.d.comb += result.eq(square >> shift)
        m.d.comb += self.next_row[lane].eq(register(6, "y", result))
