"""The transposer: rows of a tile go in, its columns come out."""

from typing import Annotated

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.isa.config import AcceleratorConfig

__all__ = ["Transposer"]


class Transposer(Component):
    """A dim x dim array of bytes that shifts either down or left.

    A tile is shifted in row by row in one direction and leaves column by column in the other, while
    the next tile may be shifted in: one array sustains a row in and a row out per cycle.  ``o`` is
    combinational: in the k-th shift after a turn (k from 0) it is column k of the tile that was
    shifted in before the turn.  Moves only with ``shift``; an idle array costs one branch.

    With ``dim`` 4, the tile A shifted in downwards, and then the first row of B to the left::

        A30 A31 A32 A33          A31 A32 A33 B03
        A20 A21 A22 A23    ->    A21 A22 A23 B02     o = A00 A10 A20 A30
        A10 A11 A12 A13          A11 A12 A13 B01
        A00 A01 A02 A03          A01 A02 A03 B00

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    i : ``In(ArrayLayout(unsigned(8), dim))``
        The row to shift in.
    shift : ``In(1)``
        Shift now.
    left : ``In(1)``
        Direction of the shift: left or down.  Changes only after ``dim`` shifts.
    o : ``Out(ArrayLayout(unsigned(8), dim))``
        The column that this shift pushes out.
    """

    i: data.View
    shift: Annotated[Signal, In(1)]
    left: Annotated[Signal, In(1)]
    o: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        row = data.ArrayLayout(unsigned(8), config.dim)
        super().__init__({
            "i": In(row),
            "o": Out(row),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        dim, last = self.config.dim, self.config.dim - 1
        cell = [
            [Signal(8, name=f"cell_{row}_{col}", reset_less=True) for col in range(dim)]
            for row in range(dim)
        ]
        with m.If(self.shift):
            for row in range(dim):
                for col in range(dim):
                    from_right = cell[row][col + 1] if col < last else self.i[last - row]
                    from_above = cell[row - 1][col] if row else self.i[col]
                    m.d.sync += cell[row][col].eq(Mux(self.left, from_right, from_above))
        m.d.comb += [
            self.o[n].eq(Mux(self.left, cell[last - n][0], cell[last][n])) for n in range(dim)
        ]
        return m
