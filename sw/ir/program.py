"""Program IR: operations on local rows, in order, with the rectangles of tensors that they move.

Rows are numbers; configuration is part of each operation, and what is in memory is named by tensor.
`celosia.sw.passes.lower_program` makes commands of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib import import_module
from itertools import product

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.sw.ir.graph import View

__all__ = [
    "Drain",
    "Load",
    "LoadParameters",
    "LocalRows",
    "Op",
    "Products",
    "Settings",
    "Space",
    "Store",
    "Transform",
    "Unit",
    "Written",
]

Settings = Mapping[str, int]
"""Fields of an instruction; those left out have their defaults."""


class Space(Enum):
    """The local memories."""

    # That of a member's name is computed in Python, for each look into a dictionary.
    __hash__ = object.__hash__

    SCRATCHPAD = "scratchpad"
    ACCUMULATOR = "accumulator"
    PARAMETERS = "parameters"


class Unit(Enum):
    """What executes operations: each kind in the order of its queue."""

    __hash__ = object.__hash__  # As above.

    LOAD = "load"
    EXECUTE = "execute"
    TRANSFORM = "transform"
    STORE = "store"


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


class _Operation:
    """What any operation does: it says in a line what it is."""

    __slots__ = ()

    def __str__(self) -> str:
        return import_module("celosia.sw.ir.print_program").print_operation(self)


@dataclass(frozen=True, slots=True)
class Load(_Operation):
    """Move `view` to local rows, blocks of columns below each other."""

    unit = Unit.LOAD
    view: View
    to: LocalRows
    after: int = 0
    """The number of stores, from the program's first on, that must have reached memory before."""


@dataclass(frozen=True, slots=True)
class LoadParameters(_Operation):
    """Move part of a row of 32-bit elements, a constant, to parameter rows."""

    unit = Unit.LOAD
    view: View
    to: LocalRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Products(_Operation):
    """Products for tiles of columns, pieces of K and tiles of K, in nests from outside to inside.

    Tiles of K are dim deep and tiles of columns dim wide, but for the last.
    """

    unit = Unit.EXECUTE
    a: int
    """First scratchpad row of the first tile of A."""
    w: int
    """First scratchpad row of the first tile of the weights."""
    c: int
    """First accumulator row of the first tile of C."""
    a_k: int
    """Rows from one tile of A to the next one along K."""
    w_k: int
    w_column: int
    """Rows from one tile of the weights to the one of the next columns."""
    c_column: int
    a_piece: int = 0
    """Rows from the first tile of A of a piece to that of the next one."""
    w_piece: int = 0
    rows: int
    k: int
    """Tiles of K in a piece."""
    pieces: int
    columns: int
    """The number of tiles of columns."""
    last_depth: int
    last_cols: int
    accumulate: bool
    """Add to what is in C."""
    a_unsigned: bool = False
    w_transposed: bool = False
    w_type: WeightType = WeightType.INT8
    """int4: tiles of the weights have half as many rows."""

    @property
    def count(self) -> int:
        """The number of products in the nest."""
        return self.columns * self.pieces * self.k

    def places(self) -> Iterator[tuple[int, int, int, bool]]:
        """First rows of A, of the weights and of C of the products in order, and which add to C."""
        for column in range(self.columns):
            c, w_column = self.c + column * self.c_column, self.w + column * self.w_column
            for piece in range(self.pieces):
                a, w = self.a + piece * self.a_piece, w_column + piece * self.w_piece
                for k in range(self.k):
                    adds = self.accumulate or piece > 0 or k > 0
                    yield a + k * self.a_k, w + k * self.w_k, c, adds

    def each(self, dim: int) -> Iterator["Products"]:
        """The products of the nest in order, each as a nest of its own."""
        nest = product(range(self.columns), range(self.pieces), range(self.k))
        for (column, piece, k), (a, w, c, adds) in zip(nest, self.places(), strict=True):
            deepest = piece == self.pieces - 1 and k == self.k - 1
            yield replace(
                self,
                a=a,
                w=w,
                c=c,
                k=1,
                pieces=1,
                columns=1,
                last_depth=self.last_depth if deepest else dim,
                last_cols=self.last_cols if column == self.columns - 1 else dim,
                accumulate=adds,
            )

    def w_rows(self, depth: int, cols: int, dim: int) -> int:
        """Scratchpad rows of the weights of a tile that is so deep and wide."""
        return min(cols if self.w_transposed else depth, self.w_type.tile_rows(dim))


@dataclass(frozen=True, slots=True)
class Transform(_Operation):
    """A function of the rows of a matrix in the accumulator or the scratchpad."""

    unit = Unit.TRANSFORM
    function: Function
    source: LocalRows
    cols: int
    targets: tuple[LocalRows, ...] = ()
    residual: LocalRows | None = None
    settings: Settings = field(default_factory=dict)
    """Fields of CONFIG_TRANSFORM, all but its function."""
    parameters: Settings = field(default_factory=dict)
    """``bias_row`` and ``scale_row`` of CONFIG_ROWS."""
    norm: Settings | None = None
    """Fields of CONFIG_NORM; None: they do not matter."""
    mask: Settings | None = None
    """Fields of CONFIG_MASK; None: they do not matter."""

    def __hash__(self) -> int:
        return hash((self.function, self.source, self.cols, self.targets, self.residual))

    @property
    def counts(self) -> bool:
        """Whether its elements count in the sums of their rows."""
        return FUNCTIONS[self.function].counted or bool(self.settings.get("moments"))

    @property
    def uses_statistics(self) -> bool:
        """Whether it changes the statistics of its rows, or needs what is derived from them."""
        entry = FUNCTIONS[self.function]
        return self.counts or entry.maximum or entry.facts

    def parameter_rows(self, dim: int) -> Iterator[tuple[int, int]]:
        """First row and number of rows of each range of parameters that it reads."""
        blocks = -(-self.cols // dim)
        for name in self.parameters:
            yield self.parameters[name], blocks
        if FUNCTIONS[self.function].normalizes and self.norm is not None:
            yield self.norm["parameter_row"], 2 * -(-self.cols // (dim // 2))


@dataclass(frozen=True, slots=True)
class Drain:
    """What a store does to sums on their way out of the accumulator, without a transform."""

    scale: float | None = None
    """The float32 that requantizes the sums to what is stored, int8 or int16; None: they stay
    int32."""
    relu: bool = False
    """Negative results become 0 (not of int32)."""
    bias_row: int | None = None
    """The first parameter row of the bias, which is added before; None: there is none."""


@dataclass(frozen=True, slots=True)
class Store(_Operation):
    """Move local rows to `view`: as they are, or sums as `drain` says."""

    unit = Unit.STORE
    view: View
    source: LocalRows
    drain: Drain = Drain()

    def parameter_rows(self, dim: int) -> Iterator[tuple[int, int]]:
        """First row and number of rows of the parameters that it reads, if it reads any."""
        if self.drain.bias_row is not None:
            yield self.drain.bias_row, -(-self.view.cols // dim)


Op = Load | LoadParameters | Products | Transform | Store


@dataclass(frozen=True, slots=True)
class Written:
    """An operation, and the operator of the graph that it belongs to."""

    op: Op
    operator: str
