"""Puts operators in the place of parts of a graph that they equal."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.prove import Build, Probe, difference
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.rewriting.engine import Level, Refusal, Rule, sweep

__all__ = ["FLOAT", "Finder", "Match", "Refusal", "Rewritten", "rebuild", "rewrite"]


@dataclass(frozen=True, kw_only=True)
class Match:
    """A part of a graph, and what is to take its place."""

    what: str
    """What was recognized, for messages."""
    root: str
    """The tensor that the part computes."""
    operands: tuple[str, ...]
    """What it computes it from, beside constants."""
    build: Build
    """Makes the replacement from the operands."""
    probes: dict[int, Probe] = field(default_factory=dict)
    """How operands are drawn for the proof, by number, where rows of all scales do not do."""


Finder = Callable[[Reader], Iterable[Match | Refusal]]


@dataclass(frozen=True)
class Rewritten:
    """What became of a graph."""

    graph: FloatGraph
    refusals: tuple[Refusal, ...]
    absorbed: dict[str, str]
    """For origins of nodes within a replaced part, the origin of its root."""


def rewrite(graph: FloatGraph, find: Finder, name: str = "") -> Rewritten:
    """The graph with all that `find` recognizes and numbers prove, and what they do not."""
    reader = Reader(graph)
    rule = Rule(name=name, summary="", level=FLOAT, find=find, repeats=False)
    done = sweep(rule, graph)
    absorbed: dict[str, str] = {}
    for found in done.accepted.values():
        root = reader.producer(found.root)
        assert root is not None
        for node in reader.between(found.root, found.operands):
            if node.origin != root.origin:
                absorbed[node.origin] = root.origin
    return Rewritten(done.graph, done.refusals, absorbed)


def _likeness(reader: Reader, match: Match) -> Hashable:
    """The part node by node, without names: layers that are alike are proved once.

    Operands that are constants count by their type, all others by their value.
    """
    numbers: dict[str, Hashable] = {
        name: (place, str(reader.type(name)), reader.value(name) is None)
        for place, name in enumerate(match.operands)
    }
    lines = []
    try:  # What operands compute of each other is part of the part.
        nodes = reader.between(match.root, reader.given(match.operands))
    except KeyError:  # It depends on more than its operands, and is like no other part.
        return match.what, match.root
    for index, node in enumerate(nodes):
        for name in node.inputs:
            value = reader.value(name)
            if name not in numbers and value is not None:
                digest = blake2b(value.tobytes(), digest_size=16).hexdigest()
                numbers[name] = (str(reader.type(name)), digest)
        operands = tuple(numbers[name] for name in node.inputs)
        lines.append((node.op, str(node.type), str(sorted(node.attributes.items())), operands))
        numbers[node.name] = index
    return match.what, tuple(numbers[name] for name in match.operands), tuple(lines)


def rebuild(graph: FloatGraph, matches: Mapping[str, Match]) -> FloatGraph:
    """The graph with replacements; nodes that nothing reads any more are gone."""
    builder = GraphBuilder(graph.name)
    new: dict[str, str] = {}
    for name, kind in graph.inputs.items():
        new[name] = builder.input(name, kind)
    for name, value in graph.constants.items():
        new[name] = builder.constant(value, name)
    for node in graph.nodes:
        with builder.origin(node.origin):
            match = matches.get(node.name)
            operands = _names(new, node.inputs if match is None else match.operands)
            if match is not None:
                new[node.name] = match.build(builder, operands)
            else:
                attributes: dict[str, Any] = dict(node.attributes)
                new[node.name] = builder.op(node.op, *operands, name=node.name, **attributes)
    return builder.finish({name: new[value] for name, value in graph.outputs.items()})


def _names(new: dict[str, str], names: Sequence[str]) -> list[str]:
    return [new[name] for name in names]


def _difference(reader: Reader, match: Match) -> str | None:
    return difference(reader, match.root, match.operands, match.build, match.probes)


FLOAT: Final = Level(
    name="nn", read=Reader, likeness=_likeness, difference=_difference, rebuild=rebuild
)
"""Float graphs: parts are evaluated in float64."""
