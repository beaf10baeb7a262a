"""What a mask does is found by evaluating it, however it is written."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.masks import find_masks, is_right_padded, mask_form
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match, rebuild, rewrite

BATCH, HEADS, KEYS, WIDTH = 2, 3, 6, 4
LEAST = float(np.finfo(np.float32).min)


class Graph(GraphBuilder):
    """A builder of attention with a bias made of an input `mask`."""

    def __init__(self, kind="int64"):
        super().__init__("test")
        for name in "qkv":
            self.input(name, TensorType("float32", (BATCH, HEADS, KEYS, WIDTH)))
        self.input("mask", TensorType(kind, (BATCH, KEYS)))

    def padding(self, least=LEAST):
        """(1 - mask) * least, as classic exports have it."""
        four = self.op("reshape", "mask", shape=(BATCH, 1, 1, KEYS))
        shown = self.op("cast", four, to="float32")
        absent = self.op("sub", self.like(1, "q"), shown)
        return self.op("mul", absent, self.like(least, "q"))

    def recognized(self, bias):
        attributes = {"scale": 0.5, "causal": False, "first_query": 0}
        out = self.op("attention", "q", "k", "v", bias, **attributes)
        graph = self.finish({"out": out})
        done = rewrite(graph, find_masks)
        found, refused = done.graph, list(done.refusals)
        random = np.random.default_rng(0)
        inputs = {
            name: random.standard_normal((BATCH, HEADS, KEYS, WIDTH)).astype(np.float32)
            for name in "qkv"
        }
        mask = (np.arange(KEYS) < np.array([[KEYS], [2]])).astype(graph.inputs["mask"].dtype)
        inputs["mask"] = mask
        expected, value = (interpret(each, inputs)["out"] for each in (graph, found))
        np.testing.assert_allclose(value, expected, atol=1e-5)
        (node,) = [node for node in found.nodes if node.op == "attention"]
        return node, mask_form(Reader(found), node), refused


def triangle(least=LEAST):
    return np.where(np.tri(KEYS, dtype=bool), 0, least).astype(np.float32)


def test_padding_becomes_a_count_of_keys():
    graph = Graph()
    node, form, refused = graph.recognized(graph.padding())
    assert form.keys == "mask.keys"
    assert (form.bias, node.attributes["causal"], refused) == (None, False, [])


@pytest.mark.parametrize(("least", "hides"), [(-1e4, True), (-9999, False)])
def test_what_hides_is_ten_thousand_below_the_others_at_least(least, hides):
    """As BERT's own exports have it: a key that counts less than that is still a key."""
    graph = Graph()
    assert (graph.recognized(graph.padding(least))[1].keys == "mask.keys") is hides
    graph = Graph()
    node, *_ = graph.recognized(graph.constant(triangle(least)))
    assert node.attributes["causal"] is hides


def test_padding_of_bools_becomes_a_count_of_keys():
    graph = Graph("bool")
    four = graph.op("reshape", "mask", shape=(BATCH, 1, 1, KEYS))
    bias = graph.op("where", four, graph.like(0, "q"), graph.like(-np.inf, "q"))
    assert graph.recognized(bias)[1].keys == "mask.keys"


def test_a_triangle_becomes_causal():
    graph = Graph()
    node, form, _ = graph.recognized(graph.op("add", graph.padding(), graph.constant(triangle())))
    assert (form.keys, form.bias, node.attributes["causal"]) == ("mask.keys", None, True)


def test_a_constant_triangle_needs_no_mask():
    graph = Graph()
    node, form, _ = graph.recognized(graph.constant(triangle(-np.inf)[np.newaxis, np.newaxis]))
    assert (form.keys, form.bias, node.attributes["causal"]) == (None, None, True)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, HEADS, KEYS, KEYS), (KEYS, KEYS)])
def test_a_constant_bias_of_nothing_goes_and_another_one_stays(shape):
    graph = Graph()
    node, form, refused = graph.recognized(graph.constant(np.zeros(shape, np.float32)))
    assert (len(node.inputs), form.keys, form.bias, refused) == (3, None, None, [])
    graph = Graph()
    bias = graph.constant(np.full(shape, 0.25, np.float32))
    node, form, refused = graph.recognized(bias)
    assert (node.inputs[3], form.bias, refused) == (bias, bias, [])


def test_relative_positions_stay_a_constant_bias():
    graph = Graph()
    biases = np.random.default_rng(0).standard_normal((1, HEADS, KEYS, KEYS))
    relative = graph.constant(biases.astype(np.float32))
    node, form, _ = graph.recognized(graph.op("add", graph.padding(), relative))
    assert form.keys == "mask.keys"
    assert form.bias is not None
    assert not node.attributes["causal"]


@pytest.mark.parametrize("alike", [True, False])
def test_a_bias_is_the_same_for_each_text_or_stays_what_it_is(alike):
    graph, random = Graph(), np.random.default_rng(0)
    biases = random.standard_normal((BATCH, HEADS, KEYS, KEYS)).astype(np.float32)
    if alike:
        biases[1:] = biases[:1]
    total = graph.op("add", graph.padding(), graph.constant(biases))
    node, form, refused = graph.recognized(total)
    assert form.keys == ("mask.keys" if alike else None)
    assert [each.reason for each in refused] == (
        [] if alike else ["it is another one for each text"]
    )
    assert (node.inputs[3] == total) is not alike


def window():
    distance = np.abs(np.subtract.outer(np.arange(KEYS), np.arange(KEYS)))
    return np.where(distance < 2, 0, -np.inf).astype(np.float32)


def test_a_window_on_both_sides_has_a_bound_on_each():
    graph = Graph()
    node, form, refused = graph.recognized(graph.constant(window()))
    assert (form.keys, form.bias, refused) == (None, None, [])
    found = {name: node.attributes[name] for name in ("causal", "first_query", "window")}
    assert found == {"causal": True, "first_query": 1, "window": 3}


@pytest.mark.parametrize("size", [1, 3, KEYS - 1, KEYS])
def test_a_window_before_each_query_has_a_lower_bound(size):
    graph = Graph()
    distance = np.subtract.outer(np.arange(KEYS), np.arange(KEYS))
    mask = np.where((distance >= 0) & (distance < size), 0, LEAST).astype(np.float32)
    node, form, refused = graph.recognized(graph.constant(mask))
    assert (form.keys, form.bias, refused) == (None, None, [])
    assert (node.attributes["causal"], node.attributes["first_query"]) == (True, 0)
    assert node.attributes.get("window") == (size if size < KEYS else None)


def test_a_mask_that_is_nearly_a_window_stays_a_bias():
    graph, mask = Graph(), window()
    mask[3, 2] = -np.inf
    node, form, refused = graph.recognized(graph.constant(mask))
    assert (node.attributes["causal"], refused) == (False, [])
    assert form.bias == node.inputs[3]


@pytest.mark.parametrize("own", [{}, {"window": 2}, {"window": 5}])
def test_a_window_of_a_mask_and_of_an_attention_hide_what_either_hides(own):
    graph = Graph()
    distance = np.subtract.outer(np.arange(KEYS), np.arange(KEYS))
    bias = graph.constant(np.where((distance >= 0) & (distance < 3), 0, -np.inf).astype("float32"))
    attributes = {"scale": 0.5, "causal": True, "first_query": 0} | own
    graph.op("attention", "q", "k", "v", bias, name="out", **attributes)
    (node,) = rewrite(graph.finish({"out": "out"}), find_masks).graph.nodes
    assert len(node.inputs) == 3
    assert node.attributes["window"] == min(3, own.get("window", 3))


def test_a_window_that_padding_empties_is_refused():
    """Queries behind the text see no key at all, and each form has another number for that."""
    graph = Graph()
    total = graph.op("add", graph.padding(), graph.constant(window()))
    _, form, (refused,) = graph.recognized(total)
    assert form.keys is None
    assert refused.reason.startswith("numbers show that it is none")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("weak", "it does not hide what mask hides"),
        ("reversed", "it does not hide what mask hides"),
        ("shifts", "mask changes the bias of keys that it shows"),
    ],
)
def test_a_mask_that_does_something_else_is_refused(change, reason):
    graph = Graph()
    bias = graph.padding()
    if change == "weak":
        bias = graph.op("mul", bias, graph.like(1e-38, "q"))
    elif change == "reversed":
        places = graph.constant(np.arange(KEYS)[::-1].copy())
        bias = graph.op("gather", bias, places, axis=3)
    else:
        count = graph.op("reduce_sum", "mask", axes=(1,), keepdims=True)
        shift = graph.op("reshape", graph.op("cast", count, to="float32"), shape=(BATCH, 1, 1, 1))
        bias = graph.op("add", bias, shift)
    _, form, (refused,) = graph.recognized(bias)
    assert form.keys is None
    assert refused.reason == reason


def test_a_bias_of_activations_is_refused():
    graph = Graph()
    bias = graph.op("matmul", "q", graph.op("transpose", "q", permutation=(0, 1, 3, 2)))
    _, form, (refused,) = graph.recognized(bias)
    assert form.bias == bias
    assert refused.reason.startswith("it depends on q, float32[2x3x6x4], which is no mask")


@pytest.mark.parametrize(
    ("rows", "padded"),
    [
        ([[1, 1, 0], [1, 1, 1]], True),
        ([[0, 1, 1]], False),
        ([[0, 0, 0]], False),
        ([[1, 0, 1]], False),
        ([[2, 1, 0]], False),
        (np.ones((2, 0)), False),
        (np.ones((0, 3)), True),
    ],
)
def test_right_padded_masks_are_told_from_others(rows, padded):
    assert is_right_padded(np.array(rows)) == padded


def test_a_match_builds_its_parts_in_each_graph_again():
    """Also in one whose builder has the address of an earlier one that is gone."""
    graph = Graph()
    attributes = {"scale": 0.5, "causal": False, "first_query": 0}
    out = graph.op("attention", "q", "k", "v", graph.padding(), **attributes)
    found = graph.finish({"out": out})
    (match,) = find_masks(Reader(found))
    assert isinstance(match, Match)
    counts = [len(rebuild(found, {match.root: match}).nodes) for _ in range(20)]
    assert counts == [counts[0]] * 20
