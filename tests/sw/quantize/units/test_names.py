"""Products are called as the file calls them, unless two would have one name."""

from dataclasses import replace

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.names import product_names


def graph(*origins: str) -> FloatGraph:
    """Products with a bias, each behind the one before, whose nodes have these origins."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (4, 6)))
    for number in range(len(origins)):
        weights = builder.constant(np.full((6, 6), 0.25, np.float32))
        x = builder.op("matmul", x, weights, name=f"p{number}")
        x = builder.op("add", x, builder.constant(np.ones(6, np.float32)), name=f"s{number}")
    found = builder.finish({"y": x})
    nodes = [
        replace(node, origin=origins[int(node.name[1:])] if node.op == "matmul" else "/add (Add)")
        for node in found.nodes
    ]
    return replace(found, nodes=tuple(nodes))


def names(*origins: str) -> list[str]:
    found = graph(*origins)
    return list(product_names(find_units(found), found).values())


def test_a_product_has_the_name_of_the_node_that_multiplies():
    assert names("/a (MatMul)", "/b (MatMul)") == ["/a", "/b"]


def test_products_of_one_node_or_of_none_have_their_tensors():
    assert names("/a (MatMul)", "/a (MatMul)") == ["s0", "s1"]
    assert names("", "/b (MatMul)") == ["s0", "/b"]
