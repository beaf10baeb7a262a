"""Program IR: operations on local rows, in order, with the rectangles of tensors that they move.

Rows are numbers; configuration is part of each operation, and what is in memory is named by tensor.
`celosia.sw.passes.lower_program` makes commands of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import View

__all__ = [
    "NO_SETTINGS",
    "Load",
    "LoadParameters",
    "LocalRows",
    "Multiply",
    "Op",
    "Settings",
    "Space",
    "Store",
    "Transform",
]

Settings = Mapping[str, int]
"""Fields of an instruction; those left out have their defaults."""

NO_SETTINGS: Final[Settings] = {}


class Space(Enum):
    """The local memories."""

    SCRATCHPAD = "scratchpad"
    ACCUMULATOR = "accumulator"
    PARAMETERS = "parameters"


@dataclass(frozen=True, slots=True)
class LocalRows:
    """A matrix in a local memory: block b of row r is local row ``row + r + b*pitch``."""

    space: Space
    row: int
    rows: int
    blocks: int
    pitch: int

    @property
    def end(self) -> int:
        """One more than the last local row."""
        return self.row + (self.blocks - 1) * self.pitch + self.rows

    def block(self, index: int, count: int = 1) -> "LocalRows":
        """Some consecutive blocks of it."""
        first = self.row + index * self.pitch
        return LocalRows(self.space, first, self.rows, count, self.pitch)

    def __str__(self) -> str:
        return f"{self.space.value}[{self.row}:{self.end}]"


@dataclass(frozen=True, slots=True)
class Load:
    """Move `view` to local rows, blocks of columns below each other."""

    view: View
    to: LocalRows
    after: int = 0
    """So many stores, from the program's first, must have reached memory before."""

    def __str__(self) -> str:
        return f"load {self.view} to {self.to}"


@dataclass(frozen=True, slots=True)
class LoadParameters:
    """Move part of a row of 32-bit elements, a constant, to parameter rows."""

    view: View
    to: LocalRows

    def __str__(self) -> str:
        return f"load {self.view} to {self.to}"


@dataclass(frozen=True, slots=True)
class Multiply:
    """``C (+)= A @ W``: `rows` rows stream through one tile of weights."""

    a: int
    """First scratchpad row of A."""
    w: int
    """First scratchpad row of the weights."""
    c: int
    """First accumulator row of C."""
    rows: int
    depth: int
    cols: int
    accumulate: bool
    a_unsigned: bool = False
    w_transposed: bool = False

    def __str__(self) -> str:
        sign = "+=" if self.accumulate else "="
        w = f"{self.w}{'.T' * self.w_transposed}"
        return f"c@{self.c} {sign} a@{self.a} * w@{w}, {self.rows}x{self.cols}x{self.depth}"


@dataclass(frozen=True, slots=True)
class Transform:
    """A function of the rows of a matrix in the accumulator or the scratchpad."""

    function: Function
    source: LocalRows
    cols: int
    targets: tuple[LocalRows, ...] = ()
    residual: LocalRows | None = None
    settings: Settings = field(default_factory=dict)
    """Of CONFIG_TRANSFORM, its function apart."""
    parameters: Settings = field(default_factory=dict)
    """``bias_row`` and ``scale_row`` of CONFIG_ROWS."""
    norm: Settings | None = None
    """Of CONFIG_NORM; None: it does not matter."""
    mask: Settings | None = None
    """Of CONFIG_MASK; None: it does not matter."""

    def parameter_rows(self, dim: int) -> Iterator[tuple[int, int]]:
        """First row and number of rows of each range of parameters that it reads."""
        blocks = -(-self.cols // dim)
        for name in self.parameters:
            yield self.parameters[name], blocks
        if self.function is Function.LAYERNORM and self.norm is not None:
            yield self.norm["parameter_row"], 2 * -(-self.cols // (dim // 2))

    def __str__(self) -> str:
        targets = ", ".join(map(str, self.targets)) or "statistics"
        return f"{targets} = {self.function.name.lower()} {self.source}, {self.cols} columns"


@dataclass(frozen=True, slots=True)
class Store:
    """Move local rows to `view`, as they are."""

    view: View
    source: LocalRows

    def __str__(self) -> str:
        return f"store {self.source} to {self.view}"


Op = Load | LoadParameters | Multiply | Transform | Store
