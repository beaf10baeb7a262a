"""Graphs with a layer normalization that is fused with the sum before it."""

import numpy as np

from celosia.sw.ir.graph import AddResidual, Normalized, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case

__all__ = ["normalized_sum"]


def normalized_sum(rows: int, cols: int) -> Case:
    """A product that is added to the stream, and the normalization of the whole rows behind it."""
    random = np.random.default_rng(rows * cols)
    builder = GraphBuilder("normalized sum")
    inputs = {
        "a": random.integers(-128, 128, (rows, 8)).astype(np.int8),
        "stream": random.integers(-4000, 4000, (rows, cols)).astype(np.int16),
    }
    a = builder.input(Tensor("a", "int8", rows, 8))
    stream = builder.input(Tensor("stream", "int16", rows, cols))
    w = builder.constant("w", random.integers(-128, 128, (8, cols)).astype(np.int8))
    total = builder.tensor(Tensor("total", "int16", rows, cols))
    builder.matmul("add", total, a, w, AddResidual(0.03, stream, 0.9))
    gamma = builder.constant("gamma", random.integers(50, 99, (1, cols)).astype(np.int16))
    beta = builder.constant("beta", random.integers(-999, 999, (1, cols)).astype(np.int32))
    out = builder.tensor(Tensor("out", "int8", rows, cols))
    builder.layernorm("norm", total, [Normalized(out, gamma, beta, 3)])
    return Case(builder.finish("out"), inputs)
