"""A difference of two int16 matrices as a graph, with random inputs, some of which saturate."""

import numpy as np

from celosia.sw.ir.graph import Subtract, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case

__all__ = ["difference_case"]


def difference_case(
    rows: int, cols: int, seed: int, scale: float = 0.75, residual_scale: float = 1.25
) -> Case:
    """One operator on numbers of the whole range."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"subtract {rows}x{cols}")
    a, b = (builder.input(Tensor(name, "int16", rows, cols)) for name in "ab")
    out = builder.tensor(Tensor("out", "int16", rows, cols))
    builder.combine(
        Subtract(name="subtract", out=out, a=a, b=b, scale=scale, residual_scale=residual_scale)
    )
    inputs = {name: random.integers(-32768, 32768, (rows, cols)).astype(np.int16) for name in "ab"}
    return Case(builder.finish("out"), inputs)
