"""Graphs of one product, with operands."""

from typing import Any

import numpy as np

from celosia.sw.ir.graph import Graph, Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.matmul import MatMul

__all__ = ["product_graph"]


def product_graph(problem: MatMul, seed: int = 0) -> tuple[Graph, dict[str, Any]]:
    """`problem` as a graph, and values of its inputs over their whole range."""
    random, builder = np.random.default_rng(seed), GraphBuilder("product")
    kind = "uint8" if problem.a_unsigned else "int8"
    a = builder.input(Tensor("a", kind, problem.m, problem.k))
    b = builder.input(Tensor("b", "int8", *problem.b_shape))
    bias = builder.input(Tensor("bias", "int32", 1, problem.n)) if problem.bias else None
    out = "int32" if problem.scale is None else "int8"
    c = builder.tensor(Tensor("c", out, problem.m, problem.n))
    finish = Sums() if problem.scale is None else Requantize(problem.scale, relu=problem.relu)
    transposed = problem.b_transposed
    builder.matmul("product", c, a, b, finish, bias=bias, b_transposed=transposed)
    graph = builder.finish("c")
    values = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        info = np.iinfo(tensor.type)
        values[name] = random.integers(info.min, info.max, tensor.shape, tensor.type, endpoint=True)
    return graph, values
