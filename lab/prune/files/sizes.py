"""Sizes that an ONNX file says in numbers, made smaller for some of its nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from onnx import GraphProto, NodeProto, numpy_helper

from celosia.lab.prune.files.index import Index
from celosia.sw.frontend.nn.operators.operator import Array

__all__ = ["SmallerSizes"]

_OPERANDS: Final = {"Reshape": (1,), "Expand": (1,), "Split": (1,), "Slice": (1, 2)}
"""The operands of an operator that are sizes, or places."""
_ATTRIBUTES: Final = frozenset({
    "split",
    "num_heads",
    "kv_num_heads",
    "q_num_heads",
    "qkv_hidden_sizes",
})
_CLONED: Final = frozenset({"Concat", "Unsqueeze", "Squeeze", "Cast", "Identity", "Reshape"})
"""Operators that sizes come through."""


@dataclass
class SmallerSizes:
    """A graph in which some nodes get sizes of their own; others may read the old ones."""

    graph: GraphProto
    index: Index
    _made: dict[tuple[str, str], str] = field(default_factory=dict)
    _before: dict[str, list[NodeProto]] = field(default_factory=dict)
    """New nodes, by the result of the one that they stand before."""

    def change(
        self, nodes: Iterable[NodeProto], heads: Mapping[int, int], columns: Mapping[int, int]
    ) -> None:
        """Put smaller numbers of heads, and of their columns, in the sizes of `nodes`.

        Of a shape it is the first place with each number, for heads stand before their columns;
        where a tensor is cut only columns are counted.
        """
        both = {**heads, **columns}
        for node in nodes:
            for each in node.attribute:
                if each.name in _ATTRIBUTES and each.ints:
                    each.ints[:] = [both.get(size, size) for size in each.ints]
                elif each.name in _ATTRIBUTES:
                    each.i = both.get(each.i, each.i)
            for place in _OPERANDS.get(node.op_type, ()):
                if place < len(node.input):
                    once = node.op_type in {"Reshape", "Expand"}
                    left = dict(both if once else columns)
                    node.input[place] = self._smaller(node, node.input[place], left, once=once)

    def finish(self) -> None:
        """Put the new nodes where they belong, and leave out numbers that nobody reads any more."""
        ordered = []
        for node in self.graph.node:
            ordered += [*self._before.get(next(iter(node.output), ""), ()), node]
        old = {name for name, _ in self._made}
        while gone := [node for node in ordered if _unread(node.output, ordered) & old]:
            ordered = [node for node in ordered if node not in gone]
            old.update(name for node in gone for name in node.input)
        kept = [NodeProto.FromString(each.SerializeToString()) for each in ordered]
        del self.graph.node[:]
        self.graph.node.extend(kept)
        names = _unread([each.name for each in self.graph.initializer], kept) & old
        for each in [each for each in self.graph.initializer if each.name in names]:
            self.graph.initializer.remove(each)

    def _smaller(self, node: NodeProto, name: str, left: dict[int, int], *, once: bool) -> str:
        """The name of what `node` reads in place of `name`."""
        new = f"{name}/of {next(iter(node.output))}"
        made = self.index.made.get(name)
        values = self._values(name)
        if values is not None:
            changed = _changed(values, left, once=once)
            if changed is None:
                return name
            self.graph.initializer.append(numpy_helper.from_array(changed, new))
        elif made is not None and made.op_type in _CLONED:
            count = len(made.input) if made.op_type == "Concat" else 1
            parts = [self._smaller(node, each, left, once=once) for each in made.input[:count]]
            if parts == list(made.input[:count]):
                return name
            clone = NodeProto()
            clone.CopyFrom(made)
            clone.input[:] = [*parts, *made.input[count:]]
            clone.output[:] = [new]
            clone.name = new
            self._before.setdefault(next(iter(node.output)), []).append(clone)
        else:
            return name
        self._made[name, new] = new
        return new

    def _values(self, name: str) -> Array | None:
        """The constant of this name."""
        made = self.index.made.get(name)
        if name in self.index.constants:
            return numpy_helper.to_array(self.index.constants[name])
        if made is not None and made.op_type == "Constant":
            (only,) = made.attribute
            return np.array(only.ints if only.name == "value_ints" else only.i, np.int64)
        return None


def _unread(names: Iterable[str], nodes: Sequence[NodeProto]) -> set[str]:
    """The set of `names` that no node reads."""
    return set(names) - {name for node in nodes for name in node.input}


def _changed(values: Array, left: dict[int, int], *, once: bool) -> Array | None:
    """The numbers, smaller, of integers; None: they are as they were."""
    if values.dtype.kind != "i":
        return None
    found = values.copy()
    for place in np.ndindex(found.shape):
        number = int(found[place])
        if number in left:
            found[place] = left.pop(number) if once else left[number]
    return None if (found == values).all() else found
