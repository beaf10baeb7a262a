"""The primitives of schedules as values: what each one changes in the stage of an operator.

Names are those of Halide and TVM where they mean the same.  What a primitive does to a plan is in
`celosia.sw.planning.schedules.apply`.  `op` names an operator; the whole stage that computes it is
changed.  An extent that is 0, empty or None stays as it is.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Defer",
    "DoubleBuffer",
    "Fuse",
    "Keep",
    "Place",
    "Primitive",
    "Reorder",
    "ScheduleFile",
    "Split",
    "Tensorize",
    "Tile",
]


@dataclass(frozen=True, kw_only=True)
class Tensorize:
    """Blocks of so many rows of the array: all of them stream through each tile of weights.

    With fewer than `dim` rows, the array waits for the next tile of weights.
    """

    kind: Literal["tensorize"] = "tensorize"
    op: str
    times: int = 1
    """Rows of a block, in multiples of `dim`."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """Other extents of blocks: the last size of each list repeats until the end.

    What a block is differs: a block of C, of sums, of rows that are normalized, of queries.
    """

    kind: Literal["split"] = "split"
    op: str
    rows: tuple[int, ...] = ()
    tiles: tuple[int, ...] = ()
    """Tiles of columns."""
    keys: tuple[int, ...] = ()
    """Keys of the parts whose scores stand in the accumulator at once."""
    tail: tuple[int, ...] | None = None
    """Tiles of each part of the last block of a product, which leave one after the other."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """Other pieces, as they are loaded and multiplied."""

    kind: Literal["tile"] = "tile"
    op: str
    k: int = 0
    """Tiles along K of a piece of weights (of keys and of values, in attention)."""
    columns: int = 0
    """Tiles of columns of a piece of weights."""
    a: int = 0
    """Tiles along K of a piece of A."""
    first: int = 0
    """Tiles of the very first piece of A."""
    drain: int = 0
    """Tiles of columns that leave together."""


@dataclass(frozen=True, kw_only=True)
class Reorder:
    """Another order: of the loops of sums, or of operators."""

    kind: Literal["reorder"] = "reorder"
    op: str
    outer: Literal["", "rows", "cols"] = ""
    """What changes less often from one block to the next."""
    before: str = ""
    """The operator before whose stage this one is computed."""


@dataclass(frozen=True, kw_only=True)
class Keep:
    """Pieces that are loaded once stay on the chip for all that need them, or do not."""

    kind: Literal["keep"] = "keep"
    op: str
    what: Literal["a", "b", "keys", "values"]
    on_chip: bool = True


@dataclass(frozen=True, kw_only=True)
class Fuse:
    """Softmax over whole rows of sums as they stand, or a norm of sums on their way to memory.

    Apart, softmax takes parts of the keys twice, and a norm loads what was stored.
    """

    kind: Literal["fuse"] = "fuse"
    op: str
    what: Literal["softmax", "norm"]
    together: bool = True


@dataclass(frozen=True, kw_only=True)
class DoubleBuffer:
    """So many pieces have rows of their own; one cannot be loaded while the only one is read."""

    kind: Literal["double_buffer"] = "double_buffer"
    op: str
    what: str
    """A role of the stage: `celosia.sw.planning.schedules.roles` has them."""
    pieces: int = 2
    """0: as many as fit, one behind the other."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A ring of its own in whole banks of its memory."""

    kind: Literal["place"] = "place"
    op: str
    what: str
    """A role of the stage."""
    banks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Defer:
    """Results leave behind the products that follow, or before them.

    Of attention, a context waits until the scores of the next part are summed up.  Without an
    operator, the drains and norms of all stages trickle between the products that follow.
    """

    kind: Literal["defer"] = "defer"
    op: str = ""
    on: bool = True


Primitive = Tensorize | Split | Tile | Reorder | Keep | Fuse | DoubleBuffer | Place | Defer


@dataclass(frozen=True, kw_only=True)
class ScheduleFile:
    """A schedule as it stands in a file."""

    start: Literal["compiler", "plain"] = "compiler"
    """The plan that it begins with: the compiler's own, or one without any decision."""
    steps: tuple[Primitive, ...]
    """The primitives in order."""
