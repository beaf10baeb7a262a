"""Nodes are where the units that were found put them."""

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.placement.rules import Where
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.true_placement import place_units


def test_a_product_of_two_computed_matrices_is_the_host_s():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (8, 8)))
    with builder.origin("first (MatMul)"):
        first = builder.op("matmul", x, builder.constant(np.eye(8, dtype=np.float32)))
    with builder.origin("second (MatMul)"):
        second = builder.op("matmul", first, x)
    graph = builder.finish({"y": second})
    recognized = recognize(graph)
    placement = place_units(graph, recognized, find_units(recognized.graph))
    places = {node.origin: (node.where, node.reason) for node in placement.nodes}
    assert places["first (MatMul)"] == (Where.ACCELERATOR, "")
    assert places["second (MatMul)"][0] == Where.HOST
    assert "operands are computed" in places["second (MatMul)"][1]
    assert placement.accelerator_mac_share == 0.5
