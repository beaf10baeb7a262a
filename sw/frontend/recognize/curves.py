"""Moves curves to the products that they are of: past views, and to each of several products.

A curve is computed as the rows of a product drain.  Where products stand beside each other, as
those of a convolution's groups, none of them is what it is behind; and rows of an image's channels
are none of a product's.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import CURVES
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_curves"]

_ROUGH: Final = "gelu"
"""What stays the host's behind an image: the accelerator's GELU is off by up to .018, which costs
Whisper, which begins with two of them, 1 dB."""


def find_curves(reader: Reader) -> Iterator[Match]:
    """Curves of views of products, alone or beside each other, which nobody else reads."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        if node.op not in CURVES:
            continue
        source, views = reader.chain(node.inputs[0])
        whole = reader.producer(source, "concat")
        products = (source,) if whole is None else whole.inputs
        if not all(_is_product(reader, name) for name in products):
            continue
        between = {source, *(view.name for view in views)}
        if between & outputs or any(len(readers[name]) > 1 for name in between):
            continue
        if whole is not None:
            yield _match(reader, node, whole, views)
        elif views and node.op != _ROUGH and reader.type(source).size == node.type.size:
            yield _match_views(reader, node, source, views)


def _is_product(reader: Reader, name: str) -> bool:
    """Whether a tensor is a product with weights, or one with a known bias."""
    node = reader.producer(name, "matmul", "add")
    if node is None or all(reader.value(each) is None for each in node.inputs):
        return False
    return node.op == "matmul" or any(reader.producer(each, "matmul") for each in node.inputs)


def _match(reader: Reader, node: Node, whole: Node, views: Sequence[Node]) -> Match:
    curve: dict[str, Any] = dict(node.attributes)
    beside: dict[str, Any] = dict(whole.attributes)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        parts = [builder.op(node.op, each, **curve) for each in operands]
        return reader.replay(builder, builder.op("concat", *parts, **beside), views)

    what = "a curve of each product"
    return Match(what=what, root=node.name, operands=whole.inputs, build=build)


def _match_views(reader: Reader, node: Node, source: str, views: Sequence[Node]) -> Match:
    curve: dict[str, Any] = dict(node.attributes)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        return reader.replay(builder, builder.op(node.op, operands[0], **curve), views)

    what = "a curve of a product"
    return Match(what=what, root=node.name, operands=(source,), build=build)
