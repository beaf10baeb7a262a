"""Graphs rewritten until they are cheap, on both levels: what was done, and what it is worth."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, TypeVar

import numpy as np

from celosia.lab.substitute.floats.table import FLOAT_SUBSTITUTIONS
from celosia.lab.substitute.integers.prove import random_tensor
from celosia.lab.substitute.integers.table import SUBSTITUTIONS
from celosia.lab.substitute.rules import RULES
from celosia.lab.substitute.search import (
    ALPHA,
    BUDGET,
    Found,
    Problem,
    Substituted,
    greedy,
    search,
)
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret as interpret_floats
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import Array, interpret
from celosia.sw.ir.graphs.alike import anonymous
from celosia.sw.models.steps import Calibrate, Instantiate, Model, Recognize, follow
from celosia.sw.quantize.ranges import Clip
from celosia.sw.rewriting.engine import exhaust

__all__ = [
    "Optimized",
    "OptimizedModel",
    "Way",
    "differing_floats",
    "differing_integers",
    "optimize_floats",
    "optimize_integers",
    "optimize_model",
]

Way = Literal["search", "greedy"]
"""With backtracking through dearer graphs, or the best step only."""
GAIN: Final = 0.02
"""A graph must be expected to be cheaper by this share, all of it followed by the timeline: the
timeline's mean error on random work is 1.8 %.  Llama's 8 tokens without bias and vectors of scales
are predicted to gain 1.0 %, and gain 0.2 % on the RTL: the bus, which waits for banks a quarter of
the time, waits for them while it would have loaded the parameters."""
TOLERANCE: Final = 1e-4
"""The largest difference of a float graph's outputs, relative to the largest element."""

Progress = Callable[[int, float], object]
"""Told how many graphs were looked at, and the least cost so far."""

_Graph = TypeVar("_Graph")


@dataclass(frozen=True)
class Optimized(Generic[_Graph]):
    """A graph as it was, and what was found."""

    before: _Graph
    cost_before: float
    found: Found[_Graph]

    @property
    def graph(self) -> _Graph:
        """The cheapest graph."""
        return self.found.graph


def optimize_integers(
    graph: Graph,
    costs: Costs,
    *,
    way: Way = "search",
    alpha: float = ALPHA,
    budget: int = BUDGET,
    progress: Progress = lambda examined, best: None,
) -> Optimized[Graph]:
    """A verified graph of integers, rewritten; its outputs are the same, bit for bit.

    Raises `ValueError` for what the accelerator cannot do.
    """
    problem = Problem(rules=SUBSTITUTIONS, cost=costs.integer, key=_integer_key)
    before = problem.cost(graph)
    found = _run(problem, graph, way, alpha, budget, progress)
    found = _worth(found, graph, before, costs.whole)
    closed = exhaust(RULES["close-gaps"], found.graph).graph
    reason = differing_integers(graph, closed)
    assert reason is None, f"graph {graph.name}: rewritten: {reason}"
    return Optimized(graph, before, Found(closed, *_rest(found)))


def optimize_floats(
    graph: FloatGraph,
    costs: Costs,
    *,
    way: Way = "search",
    alpha: float = ALPHA,
    budget: int = BUDGET,
    progress: Progress = lambda examined, best: None,
) -> Optimized[FloatGraph]:
    """A float graph behind `recognize`, rewritten; outputs are the same up to rounding.

    Raises `ValueError` for a graph that is not quantized.
    """
    problem = Problem(rules=FLOAT_SUBSTITUTIONS, cost=costs.floating, key=_float_key)
    before = problem.cost(graph)
    found = _run(problem, graph, way, alpha, budget, progress)
    return Optimized(graph, before, _worth(found, graph, before, costs.whole_floating))


def _run(
    problem: Problem[_Graph],
    graph: _Graph,
    way: Way,
    alpha: float,
    budget: int,
    progress: Progress,
) -> Found[_Graph]:
    if way == "greedy":
        return greedy(problem, graph)
    return search(problem, graph, alpha=alpha, budget=budget, progress=progress)


def _worth(
    found: Found[_Graph], graph: _Graph, cost: float, judge: Callable[[_Graph], int]
) -> Found[_Graph]:
    """What is found, or the graph as it was if `judge` does not say that it is better by `GAIN`."""
    if found.steps and judge(found.graph) <= (1 - GAIN) * judge(graph):
        return found
    return Found(graph, cost, (), found.examined)


def _rest(found: Found[Any]) -> tuple[Any, ...]:
    return found.cost, found.steps, found.examined


def _integer_key(graph: Graph) -> Hashable:
    return anonymous(graph.tensors, graph.ops)


def _float_key(graph: FloatGraph) -> Hashable:
    """A graph without names and numbers."""
    numbers = {name: str(kind) for name, kind in graph.types().items()}
    lines = []
    for index, node in enumerate(graph.nodes):
        operands = tuple(numbers[name] for name in node.inputs)
        lines.append((node.op, str(sorted(node.attributes.items())), operands))
        numbers[node.name] = str(index)
    return tuple(lines)


def differing_integers(before: Graph, after: Graph, seed: int = 0) -> str | None:
    """Where outputs of two graphs differ on random inputs; None if they are the same integers."""
    random = np.random.default_rng(seed)
    inputs = {name: random_tensor(random, before.tensors[name]) for name in before.inputs}
    values, found = interpret(before, inputs), interpret(after, inputs)
    for name in before.outputs:
        wrong = np.count_nonzero(values[name] != found[name])
        if wrong:
            return f"{wrong:,} of {values[name].size:,} elements of {name} differ"
    return None


def differing_floats(
    before: FloatGraph, after: FloatGraph, inputs: Mapping[str, Array]
) -> str | None:
    """Where outputs of two float graphs differ by more than `TOLERANCE`; None if nowhere."""
    values, found = interpret_floats(before, inputs), interpret_floats(after, inputs)
    for name, value in values.items():
        if value.dtype.kind != "f":
            wrong = float(np.count_nonzero(value != found[name]))
        else:
            size = max(float(np.abs(value).max(initial=0)), 1e-30)
            wrong = float(np.abs(value - found[name]).max(initial=0)) / size
        if not wrong <= TOLERANCE:
            return f"output {name} differs by {wrong:.1e} of its largest element"
    return None


@dataclass(frozen=True)
class OptimizedModel:
    """A model, rewritten as floats, quantized, and rewritten as integers."""

    floats: Optimized[FloatGraph]
    model: Model
    """The model behind `Instantiate`, with the segments that were found."""
    segments: tuple[Optimized[Graph], ...]

    @property
    def steps(self) -> tuple[Substituted, ...]:
        """All that was done, on both levels."""
        return tuple(step for each in (self.floats, *self.segments) for step in each.found.steps)


def optimize_model(
    model: Model,
    samples: Sequence[Mapping[str, Array]],
    costs: Costs,
    *,
    way: Way = "search",
    clip: Clip = "error",
    progress: Progress = lambda examined, best: None,
) -> OptimizedModel:
    """A model behind `Recognize`, rewritten on both levels; calibrated on `samples`.

    `clip` is the criterion by which values of 8 bits are clipped.

    Raises `GraphError` for samples that do not fit, and `ValueError` for a graph that is not
    quantized.
    """
    floats = optimize_floats(model.recognized.graph, costs, way=way, progress=progress)
    cheaper = model.with_made(Recognize, replace(model.recognized, graph=floats.graph))
    done = follow(Calibrate(samples, clip), Instantiate(), model=cheaper)
    segments = tuple(
        optimize_integers(segment.graph, costs, way=way, progress=progress)
        for segment in done.quantized.segments
    )
    both = zip(done.quantized.segments, segments, strict=True)
    rewritten = tuple(replace(segment, graph=each.graph) for segment, each in both)
    found = replace(done.quantized, segments=rewritten)
    return OptimizedModel(floats, done.with_made(Instantiate, found), segments)
