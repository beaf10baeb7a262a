"""Convolutions become products of patches or of windows."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.convolutions import (
    find_biases,
    find_convolutions,
    find_trims,
)
from celosia.sw.frontend.recognize.rewrite import rewrite
from tests.sw.frontend.importer.models import floats, imported, model


def convolved(image, filters, *, strides, before=None, after=None, dilations=None, groups=1):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", image))
    random = np.random.default_rng(0)
    weights = builder.constant(random.standard_normal(filters).astype(np.float32))
    bias = builder.constant(random.standard_normal(filters[0]).astype(np.float32))
    rank = len(strides)
    out = builder.op(
        "conv",
        x,
        weights,
        bias,
        strides=strides,
        before=before or (0,) * rank,
        after=after or (0,) * rank,
        dilations=dilations or (1,) * rank,
        groups=groups,
    )
    graph = builder.finish({"out": out})
    return graph, rewrite(graph, find_convolutions)


def trimmed(starts, sizes, *, steps=(1, 1, 1), read=False):
    """Places 0 to 12 of a convolution of 9 of them, padded by 4 on both sides, with dilation 2."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 3, 9)))
    weights = builder.constant(floats(4, 3, 3))
    one = {"strides": (1,), "before": (4,), "after": (4,), "dilations": (2,), "groups": 1}
    image = builder.op("conv", x, weights, **one)
    outputs = {"y": builder.op("slice", image, starts=starts, sizes=sizes, steps=steps)}
    before = builder.finish(outputs | ({"image": image} if read else {}))
    done = rewrite(before, find_trims)
    assert not done.refusals
    after, given = done.graph, {"x": floats(1, 3, 9, seed=1)}
    found, expected = (interpret(graph, given)["y"] for graph in (after, before))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    return after


@pytest.mark.parametrize(
    ("start", "size", "padding"),
    [(0, 9, (4, 0)), (4, 9, (0, 4)), (0, 12, (4, 3)), (1, 11, (3, 3)), (4, 5, (0, 0))],
)
def test_places_that_nobody_reads_are_padding_that_is_not_needed(start, size, padding):
    (node,) = trimmed((0, 0, start), (1, 4, size)).nodes
    assert (node.op, node.attributes["before"], node.attributes["after"]) == (
        "conv",
        padding[:1],
        padding[1:],
    )


@pytest.mark.parametrize(
    ("starts", "sizes", "more"),
    [
        ((0, 0, 0), (1, 3, 9), {}),  # Channels are left out.
        ((0, 0, 0), (1, 4, 4), {}),  # The image is not all read.
        ((0, 0, 5), (1, 4, 8), {}),
        ((0, 0, 0), (1, 4, 5), {"steps": (1, 1, 2)}),
        ((0, 0, 0), (1, 4, 9), {"read": True}),
    ],
)
def test_other_parts_of_a_convolution_stay_parts(starts, sizes, more):
    assert [node.op for node in trimmed(starts, sizes, **more).nodes] == ["conv", "slice"]


def test_patches_are_reordered_but_not_copied():
    graph, done = convolved((2, 3, 8, 12), (5, 3, 4, 4), strides=(4, 4))
    ops = [node.op for node in done.graph.nodes]
    assert "matmul" in ops
    assert not {"conv", "slice", "concat", "pad"} & {*ops}
    assert sum(graph.macs().values()) == sum(done.graph.macs().values())


@pytest.mark.parametrize(
    ("image", "filters", "options"),
    [
        ((2, 3, 9), (5, 3, 3), {"strides": (1,), "before": (1,), "after": (1,)}),
        ((2, 3, 9), (5, 3, 3), {"strides": (2,), "before": (1,), "after": (1,)}),
        ((1, 4, 7, 6), (5, 4, 3, 2), {"strides": (2, 1), "before": (1, 0), "after": (0, 1)}),
        ((1, 4, 9), (5, 4, 3), {"strides": (1,), "dilations": (2,)}),
        ((1, 4, 9), (5, 4, 2), {"strides": (2,)}),
        ((1, 4, 5, 5), (6, 4, 1, 1), {"strides": (1, 1)}),
    ],
)
def test_windows_become_rows_of_a_product(image, filters, options):
    graph, done = convolved(image, filters, **options)
    assert not done.refusals
    assert not any(node.op == "conv" for node in done.graph.nodes)
    assert sum(graph.macs().values()) == sum(done.graph.macs().values())


@pytest.mark.parametrize(
    ("image", "filters", "options"),
    [
        ((2, 6, 9), (24, 2, 4), {"strides": (1,), "before": (2,), "after": (2,), "groups": 3}),
        ((1, 4, 7, 6), (16, 2, 3, 2), {"strides": (2, 1), "before": (1, 0), "groups": 2}),
        ((1, 6, 8), (16, 3, 4), {"strides": (4,), "groups": 2}),
        ((1, 6, 9), (16, 3, 3), {"strides": (1,), "dilations": (2,), "groups": 2}),
    ],
)
def test_wide_groups_become_a_product_each(image, filters, options):
    graph, done = convolved(image, filters, **options)
    assert not done.refusals
    ops = [node.op for node in done.graph.nodes]
    assert "conv" not in ops
    assert ops.count("matmul") == options["groups"]
    assert sum(graph.macs().values()) == sum(done.graph.macs().values())


@pytest.mark.parametrize(
    ("groups", "each", "channels", "products"),
    [
        *[(32, 1, 1, 2), (24, 1, 1, 2), (9, 1, 1, 1), (8, 2, 3, 1), (6, 4, 1, 2)],
        # No number from 8 filters up divides them: the last product has fewer groups.
        *[(5, 6, 6, 3), (17, 1, 1, 2), (11, 3, 2, 3), (3, 7, 1, 2)],
    ],
)
def test_narrow_groups_become_a_product_for_as_many_as_an_array_is_wide(
    groups, each, channels, products
):
    """As many as have 16 filters or fewer; the proof compares numbers."""
    image, filters = (2, groups * channels, 5, 6), (groups * each, channels, 3, 2)
    graph, done = convolved(image, filters, strides=(1, 2), before=(1, 0), groups=groups)
    ops = [node.op for node in done.graph.nodes]
    assert not done.refusals
    assert "conv" not in ops
    assert ops.count("matmul") == products
    given = {"x": floats(*image, seed=3)}
    (found,), (wanted,) = (interpret(each, given).values() for each in (done.graph, graph))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_narrow_groups_are_refused_with_the_reason():
    _, done = convolved((1, 4, 9), (4, 1, 3), strides=(1,), groups=4)
    (refusal,) = done.refusals
    assert refusal.reason == "it is a convolution of 4 groups"


def added(shape, turned=False, outputs=("y",)):
    """A convolution, a constant of this shape added behind it, and what the pass makes of them."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["image"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["b", "image"] if turned else ["image", "b"], ["y"]),
    ]
    constants = {"w": floats(4, 3, 3, 3), "b": floats(*shape, seed=1)}
    graph = imported(model(nodes, {"x": [1, 3, 5, 4]}, outputs, constants)).graph
    found = rewrite(graph, find_biases).graph
    x = {"x": floats(1, 3, 5, 4, seed=2)}
    np.testing.assert_allclose(interpret(found, x)["y"], interpret(graph, x)["y"], atol=1e-5)
    return [node.op for node in found.nodes]


@pytest.mark.parametrize("shape", [(4, 1, 1), (1, 4, 1, 1)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_number_for_each_channel(shape, turned):
    assert added(shape, turned) == ["conv"]


@pytest.mark.parametrize("shape", [(4,), (1,), (5, 1), (4, 5, 4), (2, 4, 1, 1)])
def test_what_is_no_number_for_each_channel_is_added(shape):
    assert added(shape) == ["conv", "add"]


def test_a_convolution_that_is_read_without_it():
    assert added((4, 1, 1), outputs=("y", "image")) == ["conv", "add"]
