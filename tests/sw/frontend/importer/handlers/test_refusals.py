"""What handlers refuse, because the file is wrong or because they would compute something else."""

import numpy as np
import pytest
from onnx import helper

from tests.sw.frontend.importer.models import floats, imported, model

BYTES = np.arange(6, dtype=np.int8).reshape(2, 3)
TENTH, ROWS = np.float32(0.1), np.array([0.1, 0.2], np.float32)
ZERO = np.int8(0)


def ints(*values):
    return np.array(values, np.int64)


def refusal(op, shape, constants, outputs=1, opset=17, **attributes):
    """Why a node is refused whose first operand is an input of `shape`, or a constant if None."""
    names = [f"c{index}" for index in range(len(constants))]
    inputs = {} if shape is None else {"x": shape}
    results = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op, [*inputs, *names], results, name="it", **attributes)
    known = dict(zip(names, map(np.asarray, constants), strict=True))
    return imported(model([node], inputs, results, known, opset)).refused.get(f"it ({op})")


@pytest.mark.parametrize("scale", [ROWS, ROWS.reshape(2, 1)], ids=["rows", "a column of rows"])
def test_results_with_several_scales_are_refused(scale):
    """Applied along any axis, they would be numbers that the file does not mean."""
    zero = np.zeros(scale.shape, np.int8)
    operands = (BYTES, TENTH, ZERO, BYTES.T, TENTH, ZERO, scale, zero)
    reason = "scales of rows or columns of its result are not supported"
    assert refusal("QLinearMatMul", None, operands) == reason


@pytest.mark.parametrize(
    ("op", "shape", "constants", "attributes", "reason"),
    [
        ("Gelu", [2], (), {"approximate": "fast", "opset": 20}, "approximation 'fast' is unknown"),
        ("BitShift", None, ([4], [1]), {"direction": "RIGHT"}, "shifts of int64 to the right"),
        ("BatchNormalization", [1, 2, 3], (ROWS,) * 4, {"training_mode": 1}, "in training mode"),
        ("InstanceNormalization", [1, 2], (ROWS, ROWS), {}, "is no image"),
        (
            "GroupNormalization",
            [1, 4, 2, 2],
            (ROWS, ROWS),
            {"num_groups": 3, "opset": 18},
            "4 channels are not 3 groups",
        ),
        ("GatherND", [2, 3], (ints([0]),), {"batch_dims": 2}, "batch_dims: 2 is not possible"),
        ("GatherND", [2], (ints([0, 0]),), {}, "index more axes than"),
        ("OneHot", None, ([0], -1, [0.0, 1.0]), {}, "its depth -1 is not in 0.."),
        ("OneHot", None, ([0], (1 << 24) + 1, [0.0, 1.0]), {}, "its depth 16777217 is not in 0.."),
        ("Reshape", [2, 3], (ints(-1, 4),), {}, "has not the elements of shape (-1, 4)"),
        ("Reshape", [2, 3], (ints(-1, -1),), {}, "has not the elements of shape (-1, -1)"),
        ("Reshape", [2, 3], (ints(2, 3, 0),), {}, "its shape (2, 3, 0) copies axis 2"),
        ("Reshape", [2, 3], (ROWS,), {}, "is no list of whole numbers"),
        ("Reshape", [2, 3], (ints([2, 3]),), {}, "is no list of whole numbers"),
        ("Tile", [2, 3], (np.ones(2, bool),), {}, "is no list of whole numbers"),
        ("Flatten", [2, 3], (), {"axis": 3}, "axis 3 is not in"),
        ("Squeeze", [2, 1], (ints(0),), {}, "axis 0 of float32[2x1] has not size 1"),
        ("Expand", [2, 3], (ints(2, 4),), {}, "does not broadcast to shape (2, 4)"),
        ("Tile", [2, 3], (ints(2),), {}, "its repeats are (2,)"),
        ("Tile", [2, 3], (ints(2, -1),), {}, "its repeats are (2, -1)"),
        ("Split", [2, 3], (ints(1, 1),), {"axis": 1, "outputs": 2}, "parts (1, 1) are not axis 1"),
        ("Split", [2, 3], (), {"num_outputs": 3, "outputs": 2, "opset": 18}, "2 outputs, not 3"),
        ("Pad", [2, 3], (ints(1, 1, 1),), {}, "its pads (1, 1, 1) are not two for each axis"),
        ("MatMul", [2, 3], (np.float32(2),), {}, "an operand is a scalar"),
        ("Conv", [1, 2, 4], (floats(2, 2, 2),), {"strides": [0]}, "is not positive"),
        ("Conv", [1, 2, 4], (floats(2, 2, 2),), {"kernel_shape": [3]}, "is not that of its filter"),
        ("Conv", [1, 2, 4], (floats(2, 2, 2),), {"auto_pad": "MOST"}, "auto_pad 'MOST' is unknown"),
        ("Einsum", [2, 3], (), {"equation": "ij->ik"}, "makes axes out of nothing"),
        ("Einsum", [2, 3], (), {"equation": "ijk->i"}, "does not name each axis"),
        ("Range", None, (0, 4, 0), {}, "a range from 0 to 4 by 0 has no end"),
        ("EyeLike", [2, 3, 4], (), {}, "is no matrix"),
        ("QuantizeLinear", [2], (TENTH, np.int32(0)), {}, "it quantizes to int32"),
        ("DequantizeLinear", None, (BYTES, ROWS, BYTES[:, 0]), {"axis": 1}, "its scales are"),
    ],
)
def test_what_is_no_node_is_refused(op, shape, constants, attributes, reason):
    found = refusal(op, shape, constants, **attributes)
    assert found is not None
    assert reason in found
