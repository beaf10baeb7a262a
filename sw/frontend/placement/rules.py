"""Which operators of a recognized graph the accelerator computes, and why it does not compute one.

What it computes is read from the table of its functions (`celosia.isa.functions.table`).
"""

from collections.abc import Callable
from enum import StrEnum
from math import prod
from typing import Final

from celosia.isa.functions.table import Function
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.masks import mask_form
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["Decision", "Where", "placed"]


class Where(StrEnum):
    """The one that computes a node."""

    ACCELERATOR = "accelerator"
    HOST = "host"
    NOBODY = "nobody"
    """Nothing is computed: elements are read from other places, or at another scale."""


Decision = tuple[Where, str]
"""The one that computes a node, and the reason."""

_NEEDED: Final = {
    "layernorm": "LAYERNORM",
    "rmsnorm": "LAYERNORM",
    "gelu": "GELU",
    "silu": "SILU",
    "softmax": "PROBABILITY",
    "attention": "CONTEXT",
    "add": "RESIDUAL",
    "mul": "MULTIPLY",
    "rotate": "ROTATE",
}
"""The function of the accelerator that an operator needs."""
_WORDS: Final = {
    "layernorm": "LayerNorm",
    "rmsnorm": "RMSNorm",
    "gelu": "GELU",
    "silu": "SiLU",
    "softmax": "softmax",
    "attention": "attention",
    "add": "addition of two tensors",
    "mul": "multiplication of two tensors",
    "rotate": "rotation of halves",
}
_BEHIND: Final = "it is behind a"
"""Begins the reason of what has the host's operands."""
_NAMES: Final = frozenset(Function.__members__)
_ACCELERATED: Final[Decision] = (Where.ACCELERATOR, "")


def placed(reader: Reader) -> dict[str, Decision]:
    """The decision on each node, in the order of the graph."""
    found: dict[str, Decision] = {}
    for node in reader.graph.nodes:
        found[node.name] = _decide(reader, node, found)
    return found


def _decide(reader: Reader, node: Node, before: dict[str, Decision]) -> Decision:
    if not node.type.is_float:
        return Where.HOST, f"its elements are {node.type.dtype}"
    if node.op in {"add", "sub", "mul", "div"}:
        return _elementwise(reader, node, before)
    if reader.view(node.name) is not None:
        return Where.NOBODY, "it moves elements"
    rule = _RULES.get(node.op)
    if rule is None:
        return Where.HOST, OPERATORS[node.op].host or f"the accelerator has no {node.op}"
    return rule(reader, node)


def _product(reader: Reader, node: Node) -> Decision:
    del reader, node
    return _ACCELERATED


def _named(reader: Reader, node: Node) -> Decision:
    del reader
    return _function(node.op)


def _along_rows(reader: Reader, node: Node) -> Decision:
    if node.attributes["axis"] not in {-1, node.type.rank - 1}:
        return Where.HOST, f"{_WORDS[node.op]} is not along the last axis"
    return _named(reader, node)


def _function(op: str) -> Decision:
    if _NEEDED[op] in _NAMES:
        return _ACCELERATED
    return Where.HOST, f"the accelerator has no {_WORDS[op]}"


def _attention(reader: Reader, node: Node) -> Decision:
    bias = mask_form(reader, node).bias
    if bias is None:
        return _function("attention")
    kind = "a constant bias" if reader.value(bias) is not None else "a bias that is computed"
    return Where.ACCELERATOR, f"{kind} is added to its scores"


def _convolution(reader: Reader, node: Node) -> Decision:
    if reader.value(node.inputs[1]) is None:
        return Where.HOST, "its filters are not constant"
    return Where.HOST, f"it is a convolution of {node.attributes['groups']} groups"


def _elementwise(reader: Reader, node: Node, before: dict[str, Decision]) -> Decision:
    """Biases and factors are part of a product; two tensors need a function of their own."""
    if reader.scaled(node.name) is not None:
        return Where.NOBODY, "a factor is part of a scale"
    computed = [name for name in node.inputs if reader.value(name) is None]
    ahead = any(_from_accelerator(reader, name, before) for name in computed)
    if not ahead:
        return Where.HOST, _of_the_host(reader, computed, before)
    if node.op in {"add", "sub"}:
        if len(computed) == 1 and reader.type(_other(node, computed[0])).size == prod(
            node.type.shape[-1:]
        ):
            return Where.ACCELERATOR, "a bias is part of a product"
        return _function("add")
    if node.op == "mul":
        return _function("mul")
    return Where.HOST, f"the accelerator has no {node.op}"


def _of_the_host(reader: Reader, names: list[str], before: dict[str, Decision]) -> str:
    """The reason of a node whose operands the host computes: the one that they have."""
    for name in names:
        source = reader.producer(reader.chain(name)[0])
        if source is not None and source.name in before:
            reason = before[source.name][1]
            told = reason.startswith(_BEHIND)
            return reason if told else f"{_BEHIND} {source.op} of the host: {reason}"
    return "its operands are inputs"


def _other(node: Node, name: str) -> str:
    return next((each for each in node.inputs if each != name), name)


def _from_accelerator(reader: Reader, name: str, before: dict[str, Decision]) -> bool:
    source, _ = reader.chain(name)
    while (decision := before.get(source)) is not None and decision[0] == Where.NOBODY:
        scaled = reader.scaled(source)
        if scaled is None:
            break
        source, _ = reader.chain(scaled[0])
    return before.get(source, (Where.HOST, ""))[0] == Where.ACCELERATOR


_RULES: Final[dict[str, Callable[[Reader, Node], Decision]]] = {
    "matmul": _product,
    "relu": _product,
    "attention": _attention,
    "conv": _convolution,
    "layernorm": _along_rows,
    "rmsnorm": _along_rows,
    "softmax": _along_rows,
    "gelu": _named,
    "silu": _named,
    "rotate": _named,
}
"""How each operator is decided; `relu` is part of the product before it."""
