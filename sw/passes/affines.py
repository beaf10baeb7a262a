"""Gamma and beta of normalizations, as TRANSFORM takes them: a constant of their own."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.graph import Graph, LayerNorm, Tensor

__all__ = ["affine_name", "affine_row", "with_affines"]


def affine_name(op: LayerNorm) -> str:
    """The constant that holds gamma and beta of all outputs, as TRANSFORM takes them."""
    return f"{op.name}.affine"


def affine_row(graph: Graph, op: LayerNorm, dim: int) -> NDArray[np.int32]:
    """The value of that constant, one row: for each dim / 2 columns dim of gamma, dim of beta.

    The first output's are in the first half of each dim, the second one's in the other half.
    """
    half = dim // 2
    blocks = -(-op.source.cols // half)
    packed = np.zeros((blocks, 2, 2, half), np.int32)
    for number, output in enumerate(op.outputs):
        for kind, view in enumerate((output.gamma, output.beta)):
            row = np.zeros(blocks * half, np.int32)
            row[: view.cols] = graph.constants[view.tensor][view.slices][0]
            packed[:, kind, number] = row.reshape(blocks, half)
    return packed.reshape(1, -1)


def with_affines(graph: Graph, dim: int) -> Graph:
    """`graph` with a constant for each normalization's gamma and beta."""
    rows = {
        affine_name(op): affine_row(graph, op, dim) for op in graph.ops if isinstance(op, LayerNorm)
    }
    tensors = {name: Tensor(name, "int32", *row.shape) for name, row in rows.items()}
    return replace(
        graph,
        tensors={**graph.tensors, **tensors},
        constants={**graph.constants, **rows},
    )
