"""QuantizeLinear with DequantizeLinear behind it is a range; anything else is arithmetic."""

import numpy as np
import pytest
from onnx import helper

from tests.sw.frontend.importer.models import imported, model

SCALES = {"s": np.float32(0.5), "t": np.float32(0.25), "z": np.uint8(10), "y0": np.uint8(0)}


def pair(scale="s", zero="z"):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("Transpose", ["q"], ["turned"]),
        helper.make_node("DequantizeLinear", ["q", scale, zero], ["d"]),
        helper.make_node("Neg", ["d"], ["y"]),
    ]
    constants = {name: np.asarray(value) for name, value in SCALES.items()}
    return imported(model(nodes, {"x": [2, 3]}, ["y"], constants))


def test_a_pair_is_the_range_of_what_it_quantizes():
    found = pair()
    assert [node.op for node in found.graph.nodes] == ["neg"]
    assert found.graph.nodes[0].inputs == ("x",)
    assert found.ranges == {"x": (-5.0, 122.5)}
    assert found.notes == (
        "pairs of QuantizeLinear and DequantizeLinear: 1 ranges are the file's, integers need not "
        "be",
    )


@pytest.mark.parametrize(("scale", "zero"), [("t", "z"), ("s", "y0")])
def test_other_numbers_behind_it_are_computed(scale, zero):
    found = pair(scale, zero)
    assert not found.ranges
    assert "round" in [node.op for node in found.graph.nodes]
