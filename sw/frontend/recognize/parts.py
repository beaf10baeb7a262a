"""Splits products whose columns go different ways, and those with a stack of weights.

Gate and value may be one matrix, as in Phi-3: a curve is computed as the rows of its product drain,
and a product of two tensors reads two; both need products of their own.  Columns that attention
reads stay together.  Experts may be one stack of matrices: each is a product, and so is what stands
between two such stacks.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import CURVES, OPERATORS
from celosia.sw.frontend.recognize.prove import ordinary_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match, Refusal

__all__ = ["find_parts", "find_stacks"]

_MOST_EXPERTS: Final = 128
"""The matrices of a stack that become products of their own, at most."""


def find_parts(reader: Reader) -> Iterator[Match]:
    """Columns of a product with weights, which nobody reads whole, on their way into a curve."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        weights = reader.value(node.inputs[1]) if node.op == "matmul" else None
        if weights is None or weights.ndim != 2:
            continue
        last, bias = node, None
        following = readers[node.name]
        if len(following) == 1 and following[0].op == "add" and node.name not in outputs:
            bias = next(
                (name for name in following[0].inputs if reader.value(name) is not None), None
            )
            if bias is not None:
                last = following[0]
        cuts = readers[last.name]
        if last.name in outputs or not all(_cuts_columns(cut, last) for cut in cuts):
            continue
        behind = (each for cut in cuts for each in readers[cut.name])
        if any(each.op in {*CURVES, "mul"} for each in behind):
            yield from (_match(node, bias, cut) for cut in cuts)


def _cuts_columns(node: Node, whole: Node) -> bool:
    """Whether a node takes columns beside each other of all rows of another one."""
    if node.op != "slice" or node.type.shape[:-1] != whole.type.shape[:-1]:
        return False
    attributes: Any = node.attributes
    return set(attributes["steps"]) == {1} and not any(attributes["starts"][:-1])


def _match(node: Node, bias: str | None, cut: Node) -> Match:
    attributes: Any = cut.attributes
    first, count = attributes["starts"][-1], attributes["sizes"][-1]

    def columns(builder: GraphBuilder, name: str) -> str:
        if builder.type(name).shape[-1:] in {(), (1,)}:
            return name
        *rows, _ = builder.type(name).shape
        return builder.op(
            "slice",
            name,
            starts=(*(0 for _ in rows), first),
            sizes=(*rows, count),
            steps=(*(1 for _ in rows), 1),
        )

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, weights, *rest = operands
        found = builder.op("matmul", x, columns(builder, weights))
        for each in rest:
            found = builder.op("add", found, columns(builder, each))
        return found

    operands = (*node.inputs, *([] if bias is None else [bias]))
    return Match(what="a part of a product", root=cut.name, operands=operands, build=build)


def find_stacks(reader: Reader) -> Iterator[Match | Refusal]:
    """Products with a stack of weights, and what is computed of their elements."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    stacks = _stacks(reader)
    for node in reader.nodes:
        stack = stacks.get(node.name)
        if stack is None:
            continue
        if node.name in outputs or any(stacks.get(by.name) != stack for by in readers[node.name]):
            if stack[1] > _MOST_EXPERTS:
                reason = f"it is of {stack[1]} stacked products, more than {_MOST_EXPERTS}"
                yield Refusal("a product for each of its weights", node.name, reason)
            else:
                yield _match_stack(reader, node, stacks)


def _stacks(reader: Reader) -> dict[str, tuple[int, int]]:
    """For each result that weights of a stack are behind: their axis from the last, and number."""
    found: dict[str, tuple[int, int]] = {}
    for node in reader.graph.nodes:
        stack = _stack(reader, node)
        if stack is not None:
            found[node.name] = stack
        elif OPERATORS[node.op].reach is Reach.ELEMENT:
            behind = {found.get(name) for name in node.inputs if reader.value(name) is None}
            (stack,) = behind if len(behind) == 1 else (None,)
            if stack is not None and stack[1] == node.type.shape[-1 - stack[0]]:
                found[node.name] = stack
    return found


def _stack(reader: Reader, node: Node) -> tuple[int, int] | None:
    """The axis along which a product has other weights, counted from the last, and how many."""
    weights = reader.value(node.inputs[1]) if node.op == "matmul" else None
    if weights is None or weights.ndim < 3 or not node.type.size:
        return None
    several = [axis for axis in range(2, weights.ndim) if weights.shape[-1 - axis] > 1]
    if len(several) > 1:
        return None
    axis = several[0] if several else 2
    return axis, weights.shape[-1 - axis]


def _match_stack(reader: Reader, root: Node, stacks: dict[str, tuple[int, int]]) -> Match:
    axis, size = stacks[root.name]
    region = [root]
    for node in reversed(reader.graph.nodes):
        inside = any(node.name in each.inputs for each in region)
        if inside and stacks.get(node.name) == (axis, size):
            region.append(node)
    region.reverse()
    made = {node.name for node in region}
    operands = tuple(dict.fromkeys(x for node in region for x in node.inputs if x not in made))
    place = root.type.rank - 1 - axis
    single = tuple(1 if each == place else n for each, n in enumerate(root.type.shape))

    def build(builder: GraphBuilder, given: Sequence[str]) -> str:
        parts = []
        for number in range(size):
            new = {
                name: _one(builder, x, axis, number)
                for name, x in zip(operands, given, strict=True)
            }
            for node in region:
                inputs = [new[name] for name in node.inputs]
                if node.op == "matmul":
                    matrix = builder.type(inputs[1]).shape[-2:]
                    inputs[1] = builder.op("reshape", inputs[1], shape=matrix)
                attributes: dict[str, Any] = dict(node.attributes)
                new[node.name] = builder.op(node.op, *inputs, **attributes)
            parts.append(builder.op("reshape", new[root.name], shape=single))
        return builder.op("concat", *parts, axis=place) if size > 1 else parts[0]

    probes = dict.fromkeys(range(len(operands)), ordinary_rows)
    what = "a product for each of its weights"
    return Match(what=what, root=root.name, operands=operands, build=build, probes=probes)


def _one(builder: GraphBuilder, x: str, axis: int, number: int) -> str:
    """What a tensor has at one place of an axis, which is counted from the last."""
    shape = list(builder.type(x).shape)
    place = len(shape) - 1 - axis
    if place < 0 or shape[place] == 1:
        return x
    starts = tuple(number if each == place else 0 for each in range(len(shape)))
    shape[place] = 1
    return builder.op("slice", x, starts=starts, sizes=tuple(shape), steps=(1,) * len(shape))
