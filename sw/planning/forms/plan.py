"""The plan of a graph: blocks, pieces, rings, order, and how sums leave the accumulator.

A *ring* is rows of a local memory that pieces take in turn.  A *stage* computes an operator, or
operators that are computed together (`celosia.sw.planning.forms.stages`).  A plan does not say when
anything happens: `celosia.sw.scheduling` decides that, within what rings have room for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

from celosia.isa.documents.svg import Drawing
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    ConcurrentStage,
    GraphStage,
    HeadGroup,
    LinearStage,
)

__all__ = [
    "Machine",
    "Plan",
    "RejectedTactic",
    "RingPlan",
    "Stage",
    "Tactic",
    "head_groups",
    "only_stage",
    "simple_stages",
]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The facts about an accelerator that a plan depends on, by the names that it has for them."""

    dim: int
    scratchpad_rows: int
    accumulator_rows: int
    parameter_rows: int
    statistics_rows: int
    """Rows of which statistics are kept."""
    max_blocks: int
    """Blocks of columns that a load or store of the scratchpad moves at once."""
    max_accumulator_blocks: int
    """Blocks of columns that a load or store of the accumulator moves at once."""

    @property
    def rows(self) -> Mapping[str, int]:
        """The rows of each local memory, by the space of the rings there."""
        return {
            "scratchpad": self.scratchpad_rows,
            "accumulator": self.accumulator_rows,
            "parameters": self.parameter_rows,
            "statistics": self.statistics_rows,
        }


@dataclass(frozen=True, kw_only=True)
class RingPlan:
    """Rows of a local memory that pieces take in turn, from one span after the other."""

    space: Literal["scratchpad", "accumulator", "parameters", "statistics"]
    spans: tuple[tuple[int, int], ...]
    """First row and number of rows of each."""
    step: int = 1
    """Pieces begin so many rows apart, or a multiple of them: the same places are taken again."""

    @property
    def least(self) -> int:
        """Rows of the shortest span."""
        return min(rows for _, rows in self.spans)

    def taken(self, rows: int) -> int:
        """The rows that a piece of `rows` rows takes, with those before the next one."""
        return max(rows, min(self.least, -(-rows // self.step) * self.step))

    def meets(self, other: "RingPlan") -> bool:
        """Whether the two have a row in common."""
        return self.space == other.space and any(
            a < b + more and b < a + rows for a, rows in self.spans for b, more in other.spans
        )


Stage = GraphStage | ConcurrentStage


@dataclass(frozen=True, kw_only=True)
class RejectedTactic:
    """An alternative to a tactic, with all others as they were chosen."""

    value: str
    cycles: int = 0
    """The cycles that were expected; 0: it is not possible."""
    reason: str = ""
    """Why it is not possible, or why it was not taken though less was expected; else empty."""


@dataclass(frozen=True, kw_only=True)
class Tactic:
    """What was chosen among alternatives when the plan was made: nothing is computed from it."""

    name: str
    value: str
    cycles: int
    """The cycles that the whole plan was expected to take."""
    rejected: tuple[RejectedTactic, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All decisions for a graph."""

    graph: str
    """The name of the graph."""
    machine: Machine
    scheduler: Literal["regular", "need"] = "regular"
    """``regular``: loads, drains and stores come between nests of products, one like the other;
    ``need``: those first that are needed soonest, when their units are expected to be free."""
    defer: bool = True
    """Results of one block leave between products of what follows; else before these, by the
    regular scheduler."""
    rings: Mapping[str, RingPlan] = field(default_factory=dict)
    """The rings by their names."""
    stages: tuple[Stage, ...]
    """The stages in the order in which they are computed."""
    tactics: tuple[Tactic, ...] = ()
    """How the plan came about, for who reads it."""
    spare_tiles: int = 0
    """By need: what short transforms leave is to be there so many tiles of weights before products
    need it, which take the array's side in cycles each."""

    @property
    def drawing(self) -> Drawing:
        """The rings in each local memory, and the stages in order."""
        return import_module("celosia.sw.planning.forms.picture").plan_drawing(self)

    def _repr_html_(self) -> str:
        """The drawing, for notebooks."""
        return str(self.drawing)


def simple_stages(plan: Plan) -> Iterator[Stage]:
    """All stages of a plan, those of branches one after the other."""
    for stage in plan.stages:
        if isinstance(stage, ConcurrentStage):
            yield from (each for branch in stage.branches for each in branch.stages)
        else:
            yield stage


def head_groups(plan: Plan) -> Iterator[HeadGroup]:
    """The heads of attention of a plan, those together that are alike."""
    for stage in simple_stages(plan):
        if isinstance(stage, AttentionStage):
            yield from stage.groups


def only_stage(plan: Plan) -> LinearStage:
    """The stage of the `plan` of a product alone."""
    (stage,) = plan.stages
    assert isinstance(stage, LinearStage)
    return stage
