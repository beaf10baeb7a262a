"""The decisions of a product's plan as independent choices: a space to search, larger than ours.

`celosia.sw.planning.search` compares a few dozen plans that are known to be good.  Here every
decision is a choice of its own; most combinations are legal, the others break a rule.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.spaces.choice_space import Choice, ChoiceSpace
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.cuts import HEIGHTS, balanced
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.planning.schedules.apply import applied
from celosia.sw.planning.schedules.plain import plain_product
from celosia.sw.planning.schedules.primitives import (
    Defer,
    DoubleBuffer,
    Keep,
    Place,
    Primitive,
    Reorder,
    Split,
    Tile,
)

__all__ = ["PlanSpace"]

_WIDTHS: Final = (*HEIGHTS, 48, 96)
"""Block widths, in tiles."""
_SIZES: Final = (1, 2, 4, 8, 16)
"""Tiles of a piece along K, and along the columns of C."""
_FEW: Final = ("block_rows", "block_columns", "tail", "outer", "a_banks")
"""Decisions of few combinations whose primitives take longest."""


@dataclass(frozen=True)
class PlanSpace(ChoiceSpace):
    """The plans of the only operator of `graph`."""

    op: MatMul
    graph: Graph
    config: AcceleratorConfig

    @property
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        """The decisions by name, and what each may be."""
        dim, wide = self.config.dim, self.config.max_blocks
        rows, columns, depth = self._tiles()
        return {
            "block_rows": _until(HEIGHTS, rows),
            "block_columns": _until(_WIDTHS, columns),
            "outer": ("rows", "cols"),
            "a_tiles": _until(_SIZES, min(wide, depth)),
            "a_first": ("one", "all"),
            "a_keep": (True, False),
            "b_k_tiles": _until(_SIZES, min(wide * dim, depth)),
            "b_n_tiles": _until(_SIZES, min(wide * dim, columns)),
            "b_keep": (True, False),
            "a_banks": tuple(range(1, self.config.scratchpad_banks)),
            "tail": ("none", "one", "halves"),
        }

    def nearest(self, timing: MemoryTiming) -> Mapping[str, Choice]:
        """The combination that is most like the compiler's plan for a memory."""
        return self.like(find_plan(self.graph, self.config, timing))

    def like(self, plan: Plan) -> Mapping[str, Choice]:
        """The combination whose decisions are most like those of a plan of the same product."""
        stage = only_stage(plan)
        assert isinstance(stage, LinearStage)
        rows = self.config.scratchpad_bank_rows
        banks = {first // rows for first, _ in plan.rings[stage.a.ring].spans}
        tail = "none"
        if len(stage.parts) > 1:
            tail = "one" if stage.parts[-1] == 1 else "halves"
        wanted: Mapping[str, Choice] = {
            "block_rows": -(-stage.rows[0] // self.config.dim),
            "block_columns": stage.tiles[0],
            "outer": stage.outer,
            "a_tiles": stage.a.tiles or stage.w.k_tiles,
            "a_first": "one" if 0 < stage.a.first < stage.a.tiles else "all",
            "a_keep": stage.a.keep,
            "b_k_tiles": stage.w.k_tiles,
            "b_n_tiles": stage.w.columns,
            "b_keep": stage.w.keep,
            "a_banks": len(banks),
            "tail": tail,
        }
        return {name: _like(wanted[name], values) for name, values in self.choices.items()}

    def plan(self, chosen: Mapping[str, Choice]) -> Plan:
        """The plan of one combination.  Raises `PlanError` that names the rule that it breaks."""
        plan = self._begun(*(chosen[name] for name in _FEW))
        return verify_plan(self._after(plan, self._pieces(chosen)), self.graph, self.config)

    def _begun(self, *values: Choice) -> Plan:
        """The plan after the decisions of `_FEW`: very many combinations begin alike."""
        if values not in self._beginnings:
            steps = self._blocks(dict(zip(_FEW, values, strict=True)))
            self._beginnings[values] = self._after(self._plain, steps)
        return self._beginnings[values]

    @cached_property
    def _beginnings(self) -> dict[tuple[Choice, ...], Plan]:
        """Plans after the decisions of `_FEW`, as far as they were asked for."""
        return {}

    def _after(self, plan: Plan, steps: Iterator[Primitive]) -> Plan:
        """`plan` after all `steps`; it may be illegal in between, and at the end."""
        for step in steps:
            plan = applied(plan, step, self.graph, self.config)
        return plan

    def _blocks(self, chosen: Mapping[str, Choice]) -> Iterator[Primitive]:
        """The primitives of the decisions of `_FEW`."""
        op, name, dim = self.op, self.op.name, self.config.dim
        _, columns, _ = self._tiles()
        rows = balanced(op.out.rows, -(-op.out.rows // (int(chosen["block_rows"]) * dim)))
        tiles = balanced(columns, -(-columns // int(chosen["block_columns"])))
        yield Split(op=name, rows=rows, tiles=tiles, tail=_tail(str(chosen["tail"]), tiles[-1]))
        yield Reorder(op=name, outer="rows" if chosen["outer"] == "rows" else "cols")
        banks = int(chosen["a_banks"])
        yield Place(op=name, what="a", banks=tuple(range(banks)))
        yield Place(op=name, what="b", banks=tuple(range(banks, self.config.scratchpad_banks)))

    def _pieces(self, chosen: Mapping[str, Choice]) -> Iterator[Primitive]:
        """The primitives of all other decisions."""
        name, a = self.op.name, int(chosen["a_tiles"])
        _, columns, _ = self._tiles()
        sums = self.graph.tensors[self.op.out.tensor].type == "int32"
        together = self.config.max_accumulator_blocks if sums else self.config.max_blocks
        yield Tile(
            op=name,
            a=a,
            first=1 if chosen["a_first"] == "one" else a,
            k=int(chosen["b_k_tiles"]),
            columns=int(chosen["b_n_tiles"]),
            drain=min(together, columns),
        )
        yield Keep(op=name, what="a", on_chip=bool(chosen["a_keep"]))
        yield Keep(op=name, what="b", on_chip=bool(chosen["b_keep"]))

    @cached_property
    def _plain(self) -> Plan:
        """What all plans begin with: two blocks of sums, and as many biases as fit."""
        plan = plain_product(self.op, self.graph, self.config)
        steps = [DoubleBuffer(op=self.op.name, what="sums"), Defer()]
        if self.op.bias is not None:
            steps.append(DoubleBuffer(op=self.op.name, what="parameters", pieces=0))
        for step in steps:
            plan = applied(plan, step, self.graph, self.config)
        rings = {name: replace(ring, step=1) for name, ring in plan.rings.items()}
        return replace(plan, rings=rings)

    def _tiles(self) -> tuple[int, int, int]:
        """Tiles of rows, of columns and of K."""
        extents = (self.op.out.rows, self.op.out.cols, self.op.a.cols)
        rows, columns, depth = (-(-extent // self.config.dim) for extent in extents)
        return rows, columns, depth


def _until(sizes: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The `sizes` below `most`, and the first that is not: it means all."""
    below = tuple(size for size in sizes if size < most)
    return (*below, most) if len(below) < len(sizes) else below


def _like(wanted: Choice, values: Sequence[Choice]) -> Choice:
    """The value, or the number that is nearest to it."""
    if wanted in values:
        return wanted
    return min(values, key=lambda value: abs(int(value) - int(wanted)))


def _tail(kind: str, tiles: int) -> tuple[int, ...]:
    """Parts of the last block: at once, its last tile apart, or two halves."""
    if kind == "none" or tiles == 1:
        return ()
    return (tiles - 1, 1) if kind == "one" else (-(-tiles // 2), tiles // 2)
