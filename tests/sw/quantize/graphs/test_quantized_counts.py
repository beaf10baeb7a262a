"""What a run of a quantized model says of its numbers: how many were at the end of a range."""

import numpy as np
from onnx.helper import make_node as node

from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.models import imported, model

EYE = np.eye(4, dtype=np.float32)


def test_elements_beyond_the_calibration_are_counted_tensor_by_tensor():
    """Numbers up to 1 were seen: seven are larger, of which the product has each once more."""
    proto = model([node("MatMul", ["x", "w"], ["y"])], {"x": [5, 4]}, ["y"], {"w": EYE})
    graph = imported(proto).graph
    seen = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
    quantized = quantize_graph(graph, [{"x": seen}])
    far = np.full((5, 4), 0.25, np.float32)
    far.flat[:7] = (3, -3, 5, 100, -7, 2, 9)
    counts = [run_model(quantized, {"x": each}) for each in (far / 200, far)]
    assert not counts[0].saturated
    assert set(counts[1].saturated.values()) == {7}
    assert [result.clipped for result in counts] == [{}, {}]
    assert [result.blind for result in counts] == [{}, {}]
