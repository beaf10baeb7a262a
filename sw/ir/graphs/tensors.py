"""Integer matrices by name, and rectangles of them: what operators of a graph read and write."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.isa.encoding import WeightType

__all__ = ["ELEMENT_BYTES", "MAX_EXTENT", "TYPES", "Scale", "Tensor", "View"]

ELEMENT_BYTES: Final = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "float32": 4}
"""The size of an element of each type; float32 is for scales alone."""
TYPES: Final = tuple(ELEMENT_BYTES)
"""Element types."""
MAX_EXTENT: Final = 1 << 24
"""The most rows or columns: every stride in bytes stays below 2^32."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A matrix by name."""

    name: str
    type: str
    """One of `TYPES`."""
    rows: int
    cols: int
    step: float | None = None
    """What 1 stands for; None: nothing, or not the same in each column."""
    zero_point: int = 0
    """The element that stands for 0."""
    cache: bool = False
    """An input whose elements operators may overwrite once, each before anything reads it."""
    scratch: bool = False
    """Memory of a program's own, which no operator knows: its elements are stored again as soon as
    what was there has been loaded."""
    packing: WeightType = WeightType.INT8
    """The weights of a product that is a constant: what type they have in memory and on the chip.
    Lines of a tile then share rows, so that memory has fewer rows than there are in `rows`."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.cols

    @property
    def element_bytes(self) -> int:
        """Size of an element."""
        return ELEMENT_BYTES[self.type]

    @property
    def row_bytes(self) -> int:
        """Bytes from one row in memory to the next."""
        return self.cols * self.element_bytes

    @property
    def bytes(self) -> int:
        """Size of a dense copy in memory."""
        return self.rows_of(self.rows) * self.row_bytes

    def offset(self, view: "View") -> int:
        """Bytes from the tensor's first element to that of a `view` of it."""
        return self.rows_of(view.row) * self.row_bytes + view.col * self.element_bytes

    def rows_of(self, lines: int) -> int:
        """Rows of memory, or of a local memory, that so many rows of whole tiles have."""
        return -(-lines // self.packing.per_byte)

    def view(self) -> "View":
        """A view of the whole tensor."""
        return View(self.name, 0, 0, self.rows, self.cols)

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.type}[{self.rows}x{self.cols}]"]
        parts += [] if self.step is None else [f"step {np.float32(self.step)!s}"]
        parts += [f"zero point {self.zero_point}"] * bool(self.zero_point)
        parts += ["cache"] * self.cache
        parts += [self.packing.name.lower()] * (self.packing is not WeightType.INT8)
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class View:
    """A rectangle of a tensor."""

    tensor: str
    row: int
    col: int
    rows: int
    cols: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.cols

    def part(
        self,
        *,
        row: int = 0,
        rows: int | None = None,
        col: int = 0,
        cols: int | None = None,
        transposed: bool = False,
    ) -> "View":
        """A rectangle of this one; whole rows and columns unless told otherwise.

        Where this one is a matrix `transposed`, its columns are rows of that, and its rows columns.
        """
        if transposed:
            row, rows, col, cols = col, cols, row, rows
        return View(
            self.tensor,
            self.row + row,
            self.col + col,
            self.rows - row if rows is None else rows,
            self.cols - col if cols is None else cols,
        )

    def meets(self, other: "View") -> bool:
        """Whether the two have an element in common."""
        return (
            self.tensor == other.tensor
            and self.row < other.row + other.rows
            and other.row < self.row + self.rows
            and self.col < other.col + other.cols
            and other.col < self.col + self.cols
        )

    @property
    def slices(self) -> tuple[slice, slice]:
        """The slices with which an array of the tensor's shape is indexed."""
        return slice(self.row, self.row + self.rows), slice(self.col, self.col + self.cols)

    def __str__(self) -> str:
        rows, cols = self.slices
        return f"{self.tensor}[{rows.start}:{rows.stop}, {cols.start}:{cols.stop}]"


Scale = float | View
"""A float32 for all elements, or a row of them: one for each column."""
