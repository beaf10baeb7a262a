"""Graphs that stores alone can finish: int32, or int8 by one scale."""

import numpy as np

from celosia.sw.ir.graph import Requantize, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case

__all__ = ["stored_case"]


def stored_case(rows: int, width: int, seed: int) -> Case:
    """Two products with a bias, sums of a third one, and these by one scale."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"stored {rows}x{width}")

    def weights(name: str, depth: int, cols: int):
        return builder.constant(name, random.integers(-127, 128, (depth, cols)).astype(np.int8))

    def bias(name: str, cols: int):
        return builder.constant(name, random.integers(-9999, 9999, (1, cols)).astype(np.int32))

    x = builder.input(Tensor("x", "int8", rows, width))
    hidden = builder.tensor(Tensor("hidden", "int8", rows, 2 * width + 3))
    builder.matmul(
        "up",
        hidden,
        x,
        weights("w up", width, 2 * width + 3),
        Requantize(0.0015, relu=True),
        bias=bias("b up", 2 * width + 3),
    )
    out = builder.tensor(Tensor("out", "int32", rows, width))
    down = weights("w down", 2 * width + 3, width)
    builder.matmul("down", out, hidden, down, Sums(), bias=bias("b down", width))
    sums = builder.tensor(Tensor("sums", "int32", rows, 7))
    builder.matmul("last", sums, hidden, weights("w last", 2 * width + 3, 7), Sums())
    small = builder.tensor(Tensor("small", "int8", rows, 7))
    builder.transform("scaled", small, sums, Requantize(0.001))
    graph = builder.finish("out", "small")
    return Case(graph, {"x": random.integers(-128, 128, (rows, width)).astype(np.int8)})
