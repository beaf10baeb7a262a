"""Substitutions of products: in another order, with sums and factors in their weights."""

from collections.abc import Iterator, Sequence

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.prove import Build
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = [
    "find_factors",
    "find_left_products",
    "find_right_products",
    "find_sums_of_products",
    "linear_of",
]


def find_left_products(reader: Reader) -> Iterator[Match]:
    """``(a b) c``, as ``a (b c)``."""
    for node in reader.nodes:
        inner = reader.producer(node.inputs[0], "matmul") if node.op == "matmul" else None
        if inner is None:
            continue
        (a, b), c = inner.inputs, node.inputs[1]
        if reader.type(b).rank == reader.type(c).rank or _is_matrix(reader, b, c):
            yield _match("products from the left", node, (a, b, c), _right_first)


def find_right_products(reader: Reader) -> Iterator[Match]:
    """``a (b c)``, as ``(a b) c``."""
    for node in reader.nodes:
        inner = reader.producer(node.inputs[1], "matmul") if node.op == "matmul" else None
        if inner is not None:
            operands = (node.inputs[0], *inner.inputs)
            yield _match("products from the right", node, operands, _left_first)


def _right_first(builder: GraphBuilder, operands: Sequence[str]) -> str:
    a, b, c = operands
    return builder.op("matmul", a, builder.op("matmul", b, c))


def _left_first(builder: GraphBuilder, operands: Sequence[str]) -> str:
    a, b, c = operands
    return builder.op("matmul", builder.op("matmul", a, b), c)


def _is_matrix(reader: Reader, *names: str) -> bool:
    return all(reader.type(name).rank == 2 for name in names)


def _match(what: str, node: Node, operands: tuple[str, ...], build: Build) -> Match:
    return Match(what=what, root=node.name, operands=operands, build=build)


def find_sums_of_products(reader: Reader) -> Iterator[Match]:
    """``x a + x b`` with constants, perhaps with a bias between: ``x (a + b)``."""
    for node in reader.nodes:
        if node.op != "add":
            continue
        left, right = (linear_of(reader, name) for name in node.inputs)
        if left is None or right is None or left[0] != right[0]:
            continue
        biases = (*left[2], *right[2])
        operands = (left[0], left[1], right[1], *biases)
        yield _match("a sum of products", node, operands, _summed)


def linear_of(reader: Reader, name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """What a tensor is a product of, with which constant, and the constant added to it, if any."""
    node, biases = reader.producer(name, "matmul", "add"), ()
    if node is not None and node.op == "add":
        for inner, bias in (node.inputs, node.inputs[::-1]):
            if reader.value(bias) is not None and reader.producer(inner, "matmul"):
                node, biases = reader.producer(inner, "matmul"), (bias,)
                break
        else:
            return None
    if node is None or reader.value(node.inputs[1]) is None:
        return None
    return node.inputs[0], node.inputs[1], biases


def _summed(builder: GraphBuilder, operands: Sequence[str]) -> str:
    x, a, b, *biases = operands
    found = builder.op("matmul", x, builder.op("add", a, b))
    for bias in biases:
        found = builder.op("add", found, bias)
    return found


def find_factors(reader: Reader) -> Iterator[Match]:
    """A product with weights, times one number or one for each column: other weights."""
    for node in reader.nodes:
        if node.op not in {"mul", "div"}:
            continue
        places = (node.inputs, node.inputs[::-1]) if node.op == "mul" else (node.inputs,)
        for name, factor in places:
            product, value = reader.producer(name, "matmul"), reader.value(factor)
            if product is None or value is None or product.type != node.type:
                continue
            weights = reader.value(product.inputs[1])
            row = value.ndim > 0 and value.shape[-1] == value.size
            if weights is not None and weights.ndim == 2 and (row or value.size == 1):
                operands = (*product.inputs, factor)
                yield _match("a factor of a product", node, operands, _scaled(node.op))


def _scaled(op: str) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, weights, factor = operands
        size = builder.type(factor).size
        row = builder.op("reshape", factor, shape=(size,))
        return builder.op("matmul", x, builder.op(op, weights, row))

    return build
