"""Chains of views become as short as they can be, and repeated heads are shared."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.frontend.recognize.views import (
    element_numbers,
    find_groups,
    find_long_views,
    numbered,
)


def shortened(shape, *views):
    """The operators that are left of a chain of views, which still does the same."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", shape))
    for op, attributes in views:
        x = builder.op(op, x, **attributes)
    graph = builder.finish({"out": builder.op("neg", x)})
    found = rewrite(graph, find_long_views).graph
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected, out = (interpret(each, {"x": value})["out"] for each in (graph, found))
    np.testing.assert_array_equal(out, expected)
    return [node.op for node in found.nodes[:-1]]


def reshape(*shape):
    return "reshape", {"shape": shape}


def transpose(*permutation):
    return "transpose", {"permutation": permutation}


@pytest.mark.parametrize(
    ("views", "left"),
    [
        ([transpose(0, 2, 1), transpose(0, 2, 1)], []),
        ([transpose(1, 0, 2), transpose(0, 2, 1)], ["transpose"]),
        ([reshape(6, 4), reshape(24)], ["reshape"]),
        # The newer exporter's transposition of keys: merge, turn, split.
        (
            [reshape(2, 3, 2, 2), reshape(6, 2, 2), transpose(0, 2, 1), reshape(2, 3, 2, 2)],
            ["reshape", "transpose"],
        ),
        ([reshape(2, 3, 4), reshape(2, 3, 2, 2), transpose(0, 2, 1, 3), reshape(2, 2, 6)],
         ["reshape", "transpose", "reshape"]),
    ],
)  # fmt: skip
def test_a_chain_is_as_short_as_it_can_be(views, left):
    assert shortened((2, 3, 4), *views) == left


def test_elements_are_numbered_through_slices_and_gathers():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (4, 3)))
    rows = builder.op("gather", x, builder.constant(np.array([2, 0])), axis=0)
    part = builder.op("slice", rows, starts=(0, 1), sizes=(2, 1), steps=(1, 1))
    graph = builder.finish({"out": part})
    source, numbers = element_numbers(Reader(graph), part) or ("", np.zeros(0))
    assert source == "x"
    assert numbers.tolist() == [[7], [1]]


@pytest.mark.parametrize(("repeated", "shared"), [("inner", 2), ("outer", 4), ("none", 4)])
def test_heads_that_are_repeated_behind_each_other_are_shared(repeated, shared):
    builder = GraphBuilder("test")
    kind = TensorType("float32", (1, 4, 5, 8))
    builder.input("q", kind)
    heads = []
    for name in "kv":
        x = builder.input(name, TensorType("float32", (1, 4 if repeated == "none" else 2, 5, 8)))
        if repeated != "none":
            inner = repeated == "inner"
            x = builder.op("reshape", x, shape=(1, 2, 1, 5, 8) if inner else (1, 1, 2, 5, 8))
            x = builder.op("broadcast", x, shape=(1, 2, 2, 5, 8))
            x = builder.op("reshape", x, shape=kind.shape)
        heads.append(x)
    attributes = {"scale": 1.0, "causal": True, "first_query": 0}
    graph = builder.finish({"out": builder.op("attention", "q", *heads, **attributes)})
    grouped = rewrite(graph, find_groups)
    found = rewrite(grouped.graph, find_long_views).graph
    assert not grouped.refusals
    types, node = found.types(), found.nodes[-1]
    assert types[node.inputs[1]].shape == types[node.inputs[2]].shape == (1, shared, 5, 8)
    assert len(found.nodes) == (1 if repeated in {"inner", "none"} else 7)
    random = np.random.default_rng(0)
    inputs = {
        name: random.standard_normal(kind.shape).astype(np.float32)
        for name, kind in graph.inputs.items()
    }
    expected, out = (interpret(each, inputs)["out"] for each in (graph, found))
    np.testing.assert_allclose(out, expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 0), (2, 3, 4), (5, 13), (16, 16)])
def test_numbers_of_elements_count_up_and_stay(shape):
    """Graphs share them: nobody may write there."""
    found = numbered(shape)
    assert found.shape == shape
    assert found.ravel().tolist() == [*range(found.size)]
    with pytest.raises(ValueError, match="read-only"):
        found[...] = 0
