"""Parts of graphs are alike if only names and numbers differ."""

import numpy as np

from celosia.isa.encoding import WeightType
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graphs.alike import anonymous, likeness


def product(name: str, inputs: int = 8, kind: WeightType = WeightType.INT8):
    graph = graph_of_product(name, inputs, kind)
    return anonymous(graph.tensors, graph.ops)


def graph_of_product(name: str, inputs: int = 8, kind: WeightType = WeightType.INT8):
    builder = GraphBuilder(name)
    x = builder.input(Tensor(f"{name}.x", "int8", 4, inputs))
    weights = builder.constant(f"{name}.w", np.ones((inputs, 6), np.int8), kind)
    out = builder.tensor(Tensor(f"{name}.y", "int8", 4, 6))
    builder.matmul(name, out, x, weights, Requantize(0.5))
    return builder.finish(f"{name}.y")


def test_names_do_not_matter_but_sizes_and_the_packing_of_weights_do():
    assert product("a") == product("b")
    assert product("a") != product("a", 16)
    assert product("a") != product("a", kind=WeightType.INT4)


def test_graphs_are_alike_whose_ends_are_the_same_tensors():
    def like(name, *ends):
        graph = graph_of_product(name)
        return likeness(graph.tensors, graph.ops, *ends)

    assert like("a", ["a.x"], ["a.y"]) == like("b", ["b.x"], ["b.y"])
    assert like("a", ["a.x"], ["a.y"]) != like("a", ["a.x"], ["a.x"])
    assert like("a", ["a.x"], ["a.y"]) != like("a", ["a.x"], [])
