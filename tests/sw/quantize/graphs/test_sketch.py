"""The shape of the integers of a graph, without calibration."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import MatMul
from celosia.sw.quantize.graphs.sketch import sketch


@pytest.mark.parametrize(
    ("op", "attributes"),
    [("gelu", {"form": "erf"}), ("silu", {"alpha": 1.0}), ("relu", {}), ("softmax", {"axis": 1})],
)
def test_a_function_of_an_input_reads_sums(op, attributes):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (4, 6)))
    (segment,), host = sketch(builder.finish({"y": builder.op(op, x, **attributes)}))
    (name,) = segment.inputs
    assert (segment.tensors[name].type, segment.tensors[name].shape) == ("int32", (4, 6))
    assert not host


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_a_product_has_its_sizes_and_a_bias_where_there_is_one(bias):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (4, 6)))
    out = builder.op("matmul", x, builder.constant(np.full((6, 5), 0.25, np.float32)))
    out = builder.op("add", out, builder.constant(np.full(5, bias, np.float32)))
    (segment,), host = sketch(builder.finish({"y": out}))
    (product,) = segment.ops
    assert isinstance(product, MatMul)
    assert (product.a.cols, product.out.rows, product.out.cols) == (6, 4, 5)
    assert (product.bias is not None) == bool(bias)
    assert not host
