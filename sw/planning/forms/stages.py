"""The stages of graphs: what a plan decides about sums, their drains, norms and heads of attention.

Rings are named; `celosia.sw.planning.forms.plan.RingPlan` says where they are.  Extents are
elements unless they are called tiles: a tile is `dim` columns.
"""

from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "AttentionStage",
    "Branch",
    "CombineStage",
    "ConcurrentStage",
    "GraphStage",
    "HeadGroup",
    "LinearStage",
    "NormPlan",
    "NormStage",
    "PiecesOfA",
    "PiecesOfW",
    "RowsStage",
    "SpillPlan",
    "SumsDrain",
    "TailPart",
]


@dataclass(frozen=True, kw_only=True)
class PiecesOfA:
    """How the left operand of a product is moved: all rows of a block by some tiles of K."""

    ring: str
    """The ring of pieces of A."""
    tiles: int = 0
    """Tiles of K in a piece, which meets one nest of pieces of W after the other; 0: in a nest,
    pieces of A meet as many of W, which have the same tiles of K."""
    first: int = 0
    """Tiles of the very first piece, if all others have `tiles`: fewer let the array start earlier.
    0: as the others."""
    keep: bool = True
    """Pieces serve all blocks that need them, as long as nothing has taken their rows; else they
    are loaded for each block."""


@dataclass(frozen=True, kw_only=True)
class PiecesOfW:
    """How a product is cut into nests, along K and along the columns: `k_tiles` by `columns`."""

    ring: str
    """The ring of pieces of W."""
    k_tiles: int
    """Tiles of K in a piece, at most."""
    columns: int
    """Tiles of columns in a piece of W, at most."""
    pieces: Literal[1, 2] = 2
    """Pieces of a nest: two that are in different banks are each read while the other arrives."""
    keep: bool = True
    """As for A."""


@dataclass(frozen=True, kw_only=True)
class SumsDrain:
    """How a block of sums leaves the accumulator."""

    by: Literal["mvout", "transform"] = "transform"
    """``mvout``: stores add a bias, and requantize by one scale; ``transform``: by way of the
    scratchpad."""
    tiles: int
    """Tiles of columns that leave together, at most.  Of a transform, parts are nearly equal."""
    results: str = ""
    """The ring of results of transforms on their way to memory."""
    parameters: str = ""
    """The ring of bias and scales of columns, if there are any."""
    residuals: str = ""
    """The ring of what is added, if anything is."""


@dataclass(frozen=True, kw_only=True)
class NormPlan:
    """How rows are normalized: some columns of them at a time."""

    op: str
    tiles: int
    """Tiles of columns that a transform takes, at most; parts are nearly equal."""
    source: str
    """The ring of what is normalized, which is loaded from memory."""
    results: tuple[str, ...]
    """The ring of each output."""
    affines: str
    """The ring of gamma and beta."""


@dataclass(frozen=True, kw_only=True)
class TailPart:
    """Some rows of the last columns of a block, which are normalized before the next part."""

    rows: int
    tiles: int
    """Tiles of columns that a transform of the normalization takes, at most."""
    source: str = ""
    """The ring of what is normalized; empty: as for other rows."""

    def of(self, norm: NormPlan) -> NormPlan:
        """How these rows are normalized, where others are as `norm` says."""
        return replace(norm, tiles=self.tiles, source=self.source or norm.source)


@dataclass(frozen=True, kw_only=True)
class LinearStage:
    """Sums, block by block, and what they become on their way out of the accumulator.

    The sums are those of a product or int32 in memory: one half of the accumulator drains while one
    is summed up.  A softmax takes three passes over the sums of its rows, which are made again for
    each one if they are more than one block.
    """

    kind: Literal["linear"] = "linear"
    op: str
    rows: tuple[int, ...]
    """Rows of each block, from the first on."""
    tiles: tuple[int, ...]
    """Tiles of columns of each block, from the first on."""
    outer: Literal["rows", "cols"] = "rows"
    """What changes less often from one block to the next."""
    parts: tuple[int, ...] = ()
    """Tiles of each part of the last block, which are finished one after the other; (): at once."""
    a: PiecesOfA = PiecesOfA(ring="")
    """The pieces of A; of no ring, if the sums are in memory."""
    w: PiecesOfW = PiecesOfW(ring="", k_tiles=0, columns=0)
    """The pieces of W; of no ring, if the sums are in memory."""
    sums: str
    """The ring of blocks of sums."""
    drain: SumsDrain
    slots: str = ""
    """The ring of statistics of rows, if there are any."""
    norm: NormPlan | None = None
    """The normalization of the results, whose moments are counted as they leave."""
    tail: tuple[TailPart, ...] = ()
    """The last columns of the last block of rows, in parts; (): its rows at once."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operators that the stage computes."""
        return (self.op,) if self.norm is None else (self.op, self.norm.op)

    @property
    def blocks(self) -> int:
        """The number of blocks of sums, if they are summed up once."""
        return len(self.rows) * len(self.tiles) + max(0, len(self.tail) - 1)


@dataclass(frozen=True, kw_only=True)
class NormStage:
    """A normalization of rows from memory: some columns at a time, once for sums, once for all."""

    kind: Literal["norm"] = "norm"
    rows: tuple[int, ...]
    """Rows of each block, from the first on."""
    norm: NormPlan
    slots: str
    """The ring of statistics of rows."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operator that the stage computes."""
        return (self.norm.op,)


@dataclass(frozen=True, kw_only=True)
class CombineStage:
    """A combination of two matrices from memory: some rows and columns at a time."""

    kind: Literal["combine"] = "combine"
    op: str
    rows: tuple[int, ...]
    """Rows of each block, from the first on."""
    tiles: int
    """Tiles of columns that a transform takes, at most; parts are nearly equal."""
    a: str
    """The ring of the first operand."""
    b: str
    """The ring of the second operand."""
    results: str
    """The ring of results on their way to memory."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operator that the stage computes."""
        return (self.op,)


@dataclass(frozen=True, kw_only=True)
class SpillPlan:
    """How scores wait in memory, as int16, until the maxima of their rows are known."""

    ring: str
    """The ring of the scratchpad that the scores of a part come back to."""
    blocks: int
    """Blocks of rows whose scores have a place in memory, by turns."""


@dataclass(frozen=True, kw_only=True)
class HeadGroup:
    """Heads of attention that are alike.

    A *part* is some keys of a block of rows.  Parts use rings of queries and numerators by turns,
    whatever their head.
    """

    heads: tuple[tuple[str, str], ...]
    """The products of each head: numerators, and the context that they weight."""
    rows: tuple[int, ...]
    """Rows of each block, from the first on."""
    keys: tuple[int, ...]
    """Keys of each part of a block; more than one are passed twice: first for the maxima, then for
    all else."""
    spill: SpillPlan | None = None
    """How scores of more than one part come to their second pass; None: they are computed again."""
    queries: tuple[str, ...]
    k: PiecesOfW
    """The pieces of keys."""
    v: PiecesOfW
    """The pieces of values."""
    scores: str
    """The ring of the scores of parts.  Where they wait in memory, each part has the half that the
    array does not add to next; and so have the contexts of a block."""
    exponents: int
    """Transforms that make the numerators of a part, at most: products may follow the first."""
    numerators: tuple[str, ...]
    contexts: str
    """The ring of the contexts of blocks."""
    drain: SumsDrain


@dataclass(frozen=True, kw_only=True)
class AttentionStage:
    """Heads of attention: numerators are never in memory, and scores as far as plans spill them."""

    kind: Literal["attention"] = "attention"
    groups: tuple[HeadGroup, ...]
    slots: str
    """The ring of statistics of blocks of rows."""
    first: str = ""
    """The ring of the scores of the first part, which nothing hides; empty: as of all others."""
    ahead: int = 1
    """The scores of so many parts are summed up before the context of a part."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operators that the stage computes."""
        return tuple(op for group in self.groups for head in group.heads for op in head)


RowsStage = NormStage | CombineStage
"""The stages of one operator each, whose rows the lanes compute."""
GraphStage = LinearStage | RowsStage | AttentionStage
"""The stages of graphs that are no branches."""


@dataclass(frozen=True, kw_only=True)
class Branch:
    """Stages one after the other, beside those of other branches."""

    stages: tuple[GraphStage, ...]
    cycles: tuple[int, ...]
    """Cycles that each stage is expected to take; branches advance at paces that end together."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The operators that the branch computes."""
        return tuple(op for stage in self.stages for op in stage.ops)


@dataclass(frozen=True, kw_only=True)
class ConcurrentStage:
    """Branches that do not depend on each other: while one waits for a unit, another one has it."""

    kind: Literal["concurrent"] = "concurrent"
    branches: tuple[Branch, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The operators that the stage computes, branch by branch."""
        return tuple(op for branch in self.branches for op in branch.ops)
