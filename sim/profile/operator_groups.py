"""Which operators of a graph are shown together, and whose the cycles of their program were.

Operators are called ``[LAYER.]KIND[.PART]...``.  Those of a layer and kind are one group: the heads
and texts of an attention are, and a normalization belongs to the product whose sums it takes.

A program's time is cut where products of one group follow those of another: what the array does
and waits for from then on is the next group's.  The first group's time begins with the program.
Groups without products have no time of their own, unless the program has no product at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from celosia.isa.encoding import PRODUCTS, Command, Funct
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.ir.causal import needed_macs
from celosia.sw.ir.graph import Graph
from celosia.sw.timeline.graphs import GraphCycles

__all__ = [
    "Cut",
    "Group",
    "add_predicted",
    "add_up",
    "command_operators",
    "cut_program",
    "group_name",
    "group_operators",
    "operator_commands",
]

_KINDS: Final = {
    "scores": "attention",
    "context": "attention",
    "output": "output + norm",
    "attention_norm": "output + norm",
    "down": "down + norm",
}
"""Kinds that are part of a group with another name."""
_LAST_NORM: Final = "norm"
"""The last normalization of a layer, which is part of the group of its last product."""
_FIRST_PRODUCT: Final[Mapping[int, int]] = {
    Funct.COMPUTE_PRELOADED: 0,
    Funct.COMPUTE_ACCUMULATED: 0,
    Funct.PRODUCTS: 1,
}
"""The place of the first product in what a command stands for: in a nest a PRELOAD comes before."""

Counts = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Operators that are shown together."""

    name: str
    operators: tuple[str, ...]
    macs: int
    """Without tiles of keys that no row of causal attention sees."""
    tensors: tuple[str, ...]
    """The tensors that the group's operators write."""


@dataclass(frozen=True)
class Cut:
    """Where a program's time changes hands: `group` has it from the expanded command `mark` on."""

    mark: int
    group: str


def operator_commands(compiled: CompiledGraph) -> Iterator[tuple[str, Sequence[Command]]]:
    """The operators of a program, one after the other, each with its commands before compression.

    The first one has no name: its commands come before all.
    """
    names = ["", *(written.operator for written in compiled.ops)]
    return zip(names, compiled.commands, strict=True)


def command_operators(compiled: CompiledGraph) -> tuple[str, ...]:
    """The operator that each command of a program belongs to, when the program is expanded.

    Empty for those before all.
    """
    parts = operator_commands(compiled)
    return tuple(name for name, commands in parts for _ in range(sum(map(_length, commands))))


def _length(command: Command) -> int:
    """Commands that a command that is no loop stands for."""
    if command.funct == Funct.CONFIG_PRODUCTS:
        return 0
    if command.funct != Funct.PRODUCTS:
        return 1
    values = PRODUCTS.decode(command)
    return 2 * values["k"] * values["pieces"] * values["columns"]


def group_name(operator: str) -> str:
    """The group of an operator: ``3.scores.text0.head1`` is part of ``3.attention``."""
    layer, parts = "", operator.split(".")
    if parts[0].isdigit() and len(parts) > 1:
        layer, parts = f"{parts[0]}.", parts[1:]
    kind = parts[0]
    if layer and kind == _LAST_NORM:
        kind = _KINDS["down"]
    return layer + _KINDS.get(kind, kind)


def group_operators(graph: Graph, dim: int) -> tuple[Group, ...]:
    """The groups of `graph` in the order in which they begin, on an array of `dim`."""
    macs = needed_macs(graph, dim)
    members: dict[str, list] = {}
    for op in graph.ops:
        members.setdefault(group_name(op.name), []).append(op)
    seen: set[str] = set()
    groups = []
    for name, ops in members.items():
        tensors = dict.fromkeys(view.tensor for op in ops for view in op.results)
        groups.append(
            Group(
                name=name,
                operators=tuple(op.name for op in ops),
                macs=sum(macs.get(op.name, 0) for op in ops),
                tensors=tuple(tensor for tensor in tensors if tensor not in seen),
            )
        )
        seen.update(tensors)
    return tuple(groups)


def cut_program(parts: Iterable[tuple[str, Sequence[Command]]]) -> tuple[Cut, ...]:
    """Where products of another group begin in a program of `parts` (`operator_commands`)."""
    cuts: list[Cut] = []
    mark = 0
    for operator, commands in parts:
        group = group_name(operator)
        for command in commands:
            first = _FIRST_PRODUCT.get(command.funct) if operator else None
            if first is not None and (not cuts or cuts[-1].group != group):
                cuts.append(Cut(mark + first, group))
            mark += _length(command)
    return tuple(cuts)


def add_predicted(groups: Sequence[Group], prediction: GraphCycles) -> dict[str, int]:
    """The cycles that are predicted for each of `groups` that has a time of its own."""
    times: dict[str, int] = {}
    for operator, cycles in prediction.shares():
        name = group_name(operator)
        times[name] = times.get(name, 0) + cycles
    return times or {groups[0].name: prediction.cycles}


def add_up(
    groups: Sequence[Group], cuts: Sequence[Cut], marks: Sequence[Counts], end: Counts
) -> dict[str, dict[str, int]]:
    """What was counted for each of `groups` that has a time of its own; it adds up to `end`.

    `marks` is what was counted up to each of `cuts`, and `end` at the end of the run.
    """
    owners = [cut.group for cut in cuts] or [groups[0].name]
    moments = [dict.fromkeys(end, 0), *marks[1:], end]
    times: dict[str, dict[str, int]] = {}
    for owner, (before, after) in zip(owners, pairwise(moments), strict=True):
        total = times.setdefault(owner, dict.fromkeys(end, 0))
        for name in end:
            total[name] += after[name] - before[name]
    return times
