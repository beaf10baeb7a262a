"""Twins: two texts through the same weights become one batch, so that weights are loaded once."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.prove import Build
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_twins"]

_APART: Final = (Reach.ELEMENT, Reach.ROW, Reach.SAMPLE)
"""In what reaches no farther, samples along the first axis do not meet."""


def find_twins(reader: Reader) -> Iterator[Match]:
    """Operators of two tensors that the same weights make of two inputs: both in one batch."""
    twins = _Twins(reader)
    for node in reader.nodes:
        if len(node.inputs) != 2 or not twins.pair(*node.inputs):
            continue
        found = list(dict.fromkeys(twins.leaves(node.inputs[0])))
        leaves = [name for name in found if name in twins.other]
        weights = [name for name in found if name not in twins.other]
        if node.inputs[0] not in leaves:
            operands = (*leaves, *weights, *(twins.other[name] for name in leaves))
            build = _together(twins, node, leaves, weights)
            yield Match(what="twins", root=node.name, operands=operands, build=build)


def _together(twins: "_Twins", node: Node, leaves: Sequence[str], weights: Sequence[str]) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        one, other = operands[: len(leaves)], operands[len(leaves) + len(weights) :]
        made = dict(zip(weights, operands[len(leaves) :], strict=False))
        for name, *samples in zip(leaves, one, other, strict=True):
            made[name] = builder.op("concat", *samples, axis=0)
        both = twins.batched(builder, node.inputs[0], made)
        shape = builder.type(both).shape
        sizes, steps = (1, *shape[1:]), (1,) * len(shape)
        parts = [
            builder.op("slice", both, starts=(sample, *(0,) * (len(shape) - 1)), sizes=sizes,
                       steps=steps)
            for sample in range(2)
        ]  # fmt: skip
        return builder.op(node.op, *parts, **_attributes(node))

    return build


def _attributes(node: Node) -> dict[str, Any]:
    return dict(node.attributes)


class _Twins:
    """Which tensors are made alike, of other inputs."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self.other: dict[str, str] = {}
        """The twin of each tensor that has one."""
        self._known: dict[tuple[str, str], bool] = {}

    def pair(self, one: str, other: str) -> bool:
        """Whether the same operators make both, each of one sample, of inputs that differ."""
        key = one, other
        if key not in self._known:
            self._known[key] = one != other and self._is_pair(one, other)
            if self._known[key]:
                self.other[one] = other
        return self._known[key]

    def _is_pair(self, one: str, other: str) -> bool:
        reader, kind = self.reader, self.reader.type(one)
        if kind != reader.type(other) or not kind.rank or kind.shape[0] != 1:
            return False
        nodes = reader.producer(one), reader.producer(other)
        if nodes[0] is None or nodes[1] is None:
            return one in reader.graph.inputs and other in reader.graph.inputs
        if nodes[0].op != nodes[1].op or nodes[0].attributes != nodes[1].attributes:
            return False
        pairs = list(zip(nodes[0].inputs, nodes[1].inputs, strict=False))
        made = [names for names in pairs if not self._same(*names)]
        return self._keeps_samples(nodes[0]) and bool(made) and all(self.pair(*m) for m in made)

    def _same(self, one: str, other: str) -> bool:
        values = self.reader.value(one), self.reader.value(other)
        if values[0] is None or values[1] is None:
            return False
        return one == other or np.array_equal(values[0], values[1])

    def _keeps_samples(self, node: Node) -> bool:
        """Whether samples do not meet, if there are several."""
        first = self.reader.type(node.inputs[0]).shape[:1]
        match node.op, _attributes(node):
            case "transpose", {"permutation": (0, *_)}:
                return True
            case "reshape", {"shape": (1, *_)}:
                return first == (1,)
            case "slice", {"starts": (0, *_), "sizes": (1, *_)}:
                return True
            case "gather", {"axis": 0}:
                return self.reader.value(node.inputs[0]) is not None
            case op, attributes:
                return OPERATORS[op].reach in _APART and attributes.get("axis", -1) != 0

    def leaves(self, name: str) -> Iterator[str]:
        """The inputs and the constants that a tensor with a twin is made of."""
        node = self.reader.producer(name)
        if node is None:
            yield name
            return
        for each in node.inputs:
            yield from self.leaves(each)

    def batched(self, builder: GraphBuilder, name: str, made: dict[str, str]) -> str:
        """A tensor of both samples, with those of `made` known."""
        if name not in made:
            node = self.reader.producer(name)
            assert node is not None
            operands = [self.batched(builder, each, made) for each in node.inputs]
            attributes = _attributes(node)
            if node.op in {"reshape", "slice"}:
                key = "shape" if node.op == "reshape" else "sizes"
                attributes[key] = (2, *attributes[key][1:])
            made[name] = builder.op(node.op, *operands, **attributes)
        return made[name]
