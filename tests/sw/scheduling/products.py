"""Graphs of one product, with operands."""

from typing import Any

import numpy as np

from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.problems import graph_of

__all__ = ["product_graph"]


def product_graph(problem: MatMul, seed: int = 0) -> tuple[Graph, dict[str, Any]]:
    """`problem` as a graph, and values of its inputs over their whole range."""
    random, graph = np.random.default_rng(seed), graph_of("product", problem)
    values = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        info = np.iinfo(tensor.type)
        values[name] = random.integers(info.min, info.max, tensor.shape, tensor.type, endpoint=True)
    return graph, values
