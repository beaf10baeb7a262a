"""Stores that finish sums: their parameters are read, and only sums have a drain."""

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.ir.program import Drain, Load, LoadParameters, LocalRows, Space, Store
from celosia.sw.ir.program_interpret import interpret
from celosia.sw.ir.program_verify import verify

CONFIG = resolve_config("tiny")
DIM = CONFIG.dim
TENSORS = {
    "x": Tensor("x", "int32", 2, DIM),
    "bias": Tensor("bias", "int32", 1, DIM),
    "small": Tensor("small", "int8", 2, DIM),
    "wide": Tensor("wide", "int32", 2, DIM),
}
SUMS = LocalRows(Space.ACCUMULATOR, 0, 2, 1, 2)
LOADS = (
    Load(View("x", 0, 0, 2, DIM), SUMS),
    LoadParameters(View("bias", 0, 0, 1, DIM), LocalRows(Space.PARAMETERS, 3, 1, 1, 1)),
)
VALUES = {
    "x": np.arange(-DIM, DIM, dtype=np.int32).reshape(2, DIM) * 50,
    "bias": np.full((1, DIM), 7, np.int32),
}


def graph_of(tensors: dict[str, Tensor], *inputs: str) -> Graph:
    return Graph(name="g", tensors=tensors, inputs=inputs, outputs=(), ops=())


def test_bias_scale_and_relu():
    store = Store(View("small", 0, 0, 2, DIM), SUMS, Drain(-0.5, relu=True, bias_row=3))
    tensors = {name: TENSORS[name] for name in ("x", "bias", "small")}
    verify([*LOADS, store], CONFIG, graph_of(tensors, *VALUES))
    found = interpret([*LOADS, store], CONFIG, tensors, VALUES)["small"]
    want = np.clip(np.rint((VALUES["x"] + 7) * -0.5), 0, 127)
    np.testing.assert_array_equal(found, want)
    assert str(store).endswith(" drain={scale=-0.5, relu=true, bias_row=3}")


def test_a_bias_on_sums_that_stay_int32():
    store = Store(View("wide", 0, 0, 2, DIM), SUMS, Drain(bias_row=3))
    tensors = {name: TENSORS[name] for name in ("x", "bias", "wide")}
    found = interpret([*LOADS, store], CONFIG, tensors, VALUES)["wide"]
    np.testing.assert_array_equal(found, VALUES["x"] + 7)


def test_a_bias_that_nobody_has_loaded_is_refused():
    store = Store(View("small", 0, 0, 2, DIM), SUMS, Drain(0.5, bias_row=4))
    with pytest.raises(ValueError, match="hold nothing"):
        verify([*LOADS, store], CONFIG, graph_of(TENSORS, *VALUES))


def test_only_sums_have_a_drain():
    rows = LocalRows(Space.SCRATCHPAD, 0, 2, 1, 2)
    load = Load(View("small", 0, 0, 2, DIM), rows)
    store = Store(View("wide", 0, 0, 2, DIM), rows, Drain(0.5))
    with pytest.raises(ValueError, match="only sums have a drain"):
        verify([load, store], CONFIG, graph_of(TENSORS, *VALUES, "small"))
