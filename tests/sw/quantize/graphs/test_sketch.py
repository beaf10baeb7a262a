"""The shape of the integers of a graph, without calibration."""

import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
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
