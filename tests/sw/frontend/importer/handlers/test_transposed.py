"""Transposed convolutions, compared with ONNX Runtime."""

import pytest

from celosia.sw.frontend.nn.interpret import interpret
from tests.sw.frontend.importer.microsoft.nodes import by_runtime, compare, model_of
from tests.sw.frontend.importer.models import floats, imported


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        ((3, 3), {}),
        ((2, 2), {"strides": [2, 2]}),
        ((3, 2), {"strides": [2, 1], "pads": [1, 0, 0, 1]}),
        ((3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        ((2, 2), {"strides": [3, 3]}),
        ((2, 3), {"dilations": [2, 1], "strides": [2, 2]}),
        ((3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        ((3, 3), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        ((3, 3), {"strides": [2, 2], "auto_pad": "VALID"}),
        ((3, 3), {"strides": [2, 2], "output_shape": [10, 8]}),
        ((1, 1), {"pads": [1, 1, 1, 1]}),
        ((2, 2), {"strides": [1, 1], "group": 2}),
        ((3,), {"strides": [2], "pads": [0, 1]}),
    ],
)
@pytest.mark.parametrize("bias", [False, True])
def test_images_are_those_of_onnx_runtime(kernel, attributes, bias):
    image, filters = floats(2, 4, *(5, 4)[: len(kernel)]), floats(4, 3, *kernel, seed=1)
    count = 3 * attributes.get("group", 1)
    inputs = [image, filters, *([floats(count, seed=2)] if bias else [])]
    compare("ConvTranspose", inputs, domain="", within=(1e-4, 1e-5), **attributes)


def test_patches_that_touch_are_one_product():
    inputs = [floats(2, 4, 5, 4), floats(4, 3, 2, 2, seed=1), floats(3, seed=2)]
    proto, values = model_of("ConvTranspose", inputs, domain="", strides=[2, 2])
    graph = imported(proto).graph
    ops = [node.op for node in graph.nodes]
    assert "conv" not in ops
    assert ops.count("matmul") == 1
    # As many as elements of the image, times those of its filters.
    assert sum(graph.macs().values()) == 2 * 4 * 5 * 4 * 3 * 2 * 2
    assert (interpret(graph, values)["y"] - by_runtime(proto, values)[0]).max() < 1e-5


def test_what_leaves_nothing_is_refused():
    inputs = [floats(1, 1, 2, 2), floats(1, 1, 1, 1)]
    proto, _ = model_of("ConvTranspose", inputs, domain="", pads=[1, 1, 1, 1])
    (reason,) = imported(proto).refused.values()
    assert "nothing is left of" in reason
