"""Writes rotary embeddings in one form: ``x * cos + turned(x) * sin``, halves turned."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["Rotary", "find_rotary", "rotary_form"]


@dataclass(frozen=True)
class Rotary:
    """A rotation of the halves of each head."""

    x: str
    cosines: str
    sines: str


def rotary_form(reader: Reader, name: str) -> Rotary | None:
    """The parts of a rotation that is written as ``x * cos + turned(x) * sin``, in any order."""
    total = reader.producer(name, "add")
    if total is None:
        return None
    for plain, turned in (total.inputs, total.inputs[::-1]):
        left, right = reader.producer(plain, "mul"), reader.producer(turned, "mul")
        if left is None or right is None:
            continue
        for half, sines in (right.inputs, right.inputs[::-1]):
            x = _turned(reader, half)
            if x is not None and x in left.inputs:
                (cosines,) = [each for each in left.inputs if each != x] or [x]
                return Rotary(x, cosines, sines)
    return None


def _turned(reader: Reader, name: str) -> str | None:
    """What a tensor has the halves of, the second one, negated, first."""
    both = reader.producer(name, "concat")
    if both is None or len(both.inputs) != 2 or both.attributes["axis"] != both.type.rank - 1:
        return None
    negated = reader.producer(both.inputs[0], "neg")
    if negated is None:
        return None
    second = _half(reader, negated.inputs[0], both, 1)
    first = _half(reader, both.inputs[1], both, 0)
    return first if first == second else None


def _half(reader: Reader, name: str, whole: Node, index: int) -> str | None:
    """What a tensor is the first or the second half of the columns of."""
    part = reader.producer(name, "slice")
    if part is None or reader.type(part.inputs[0]) != whole.type:
        return None
    *before, width = whole.type.shape
    starts = (*(0 for _ in before), index * width // 2)
    if part.attributes["starts"] != starts or part.type.shape != (*before, width // 2):
        return None
    return part.inputs[0]


def find_rotary(reader: Reader) -> Iterator[Match]:
    """Both halves computed apart, as the operator is defined: cos a - sin b, sin a + cos b."""
    for node in reader.graph.nodes:
        if node.op != "concat" or len(node.inputs) != 2 or not node.type.is_float:
            continue
        real = reader.producer(node.inputs[0], "sub")
        imaginary = reader.producer(node.inputs[1], "add")
        if real is None or imaginary is None:
            continue
        found = _products(reader, real, node)
        if found is not None:
            yield _match(node, found)


def _products(reader: Reader, real: Node, whole: Node) -> Rotary | None:
    """The operands of ``cos * first - sin * second``."""
    left, right = (reader.producer(name, "mul") for name in real.inputs)
    if left is None or right is None:
        return None
    for first, cosines in (left.inputs, left.inputs[::-1]):
        for second, sines in (right.inputs, right.inputs[::-1]):
            x = _half(reader, first, whole, 0)
            if x is not None and x == _half(reader, second, whole, 1):
                return Rotary(x, cosines, sines)
    return None


def _match(node: Node, found: Rotary) -> Match:
    *before, width = node.type.shape
    axis = node.type.rank - 1

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, *tables = operands
        first, second = (
            builder.op(
                "slice",
                x,
                starts=(*(0 for _ in before), start),
                sizes=(*before, width // 2),
                steps=(1,) * node.type.rank,
            )
            for start in (0, width // 2)
        )
        turned = builder.op("concat", builder.op("neg", second), first, axis=axis)
        cosines, sines = (builder.op("concat", each, each, axis=axis) for each in tables)
        return builder.op("add", builder.op("mul", x, cosines), builder.op("mul", turned, sines))

    operands = (found.x, found.cosines, found.sines)
    return Match(what="a rotation", root=node.name, operands=operands, build=build)
