"""The systolic array."""

from collections.abc import Iterator
from typing import Annotated

from amaranth import Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.execute.shadow import ELEMENT_BITS, PAIR_BITS, paired_rows, plain_rows
from celosia.hw.execute.skew import staggered
from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import delay, tapped_delay
from celosia.isa.config import AcceleratorConfig

__all__ = ["ACTIVATION", "WEIGHT", "Mesh", "mesh_latency"]

ACTIVATION = signed(9)
"""An element of A: int8 or uint8."""

WEIGHT = signed(ELEMENT_BITS)


def mesh_latency(config: AcceleratorConfig) -> int:
    """Cycles from a row of A at the mesh to its row of sums."""
    return 2 * config.dim - 1


class Mesh(Component):
    """A weight-stationary array of ``dim`` x ``dim`` multiply-accumulate cells.

    Activations enter at the left, one row of A per cycle, and move right; partial sums move down.
    Skewing at the inputs and aligning at the outputs happen inside: ``sums`` is A*W for the row
    that was on ``a`` exactly `mesh_latency` = 2*dim - 1 cycles ago, one row per cycle.  Nothing
    stalls and nothing is reset: what enters without meaning comes out without meaning.

    Each cell has an active and a shadow weight.  The shadow weights of array row r are taken from
    ``weights`` r cycles after ``weights_start``: rows 0 to dim - 1 arrive in consecutive cycles,
    without a pause.  ``swap`` moves shadow to active, along with the row that enters one cycle
    *after* it: it moves through the array at the speed of the data.  Rules for the sender:

    * ``swap`` comes at least one cycle after ``weights_start`` (its row two cycles after);
    * the next ``weights_start`` comes at least dim - 1 cycles after ``swap``.

    So, with 16 rows of A per tile at dim = 16, weights move in without a lost cycle.

    With ``int4_pairs`` a tile may come in pairs of lines: row r on ``weights`` and row dim/2 + r on
    ``second``, r cycles after ``weights_start``, and ``pair`` is set with each of them.  Then dim/2
    - 1 cycles after ``swap`` are enough for its ``weights_start``, so that a tile takes dim/2
    cycles: `paired_rows` says how.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    a : ``In(ArrayLayout(unsigned(8), dim))``
        A row of A.
    a_unsigned : ``In(1)``
        Its elements are uint8, not int8.
    weights : ``In(ArrayLayout(WEIGHT, dim))``
        A row of weights.
    weights_start : ``In(1)``
        ``weights`` is row 0 of a tile.
    second : ``In(ArrayLayout(unsigned(4), dim))``
        With ``int4_pairs``: the row of int4 weights dim/2 behind that on ``weights``.
    pair : ``In(1)``
        With ``int4_pairs``: both rows enter.
    swap : ``In(1)``
        The row of A in the next cycle is the first one for the weights that were moved in.
    sums : ``Out(signed(partial_sum_bits)).array(dim)``
        A row of the product, exact.
    """

    a: data.View
    a_unsigned: Annotated[Signal, In(1)]
    weights: data.View
    weights_start: Annotated[Signal, In(1)]
    second: data.View
    pair: Signal
    swap: Annotated[Signal, In(1)]
    sums: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        second = data.ArrayLayout(unsigned(PAIR_BITS), config.dim)
        pairs = {"second": In(second), "pair": In(1)}
        super().__init__({
            "a": In(data.ArrayLayout(unsigned(ELEMENT_BITS), config.dim)),
            "weights": In(data.ArrayLayout(WEIGHT, config.dim)),
            **(pairs if config.int4_pairs else {}),
            "sums": Out(signed(config.partial_sum_bits)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        dim = self.config.dim
        shadows = self._shadows(m)
        swap = tapped_delay(m, self.swap, 2 * dim - 1, name="swap")
        row_unsigned = tapped_delay(m, self.a_unsigned, dim, name="unsigned")

        above_first = Const(0, signed(self.config.partial_sum_bits))
        sums: list[Value] = [above_first] * dim
        # Row r is r cycles late: the last of them in a register of its own, for its sign.
        skewed = [self.a[0], *staggered(m, [self.a[row] for row in range(1, dim)], name="skew")]
        # Data reach the cell (row, col) row + col cycles after the cell (0, 0), and so does `swap`.
        # A sign is wanted a cycle before its element enters; in row 0, which has no register, then.
        for row, (element, shadow) in enumerate(zip(skewed, shadows, strict=True)):
            widened = Mux(row_unsigned[max(row - 1, 0)], element, element.as_signed())
            activation = delay(m, widened, row != 0, name=f"enters_{row}")
            for col in range(dim):
                activation, sums[col] = self._cell(
                    m, f"{row}_{col}", activation, sums[col], shadow[col], swap[row + col]
                )
        aligned = staggered(m, [below.as_unsigned() for below in sums[::-1]], name="align")
        for out, column in zip(reversed(self.sums), aligned, strict=True):
            m.d.comb += out.eq(column)
        return m

    def _shadows(self, m: Module) -> Iterator[list[Value]]:
        """The shadow weights of all rows."""
        weights, start, dim = self.weights.as_value(), self.weights_start, self.config.dim
        if not self.config.int4_pairs:
            return plain_rows(m, weights, start, dim)
        return paired_rows(m, weights, self.second.as_value(), start, self.pair, dim)

    def _cell(
        self, m: Module, name: str, activation: Value, above: Value, shadow: Value, swap: Value
    ) -> tuple[Value, Value]:
        """One multiply-accumulate cell; returns what it hands to its right and lower neighbors."""
        weight = Signal(WEIGHT, name=f"weight_{name}", reset_less=True)
        right = Signal(ACTIVATION, name=f"activation_{name}", reset_less=True)
        below = Signal(signed(self.config.partial_sum_bits), name=f"sum_{name}", reset_less=True)
        with m.If(swap):
            m.d.sync += weight.eq(shadow)
        m.d.sync += [right.eq(activation), below.eq(above + activation * weight)]
        return right, below
