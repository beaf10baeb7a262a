"""The shape of the integers of a graph, without calibration."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import MatMul
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.quantize.weight_types import WeightTypes


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


def test_weights_are_of_the_types_that_are_asked_for():
    builder = GraphBuilder("test")
    out = builder.input("x", TensorType("float32", (4, 6)))
    for _ in range(2):
        out = builder.op("matmul", out, builder.constant(np.full((6, 6), 0.25, np.float32)))
    graph = builder.finish({"y": out})
    for last, bits in ((WeightType.INT8, [4, 8]), (WeightType.INT4, [4, 4])):
        types = WeightTypes(inner=WeightType.INT4, last=last)
        (segment,), _ = sketch(graph, weights=types)
        found = [segment.tensors[op.b.tensor] for op in segment.ops if isinstance(op, MatMul)]
        assert [each.packing.bits for each in found] == bits
