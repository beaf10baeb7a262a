"""Random configurations and products."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.sw.ir.matmul import MatMul

__all__ = ["configs", "operands", "problems"]


@st.composite
def configs(draw: st.DrawFn) -> AcceleratorConfig:
    """Legal configurations, small memories above all."""
    values: dict[str, Any] = {
        "dim": draw(st.sampled_from((2, 4, 8, 16, 64))),
        "scratchpad_kib": draw(st.sampled_from((1, 2, 8, 64, 256))),
        "accumulator_kib": draw(st.sampled_from((1, 2, 8, 64))),
        "scratchpad_banks": draw(st.sampled_from((2, 4, 8))),
        "accumulator_banks": draw(st.sampled_from((1, 2, 4))),
        "bus_bits": draw(st.sampled_from((32, 128, 512))),
        "parameter_rows": draw(st.sampled_from((8, 128))),
        "load_queue": draw(st.sampled_from((2, 4, 16))),
    }
    while True:
        try:
            return AcceleratorConfig(**values)
        except ConfigError as error:
            # Each bank must hold two tiles: double the memory that is too small.
            name = "scratchpad_kib" if str(error).startswith("scratchpad") else "accumulator_kib"
            values[name] *= 2


@st.composite
def problems(draw: st.DrawFn, dim: int) -> MatMul:
    """Products of a few tiles with every option; sizes around `dim` are likely."""
    extents = st.one_of(st.sampled_from((1, dim - 1, dim, dim + 1)), st.integers(1, 5 * dim))
    scale = draw(st.sampled_from((None, 1.0, 0.02, -0.01)))
    return MatMul(
        m=draw(extents),
        n=draw(extents),
        k=draw(extents),
        a_unsigned=draw(st.booleans()),
        b_transposed=draw(st.booleans()),
        bias=draw(st.booleans()),
        scale=scale,
        relu=scale is not None and draw(st.booleans()),
    )


def operands(problem: MatMul, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """A, B as it stands in memory, and the bias or None: numbers over their whole range."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 256, (problem.m, problem.k), np.uint8)
    b = random.integers(-128, 128, problem.b_shape, np.int8)
    bias = random.integers(-(1 << 31), 1 << 31, problem.n, np.int32) if problem.bias else None
    return (a if problem.a_unsigned else a.view(np.int8)), b, bias


def raw(problem: MatMul) -> MatMul:
    """`problem` with int32 results."""
    return replace(problem, scale=None, relu=False)
