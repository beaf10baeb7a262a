"""The plan of a graph: blocks, pieces, rings, order, and how sums leave the accumulator.

A *ring* is rows of a local memory that pieces take in turn.  A *stage* computes one operator.  A
plan does not say when anything happens: `celosia.sw.scheduling` decides that, within what rings
have room for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["DrainPlan", "Machine", "PiecesOfA", "PiecesOfB", "Plan", "ProductStage", "RingPlan"]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The facts about an accelerator that a plan depends on."""

    dim: int
    scratchpad_rows: int
    accumulator_rows: int
    parameter_rows: int


@dataclass(frozen=True, kw_only=True)
class RingPlan:
    """Rows of a local memory that pieces take in turn, from one span after the other."""

    space: Literal["scratchpad", "accumulator", "parameters"]
    spans: tuple[tuple[int, int], ...]
    """First row and number of rows of each."""


@dataclass(frozen=True, kw_only=True)
class PiecesOfA:
    """How the left operand is moved: pieces of a block of rows by so many tiles of K."""

    ring: str
    tiles: int
    first: int
    """Tiles of the very first piece; fewer let the array start earlier."""
    keep: bool
    """Pieces serve all blocks that need them, rather than being loaded for each block."""


@dataclass(frozen=True, kw_only=True)
class PiecesOfB:
    """How the right operand is moved."""

    ring: str
    k_tiles: int
    """Tiles of K in a piece."""
    n_tiles: int
    """Tiles of columns of C in a piece."""
    keep: bool
    """Pieces serve all blocks that need them, rather than being loaded for each block."""


@dataclass(frozen=True, kw_only=True)
class DrainPlan:
    """How sums leave the accumulator."""

    by: Literal["mvout"]
    """``mvout``: a store adds the bias and requantizes."""
    tiles: int
    """Tiles of columns that leave together."""


@dataclass(frozen=True, kw_only=True)
class ProductStage:
    """A product, block by block of C: one half of the accumulator drains while one is summed up."""

    op: str
    """The operator of the graph."""
    rows: tuple[int, ...]
    """Rows of each block, from the first on."""
    tiles: tuple[int, ...]
    """Tiles of columns of each block, from the first on."""
    outer: Literal["rows", "cols"]
    """What changes less often from one block to the next."""
    a: PiecesOfA
    b: PiecesOfB
    sums: str
    """The ring of blocks of C."""
    bias: str = ""
    """The ring of the bias, if there is one."""
    drain: DrainPlan
    tail: tuple[int, ...] = ()
    """Tiles of each part of the last block, which are finished one after the other; (): at once."""
    kind: Literal["product"] = "product"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All decisions for a graph."""

    graph: str
    """Its name."""
    machine: Machine
    rings: Mapping[str, RingPlan] = field(default_factory=dict)
    """By name."""
    stages: tuple[ProductStage, ...]
    """In the order in which they are computed."""
