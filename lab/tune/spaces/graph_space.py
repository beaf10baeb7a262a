"""The decisions of a graph's plan as independent choices: those of all stages, and those of each.

The compiler makes one choice for all products of a graph: of blocks, of pieces, of what is fused.
Here each kind of stage may differ from that.  Stages are of a kind if their operators are alike, as
those of the layers of a model are.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.spaces.choice_space import Choice, ChoiceSpace
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sw.compiler.choose import choose
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.choices import ALTERNATIVES, DEFAULT, Choices
from celosia.sw.planning.cuts import HEIGHTS
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.planning.schedules.apply import applied
from celosia.sw.planning.schedules.primitives import (
    Defer,
    Fuse,
    Keep,
    Primitive,
    Split,
    Tile,
)

__all__ = ["DECIDED", "GraphSpace", "plan_space"]

DECIDED: Final = "as decided"
"""What a stage has by the choices that are made for all stages."""
_COMMON: Final = tuple(
    dict.fromkeys(name for name, *_ in DEFAULT.others() if name != "block_tiles")
)
"""Choices of all stages, of those that say something with the defaults: each kind of stage has its
own height of blocks instead."""
_PIECES: Final = (1, 2, 4, 8)
"""Tiles of a piece of weights, along K and along the columns, and tiles that leave together."""
_LEAST: Final = DEFAULT.block_tiles
"""Lower blocks than those that the compiler begins with are not tried, unless all rows are: every
tile of weights would be loaded more often."""


def plan_space(graph: Graph, config: AcceleratorConfig) -> ChoiceSpace:
    """The plans of a verified `graph`: of a product alone, or of anything else.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    try:
        return PlanSpace(only_product(graph), graph, config)
    except PlanError:
        space = GraphSpace(graph, config)
        assert space.choices
        return space


@dataclass(frozen=True)
class GraphSpace(ChoiceSpace):
    """The plans of a verified `graph` of several operators."""

    graph: Graph
    config: AcceleratorConfig

    @property
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        """The decisions by name, and what each may be; the compiler's default comes first.

        Those of a kind of stage have the name of the first operator of that kind before theirs.
        Raises `ValueError` that names the operator for what the accelerator cannot do.
        """
        return self._choices

    @cached_property
    def _choices(self) -> Mapping[str, tuple[Choice, ...]]:
        found: dict[str, tuple[Choice, ...]] = {
            name: tuple(dict.fromkeys((getattr(DEFAULT, name), *ALTERNATIVES[name])))
            for name in _COMMON
        }
        for first, ops in self._kinds.items():
            for name, values in self._of_kind(ops[0]).items():
                found[f"{first}.{name}"] = (DECIDED, *values)
        return found

    @property
    def start(self) -> Mapping[str, Choice]:
        """The compiler's default choices for all stages."""
        return {name: values[0] for name, values in self._choices.items()}

    def nearest(self, timing: MemoryTiming) -> Mapping[str, Choice]:
        """The choices of the compiler for a memory; its height of blocks is that of each stage."""
        choices = choose(self.graph, self.config, timing)
        found = {}
        for name, values in self._choices.items():
            if (own := getattr(choices, name, None)) is None:
                height = choices.block_tiles if choices.block_tiles != _LEAST else 0
                own = next((value for value in values if _height(name, value) == height), DECIDED)
            found[name] = own
        return found

    def plan(self, chosen: Mapping[str, Choice]) -> Plan:
        """The plan of one combination.  Raises `PlanError` that names the rule that it breaks."""
        choices = {name: chosen[name] for name in _COMMON}
        try:
            plan = decide_graph(self.graph, self.config, Choices(**choices))  # pyright: ignore[reportArgumentType]
        except PlanError:
            raise
        except ValueError as error:
            raise PlanError("decide", self.graph.name, str(error)) from None
        for first, ops in self._kinds.items():
            mine = {name: chosen[f"{first}.{name}"] for name in self._of_kind(ops[0])}
            for op in ops:
                for step in _steps(op, mine, self.config.dim):
                    plan = applied(plan, step, self.graph, self.config)
        return verify_plan(plan, self.graph, self.config)

    @cached_property
    def _kinds(self) -> Mapping[str, tuple[str, ...]]:
        """The operators that stages begin with by the first one of their kind."""
        kinds: dict[Hashable, list[str]] = {}
        for stage in self._decided:
            if (kind := self._kind(stage)) is not None:
                kinds.setdefault(kind, []).append(stage.ops[0])
        return {ops[0]: tuple(ops) for ops in kinds.values()}

    def _kind(self, stage: Stage) -> Hashable:
        """What stages of a kind have in common; None: a stage has no choices of its own."""
        op = self._ops[stage.ops[0]]
        if not isinstance(op, MatMul):
            return None
        match stage:
            case AttentionStage():
                return "attention", len(stage.groups), op.out.rows, op.out.cols, op.a.cols
            case LinearStage():
                return "linear", op.out.rows, op.out.cols, op.a.cols, type(op.finish)
            case _:
                return None

    @cached_property
    def _ops(self) -> Mapping[str, MatMul | object]:
        return {op.name: op for op in self.graph.ops}

    def _of_kind(self, name: str) -> Mapping[str, tuple[Choice, ...]]:
        """What a stage that begins with an operator may have other than by the common choices."""
        op = self._ops[name]
        assert isinstance(op, MatMul)
        heads = any(name in stage.ops for stage in self._attention)
        down, across = (tiles(size, self.config.dim) for size in (op.out.rows, op.out.cols))
        depth, together = tiles(op.a.cols, self.config.dim), min(across, self.config.max_blocks)
        heights = tuple(h for h in HEIGHTS if _LEAST <= h <= down) or (down,)
        found: dict[str, tuple[Choice, ...]] = (
            {"rows": heights} if heads else {"block": self._blocks(heights, across)}
        )
        found |= {
            "k": tuple(size for size in _PIECES if size <= depth),
            "columns": tuple(size for size in _PIECES if size <= together),
            "drain": tuple(size for size in _PIECES if size <= across),
        }
        if name in self._normed:
            found["norm"] = ("apart",)
        if heads:
            kept = ("kept", "streamed")
            return found | {"keys": kept, "values": kept, "ahead": (True, False)}
        return found

    @cached_property
    def _normed(self) -> frozenset[str]:
        """The operators whose sums are normalized as they leave."""
        stages = (stage for stage in self._decided if isinstance(stage, LinearStage))
        return frozenset(stage.op for stage in stages if stage.norm is not None)

    @cached_property
    def _decided(self) -> tuple[Stage, ...]:
        """The stages by the compiler's default choices."""
        return decide_graph(self.graph, self.config).stages

    @cached_property
    def _attention(self) -> tuple[AttentionStage, ...]:
        return tuple(stage for stage in self._decided if isinstance(stage, AttentionStage))

    def _blocks(self, heights: tuple[int, ...], across: int) -> tuple[Choice, ...]:
        """Blocks as rows x columns, in tiles: with each height the widest, and one half as wide."""
        half = self.config.accumulator_rows // 2
        found: list[Choice] = []
        for height in heights:
            widest = min(across, half // (height * self.config.dim))
            found += [f"{height}x{width}" for width in (widest, widest // 2) if width]
        return tuple(dict.fromkeys(found))


def _height(name: str, value: Choice) -> int | None:
    """Tiles of a block's rows, if that is what a decision is about."""
    kind = name.rpartition(".")[2]
    if value == DECIDED or kind not in ("rows", "block"):
        return None
    return int(str(value).partition("x")[0])


def _steps(op: str, chosen: Mapping[str, Choice], dim: int) -> Iterator[Primitive]:
    """The primitives of what was chosen for the stage that begins with `op`."""
    given = {name: value for name, value in chosen.items() if value != DECIDED}
    if "norm" in given:
        yield Fuse(op=op, what="norm", together=False)
    if "rows" in given:
        yield Split(op=op, rows=(int(given["rows"]) * dim,))
    if block := given.get("block"):
        height, width = map(int, str(block).split("x"))
        yield Split(op=op, rows=(height * dim,), tiles=(width,))
    k, columns, drain = (int(given.get(name, 0)) for name in ("k", "columns", "drain"))
    if k or columns or drain:
        yield Tile(op=op, k=k, columns=columns, drain=drain)
    for what in ("keys", "values"):
        if what in given:
            yield Keep(op=op, what=what, on_chip=given[what] == "kept")
    if "ahead" in given:
        yield Defer(op=op, on=bool(given["ahead"]))
