"""Runs rules by name, one after the other, and compares what the graph means before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.isa.config import did_you_mean
from celosia.lab.substitute.optimize import differing_floats, differing_integers
from celosia.lab.substitute.rules import RULES
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.ir.graph import Graph
from celosia.sw.rewriting.engine import Refusal, Rule, exhaust

__all__ = ["PassDone", "rules_of", "run_passes"]


@dataclass(frozen=True)
class PassDone:
    """What a rule has made of a graph."""

    name: str
    graph: Graph | FloatGraph
    replaced: tuple[str, ...]
    """The nodes that replaced parts are named after."""
    refusals: tuple[Refusal, ...]
    difference: str | None
    """Where outputs differ from those before; None: nowhere, or nobody looked."""


def rules_of(names: Sequence[str], level: str) -> list[Rule[Any, Any, Any]]:
    """The rules of these names.

    Raises `ValueError` for a name that there is not, or that is for graphs of the other level.
    """
    found = []
    for name in names:
        if name not in RULES:
            near = did_you_mean(name, RULES)
            said = f"there is no pass {name!r}; for {level} there are {_known(level)}{near}"
            raise ValueError(said)
        if RULES[name].level.name != level:
            other = RULES[name].level.name
            raise ValueError(
                f"pass {name} is for {other}, and this graph is {level}; for that there are "
                f"{_known(level)}"
            )
        found.append(RULES[name])
    return found


def _known(level: str) -> str:
    return ", ".join(name for name, rule in RULES.items() if rule.level.name == level)


def run_passes(
    graph: Graph | FloatGraph, rules: Sequence[Rule[Any, Any, Any]], *, interpret: bool
) -> Iterator[PassDone]:
    """The graph behind each rule; with `interpret`, compared with that before it.

    Graphs of integers must leave the same integers behind, float graphs the same up to rounding.
    """
    for rule in rules:
        done = exhaust(rule, graph)
        difference = _difference(graph, done.graph) if interpret else None
        graph = done.graph
        yield PassDone(rule.name, graph, tuple(done.accepted), done.refusals, difference)


def _difference(before: Graph | FloatGraph, after: Graph | FloatGraph) -> str | None:
    if isinstance(before, Graph):
        assert isinstance(after, Graph)
        return differing_integers(before, after)
    assert isinstance(after, FloatGraph)
    masks = [name for name in before.inputs if "mask" in name]
    return differing_floats(before, after, random_inputs(before, masks, 0))
