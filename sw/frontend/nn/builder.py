"""Builds float graphs: infers types, folds what is known, leaves out what does nothing.

A tensor whose operands are all known is computed at once, so shapes that a file computes from
shapes, and weights that it transposes, are constants in the graph.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import compute
from celosia.sw.frontend.nn.operators.operator import (
    Array,
    GraphError,
    Operator,
    TensorType,
    expect,
)
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.nn.verify import verify
from celosia.sw.mlir.operation import Attribute

__all__ = ["GraphBuilder"]

_FOLDED_BYTES: Final = 64 << 20
"""The largest tensor that is computed ahead though it is larger than its operands together."""


class GraphBuilder:
    """A float graph in the making.  Tensors are named by strings."""

    def __init__(self, name: str):
        self._name = name
        self._inputs: dict[str, TensorType] = {}
        self._constants: dict[str, Array] = {}
        self._nodes: dict[str, Node] = {}
        self._types: dict[str, TensorType] = {}
        self._scalars: dict[tuple[str, bytes], str] = {}
        self._copies = Counter[str]()
        self._origin = ""
        self._memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def type(self, name: str) -> TensorType:
        """The type of a tensor."""
        return self._types[name]

    def value(self, name: str) -> Array | None:
        """The value of a tensor, if it is known."""
        return self._constants.get(name)

    def least(self, name: str) -> float:
        """What no element of a tensor of floats is less than, as far as its nodes tell."""
        known, waiting = dict[str, float](), [name]
        while waiting:
            each = waiting[-1]
            node, value = self._nodes.get(each), self._constants.get(each)
            rule = None if node is None else OPERATORS[node.op].bound
            operands = [] if node is None or rule is None else self._floats(node)
            if unknown := [other for other in operands if other not in known]:
                waiting += unknown
                continue
            waiting.pop()
            if rule is not None:
                found = rule([known[other] for other in operands])
                known[each] = max(found, 0.0) if node and self._is_square(node) else found
            else:
                known[each] = -inf if value is None else float(value.min(initial=inf))
        return known[name]

    def _is_square(self, node: Node) -> bool:
        """Whether a node is its operand to an even power, which no number makes negative."""
        if node.op == "pow":
            power = self._constants.get(node.inputs[1])
            return power is not None and bool(np.all(power % 2 == 0))
        return node.op == "mul" and node.inputs[0] == node.inputs[1]

    def is_computed(self, name: str) -> bool:
        """Whether a product is among what a tensor of floats is made of."""
        seen, waiting = {name}, [name]
        while waiting:
            node = self._nodes.get(waiting.pop())
            if node is None:
                continue
            if OPERATORS[node.op].macs is not None:
                return True
            new = [each for each in self._floats(node) if each not in seen]
            seen.update(new)
            waiting += new
        return False

    def _floats(self, node: Node) -> list[str]:
        return [each for each in node.inputs if self._types[each].is_float]

    def inputs_of(self, name: str) -> list[str]:
        """The inputs that a tensor depends on."""
        needed = {name}
        for node in reversed(self._nodes.values()):
            if node.name in needed:
                needed.update(node.inputs)
        return [each for each in self._inputs if each in needed]

    @contextmanager
    def origin(self, text: str) -> Iterator[None]:
        """Nodes inside of the block stand for this node of a file."""
        before, self._origin = self._origin, text
        try:
            yield
        finally:
            self._origin = before

    def input(self, name: str, kind: TensorType) -> str:
        """A new input.  Raises `GraphError` for one that is larger than the memory."""
        self._check_memory(name, kind)
        self._inputs[self._define(name, kind)] = kind
        return name

    def constant(self, value: Any, name: str = "") -> str:
        """A tensor whose value is known; equal ones without a name are one tensor."""
        array = np.asarray(value)
        if name or array.size > 1:
            return self._new_constant(name or "constant", array)
        key = (f"{TensorType.of(array)}", array.tobytes())
        if key not in self._scalars:
            self._scalars[key] = self._new_constant("constant", array)
        return self._scalars[key]

    def like(self, value: float, other: str) -> str:
        """A scalar of the element type of tensor `other`."""
        return self.constant(np.asarray(value, self._types[other].dtype))

    def op(self, op: str, *operands: str, name: str = "", **attributes: Attribute) -> str:
        """The tensor that operator `op` makes; `name` is what a new one is called like.

        Raises `GraphError` for operands that the operator does not have, and for a tensor that is
        larger than this machine's memory.
        """
        operator = OPERATORS[op]
        result = operator.result_type([self._types[each] for each in operands], attributes)
        if op == "concat":  # The cache of a text that has no tokens yet, for one.
            axis = attributes["axis"]
            assert isinstance(axis, int)
            filled = tuple(each for each in operands if self._types[each].shape[axis])
            operands = filled or operands[:1]
        idle = operator.idle
        if idle is not None and result == self._types[operands[0]] and idle(attributes, result):
            return operands[0]
        if (unchanged := self._unchanged(operator, operands, result)) is not None:
            return unchanged
        self._check_memory(op, result)
        node = Node(
            name=self._free(name or op),
            op=op,
            inputs=operands,
            attributes=attributes,
            type=result,
            origin=self._origin,
        )
        known = [self._constants[each] for each in operands if each in self._constants]
        small = max(_FOLDED_BYTES, sum(each.nbytes for each in known))
        if len(known) == len(operands) and result.bytes <= small:
            return self._new_constant(node.name, compute(node, known))
        self._nodes[node.name] = node
        self._types[node.name] = result
        return node.name

    def _unchanged(
        self, operator: Operator, operands: Sequence[str], result: TensorType
    ) -> str | None:
        """The operand that a neutral number leaves as it is, if it is of the result's type."""
        if operator.neutral is None:
            return None
        for name, other in (operands, operands[::-1])[: 1 + operator.commutes]:
            number = self._constants.get(other)
            if number is None or number.size != 1 or self._types[name] != result:
                continue
            if float(number.reshape(())) == operator.neutral:
                return name
        return None

    def finish(self, outputs: Mapping[str, str], also: Iterable[str] = ()) -> FloatGraph:
        """The graph with these outputs and what they, and `also` others, depend on.

        All inputs stay.
        """
        needed = {*outputs.values(), *also}
        nodes = []
        for node in reversed(self._nodes.values()):
            if node.name in needed:
                needed.update(node.inputs)
                nodes.append(node)
        return verify(
            FloatGraph(
                name=self._name,
                inputs=dict(self._inputs),
                constants={n: value for n, value in self._constants.items() if n in needed},
                nodes=tuple(reversed(nodes)),
                outputs=dict(outputs),
            )
        )

    def _check_memory(self, what: str, kind: TensorType) -> None:
        expect(
            kind.bytes <= self._memory,
            f"{what}: {kind} has {kind.bytes:,} bytes, more than the memory of {self._memory:,}",
        )

    def _new_constant(self, name: str, value: Array) -> str:
        found = self._define(self._free(name), TensorType.of(value))
        if value.flags.writeable:
            value = value.view()
            value.flags.writeable = False
        self._constants[found] = value
        return found

    def _define(self, name: str, kind: TensorType) -> str:
        if name in self._types:
            raise GraphError(f"{name}: a second tensor has this name")
        self._types[name] = kind
        return name

    def _free(self, name: str) -> str:
        """`name`, or with a number behind it that makes it new."""
        found = name
        while found in self._types:
            self._copies[name] += 1
            found = f"{name}.{self._copies[name]}"
        return found
