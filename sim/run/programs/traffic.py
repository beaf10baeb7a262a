"""The least that must cross the bus: each operand once, each result once, all else on the chip."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from celosia.isa.config import ACC_BYTES
from celosia.isa.documents.record import Count
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul

__all__ = ["Traffic", "graph_traffic", "product_traffic"]


@dataclass(frozen=True)
class Traffic:
    """Bytes that must move if nothing moves twice, and all else stays on the chip."""

    read: Count
    """Bytes of operands and constants."""
    written: Count
    """Bytes of results."""


def product_traffic(problem: MatMul) -> Traffic:
    """The least traffic of one product alone: A, B and bias are read once, C is written once."""
    read = problem.m * problem.k + problem.k * problem.n
    read += ACC_BYTES * problem.n if problem.bias else 0
    return Traffic(read, problem.m * problem.n * problem.c_bytes)


def graph_traffic(graph: Graph, operators: Collection[str]) -> Traffic:
    """The least traffic of some `operators` of `graph`.

    Read are constants and inputs that none before them needs, written are outputs: so the least
    traffic of parts of a graph adds up to that of the whole.
    """
    chosen, seen = set(operators), set[str]()
    read = written = 0
    for op in graph.ops:
        own = op.name in chosen
        for tensor in dict.fromkeys(view.tensor for view in op.operands):
            outside = tensor in graph.constants or tensor in graph.inputs
            if outside and tensor not in seen:
                seen.add(tensor)
                read += graph.tensors[tensor].bytes if own else 0
        for view in op.results:
            if own and view.tensor in graph.outputs:
                written += view.rows * view.cols * _element_bytes(graph, view.tensor)
    return Traffic(read, written)


def _element_bytes(graph: Graph, name: str) -> int:
    return np.dtype(graph.tensors[name].type).itemsize
