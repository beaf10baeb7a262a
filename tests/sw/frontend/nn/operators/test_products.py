"""Windows of images: how many there are, and which there cannot be."""

from typing import Any

import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from tests.support.float_operators import refused

PLAIN = {"kernel": (3,), "before": (0,), "after": (0,), "strides": (1,), "dilations": (1,)}


def pooled(size: int, **more: Any) -> int:
    """Places of a line of `size` elements behind a pool."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 1, size)))
    return builder.type(builder.op("max_pool", x, **{**PLAIN, **more})).shape[2]


@pytest.mark.parametrize(
    ("size", "more", "places"),
    [
        (3, {}, 1),
        (9, {}, 7),
        (9, {"strides": (2,)}, 4),
        (10, {"strides": (2,)}, 4),
        (9, {"dilations": (4,)}, 1),
        (9, {"dilations": (3,), "strides": (5,)}, 1),
        (2, {"before": (1,)}, 1),
        (1, {"before": (1,), "after": (3,), "strides": (2,)}, 2),
        (0, {"before": (2,), "after": (2,)}, 2),
    ],
)
def test_windows_begin_wherever_a_whole_one_fits(size, more, places):
    assert pooled(size, **more) == places


@pytest.mark.parametrize(
    ("size", "more", "said"),
    [
        (2, {}, "axis 0: a window of 3 is not in 2 elements"),
        (8, {"dilations": (4,)}, "a window of 9 is not in 8 elements"),
        (9, {"strides": (0,)}, r"strides: \(0,\) are not 1 positive numbers"),
        (9, {"kernel": (0,)}, r"kernel: \(0,\) are not 1 positive numbers"),
        (9, {"kernel": (3, 3)}, r"kernel: \(3, 3\) are not 2 positive|are not 1 positive"),
        (9, {"before": (-1,)}, r"before \(-1,\) and after \(0,\) are no sizes of 1 axes"),
        (9, {"after": (0, 0)}, "are no sizes of 1 axes"),
    ],
)
def test_a_window_that_there_cannot_be_is_refused(size, more, said):
    with pytest.raises(GraphError, match=said):
        pooled(size, **more)


def test_an_axis_with_its_padding_has_fewer_than_two_to_the_31_elements():
    most = (1 << 31) - 1
    assert pooled(1, before=(most - 1,)) == most - 2
    with pytest.raises(GraphError, match=f"axis 0 has {most + 1} elements with its padding"):
        pooled(1, before=(most - 1,), after=(1,))


@pytest.mark.parametrize("groups", [0, -1])
def test_a_convolution_has_groups_also_of_no_channels(groups):
    attributes = {**{name: PLAIN[name] for name in PLAIN if name != "kernel"}, "groups": groups}
    said = f"float32[1x0x4] has not the channels of {groups} groups of float32[2x3x3]"
    refused(said, "conv", "float32[1x0x4]", "float32[2x3x3]", **attributes)
