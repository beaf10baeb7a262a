"""Attention is found in every form, and only where numbers prove it."""

import numpy as np
import pytest

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.attention import find_attention
from celosia.sw.frontend.recognize.rewrite import rewrite

BATCH, HEADS, ROWS, KEYS, WIDTH = 2, 3, 5, 7, 4
SHAPES = {
    "q": (BATCH, HEADS, ROWS, WIDTH),
    "k": (BATCH, HEADS, KEYS, WIDTH),
    "v": (BATCH, HEADS, KEYS, WIDTH),
}


MASK = TensorType("bool", (ROWS, KEYS))


class Graph(GraphBuilder):
    """A builder with the operators that attention is made of."""

    def __init__(self, shapes=None):
        super().__init__("test")
        for name, shape in (shapes or SHAPES).items():
            self.input(name, TensorType("float32", shape))

    def times(self, x, factor):
        return self.op("mul", x, self.like(factor, x))

    def turned(self, x):
        rank = self.type(x).rank
        order = (*range(rank - 2), rank - 1, rank - 2)
        return self.op("transpose", x, permutation=order)

    def scores(self, q="q", k="k"):
        return self.op("matmul", q, self.turned(k))

    def attend(self, scores, v="v", axis=-1):
        return self.op("matmul", self.op("softmax", scores, axis=axis), v)

    def recognized(self, result):
        """The graph behind the recognizer, which computes the same, and what was refused."""
        graph = self.finish({"out": result})
        done = rewrite(graph, find_attention)
        found, refused = done.graph, list(done.refusals)
        random = np.random.default_rng(0)
        inputs = {
            name: (random.standard_normal(kind.shape) > -1)
            if kind.dtype == "bool"
            else random.standard_normal(kind.shape).astype(kind.dtype)
            for name, kind in graph.inputs.items()
        }
        expected, out = (interpret(each, inputs)["out"] for each in (graph, found))
        np.testing.assert_allclose(out, expected, atol=1e-5)
        return found, refused


def attention_of(graph):
    (node,) = [node for node in graph.nodes if node.op == "attention"]
    assert not any(node.op == "softmax" for node in graph.nodes)
    return node


@pytest.mark.parametrize("known", ["q", "k", "v", "qk", "kv", "qv"])
@pytest.mark.parametrize("batch", [1, BATCH])
def test_known_queries_keys_or_values_are_operands_like_others(known, batch):
    """Keys that are known have been turned when the file was read."""
    graph = Graph({"q": SHAPES["q"], "k": SHAPES["k"], "v": SHAPES["v"]})
    random = np.random.default_rng(1)
    names = {
        name: graph.constant(random.standard_normal((batch, *shape[1:])).astype(np.float32))
        if name in known
        else name
        for name, shape in SHAPES.items()
    }
    scores = graph.times(graph.scores(names["q"], names["k"]), 0.5)
    if known == "qk":  # Nothing is left of the product.
        assert graph.recognized(graph.attend(scores, names["v"]))[0].constants
        return
    found, refused = graph.recognized(graph.attend(scores, names["v"]))
    assert not refused
    assert attention_of(found).attributes["scale"] == pytest.approx(0.5)


def test_more_known_keys_than_an_attention_has_are_weights_of_a_product():
    graph = Graph({"x": (1, 2, WIDTH)})
    count = MAX_COLUMNS + 1
    table = graph.constant(np.ones((WIDTH, count), np.float32))
    values = graph.constant(np.ones((count, 1), np.float32))
    found, _ = graph.recognized(graph.attend(graph.op("matmul", "x", table), values))
    assert [node.op for node in found.nodes] == ["matmul", "softmax", "matmul"]


@pytest.mark.parametrize("side", ["behind", "queries", "keys", "both"])
def test_a_scale_is_found_on_either_side_of_the_product(side):
    graph = Graph()
    match side:
        case "behind":
            scores = graph.op("div", graph.scores(), graph.like(4.0, "q"))
        case "queries":
            scores = graph.scores(q=graph.times("q", 0.25))
        case "keys":
            scores = graph.scores(k=graph.times("k", 0.25))
        case _:
            scores = graph.scores(q=graph.times("q", 0.5), k=graph.times("k", 0.5))
    found, refused = graph.recognized(graph.attend(scores))
    assert attention_of(found).attributes["scale"] == pytest.approx(0.25)
    assert len(found.nodes) <= 3
    assert not refused


def test_a_scale_is_taken_out_from_between_views():
    graph = Graph({"x": (BATCH, ROWS, HEADS * WIDTH)} | SHAPES)
    apart = graph.op("reshape", graph.times("x", 0.5), shape=(BATCH, ROWS, HEADS, WIDTH))
    heads = graph.op("transpose", apart, permutation=(0, 2, 1, 3))
    found, _ = graph.recognized(graph.attend(graph.scores(q=heads)))
    assert attention_of(found).attributes["scale"] == 0.5
    assert not any(node.op == "mul" for node in found.nodes)


def test_a_bias_and_a_mask_are_added():
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (1, HEADS, ROWS, KEYS)))
    mask = graph.input("mask", TensorType("float32", (BATCH, 1, 1, KEYS)))
    total = graph.op("add", mask, graph.op("add", graph.times(graph.scores(), 0.5), bias))
    found, _ = graph.recognized(graph.attend(total))
    assert len(attention_of(found).inputs) == 4


@pytest.mark.parametrize("hides", [True, False])
def test_a_choice_between_scores_and_a_small_number_is_a_mask(hides):
    graph = Graph()
    mask = graph.input("mask", TensorType("bool", (ROWS, KEYS)))
    least, scores = graph.like(-3.4e38, "q"), graph.scores()
    if hides:
        mask = graph.op("not", mask)
    choice = (least, scores) if hides else (scores, least)
    found, _ = graph.recognized(graph.attend(graph.op("where", mask, *choice)))
    assert len(attention_of(found).inputs) == 4


def guarded(graph, mask, zero=0.0, test="is_nan"):
    """Attention whose rows are `zero` where a test says so."""
    bias = graph.op("where", mask, graph.like(0, "q"), graph.like(-np.inf, "q"))
    weights = graph.op("softmax", graph.op("add", graph.scores(), bias), axis=-1)
    condition = graph.op(test, weights) if test == "is_nan" else test
    rows = graph.op("where", condition, graph.like(zero, "q"), weights)
    return graph.op("matmul", rows, "v")


def test_rows_that_see_no_key_are_proved_to_be_0_behind_a_guard():
    graph = Graph()
    mask = graph.constant(np.arange(ROWS)[:, np.newaxis] > np.zeros(KEYS, np.int64))
    found, refused = graph.recognized(guarded(graph, mask))
    assert attention_of(found)
    assert not refused


@pytest.mark.parametrize("least", [-np.inf, -3.4e38])
@pytest.mark.parametrize("biased", [False, True])
def test_a_guard_by_the_mask_itself_makes_rows_0_whatever_hides_keys(least, biased):
    """DeBERTa: scores get the least number where a mask says so, and weights 0."""
    graph = Graph()
    hidden = graph.input("mask", MASK)
    scores = graph.scores()
    if biased:
        scores = graph.op("add", scores, graph.input("bias", TensorType("float32", (ROWS, KEYS))))
    scores = graph.op("where", hidden, graph.like(least, "q"), scores)
    weights = graph.op("softmax", scores, axis=-1)
    weights = graph.op("where", hidden, graph.like(0, "q"), weights)
    found, refused = graph.recognized(graph.op("matmul", weights, "v"))
    node = attention_of(found)
    assert not refused
    random = np.random.default_rng(1)
    inputs = {
        name: np.ones(kind.shape, bool)
        if kind.dtype == "bool"
        else random.standard_normal(kind.shape).astype(np.float32)
        for name, kind in found.inputs.items()
    }
    assert not interpret(found, inputs)["out"].any(), node


def test_a_guard_by_another_mask_does_not_make_rows_0_that_a_number_hides():
    """Rows that only the mask hides are tried, and not only those that the bias hides, too."""
    graph = Graph()
    hidden = graph.input("mask", MASK)
    bias = graph.input("bias", TensorType("float32", (ROWS, KEYS)))
    scores = graph.op("add", graph.scores(), bias)
    scores = graph.op("where", hidden, graph.like(-3.4e38, "q"), scores)
    weights = graph.op("softmax", scores, axis=-1)
    same = graph.op("not", graph.op("not", hidden))
    weights = graph.op("where", same, graph.like(0, "q"), weights)
    found, (refused,) = graph.recognized(graph.op("matmul", weights, "v"))
    assert not any(node.op == "attention" for node in found.nodes)
    assert "numbers show that it is none" in refused.reason


def test_a_guard_that_makes_something_else_of_rows_is_no_attention():
    graph = Graph()
    found, _ = graph.recognized(guarded(graph, graph.input("mask", MASK), zero=5.0))
    assert not any(node.op == "attention" for node in found.nodes)


def test_a_choice_that_hides_other_rows_is_no_guard():
    """Weights that are dropped by chance are not 0 because of what a query sees."""
    graph = Graph()
    mask, drop = graph.input("mask", MASK), graph.input("drop", MASK)
    found, (refused,) = graph.recognized(guarded(graph, mask, test=drop))
    assert not any(node.op == "attention" for node in found.nodes)
    assert refused.reason == "it depends on drop, too"


def test_a_choice_by_the_bias_itself_is_compared():
    """Rows whose first key is hidden are not those that see no key."""
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (ROWS, KEYS)))
    first = graph.op("slice", bias, starts=(0, 0), sizes=(ROWS, 1), steps=(1, 1))
    hidden = graph.op("equal", first, graph.like(-np.inf, "q"))
    weights = graph.op("softmax", graph.op("add", graph.scores(), bias), axis=-1)
    rows = graph.op("where", hidden, graph.like(0, "q"), weights)
    found, (refused,) = graph.recognized(graph.op("matmul", rows, "v"))
    assert not any(node.op == "attention" for node in found.nodes)
    assert "numbers show that it is none" in refused.reason


@pytest.mark.parametrize("least", [-3.4e38, -1e9, -2e4])
def test_a_row_without_keys_is_the_mean_of_all_values_as_before(least):
    graph = Graph()
    mask = graph.constant(np.arange(ROWS)[:, np.newaxis] > np.zeros(KEYS, np.int64))
    scores = graph.op("where", mask, graph.scores(), graph.like(least, "q"))
    found, refused = graph.recognized(graph.attend(scores))
    assert attention_of(found)
    assert not refused


def test_a_guard_against_rows_without_keys_goes():
    graph = Graph()
    mask = graph.input("mask", TensorType("bool", (BATCH, 1, 1, KEYS)))
    bias = graph.op("where", mask, graph.like(0, "q"), graph.like(-np.inf, "q"))
    scores = graph.op("add", graph.scores(), bias)
    weights = graph.op("softmax", scores, axis=3)
    guarded = graph.op("where", graph.op("is_nan", weights), graph.like(0, "q"), weights)
    found, _ = graph.recognized(graph.op("matmul", guarded, "v"))
    assert attention_of(found)
    assert not any(node.op == "is_nan" for node in found.nodes)


def test_batch_and_heads_may_be_one_axis_between_the_products():
    graph = Graph()
    flat = [graph.op("reshape", name, shape=(BATCH * HEADS, *SHAPES[name][2:])) for name in "qkv"]
    bias = graph.input("bias", TensorType("float32", (BATCH, 1, ROWS, KEYS)))
    scores = graph.op("reshape", graph.scores(flat[0], flat[1]), shape=(BATCH, HEADS, ROWS, KEYS))
    scores = graph.op("add", scores, bias)
    scores = graph.op("reshape", scores, shape=(BATCH * HEADS, ROWS, KEYS))
    found, _ = graph.recognized(graph.attend(scores, flat[2]))
    assert attention_of(found).type.shape == (BATCH, HEADS, ROWS, WIDTH)


def test_queries_keys_and_values_may_be_parts_of_one_tensor():
    graph = Graph({"x": (BATCH, HEADS, KEYS, 3 * WIDTH)})
    sizes, steps = (BATCH, HEADS, KEYS, WIDTH), (1, 1, 1, 1)
    q, k, v = (
        graph.op("slice", "x", starts=(0, 0, 0, start), sizes=sizes, steps=steps)
        for start in (0, WIDTH, 2 * WIDTH)
    )
    found, _ = graph.recognized(graph.attend(graph.scores(q, k), v))
    assert attention_of(found)


def test_scores_may_be_multiplied_by_a_mask_before_what_hides_is_subtracted():
    """Scores * seen - 10000 * (1 - seen), as GPT-2 had it first."""
    graph = Graph()
    seen = (np.arange(KEYS) <= np.arange(ROWS)[:, np.newaxis] + 1).astype(np.float32)
    scores = graph.op("mul", graph.times(graph.scores(), 0.5), graph.constant(seen))
    scores = graph.op("sub", scores, graph.constant(np.float32(1e4) * (1 - seen)))
    found, refused = graph.recognized(graph.attend(scores))
    assert attention_of(found).attributes["scale"] == 0.5
    assert not refused


@pytest.mark.parametrize("heads", [HEADS, None])
def test_values_of_an_image_are_in_front_of_turned_weights(heads):
    """Channels are rows, as in the attention of diffusion models, SAGAN and SHViT."""
    lead = (BATCH,) if heads is None else (BATCH, heads)
    shapes = {"q": (ROWS, WIDTH), "k": (KEYS, WIDTH), "v": (WIDTH + 2, KEYS)}
    graph = Graph({name: (*lead, *shape) for name, shape in shapes.items()})
    weights = graph.op("softmax", graph.times(graph.scores(), 0.5), axis=-1)
    found, refused = graph.recognized(graph.op("matmul", "v", graph.turned(weights)))
    assert not refused
    assert attention_of(found).type.shape[-2:] == (ROWS, WIDTH + 2)


@pytest.mark.parametrize("before", [(2, 3), (2, 1, 3)])
def test_axes_in_front_of_heads_split_the_batch(before):
    """As Twins has it for windows, and einops for the rows and columns of images."""
    graph = Graph({name: (*before, *shape[1:]) for name, shape in SHAPES.items()})
    found, refused = graph.recognized(graph.attend(graph.times(graph.scores(), 0.5)))
    assert not refused
    assert attention_of(found).type.shape == (6, HEADS, ROWS, WIDTH)


def test_windows_of_an_image_have_masks_of_their_own():
    images, windows = 2, 3
    shape = (images * windows, HEADS, KEYS, WIDTH)
    graph = Graph(dict.fromkeys("qkv", shape))
    bias = graph.input("bias", TensorType("float32", (1, windows, 1, KEYS, KEYS)))
    scores = graph.op("reshape", graph.scores(), shape=(images, windows, HEADS, KEYS, KEYS))
    scores = graph.op("reshape", graph.op("add", scores, bias), shape=(*shape[:3], KEYS))
    found, refused = graph.recognized(graph.attend(scores))
    assert attention_of(found).type.shape == shape
    assert not refused


def test_a_softmax_along_queries_is_not_attention():
    graph = Graph()
    found, refused = graph.recognized(graph.attend(graph.scores(), axis=2))
    assert [node.op for node in found.nodes if node.op == "attention"] == refused == []


@pytest.mark.parametrize("how", ["add", "sub"])
def test_a_scale_behind_what_is_added_is_one_of_scores_and_of_that(how):
    """Relative positions of Transformer-XL and XLNet: (scores + bias) * scale - mask."""
    graph = Graph()
    bias, mask = (graph.input(name, TensorType("float32", (ROWS, KEYS))) for name in ("b", "m"))
    scores = graph.times(graph.op(how, graph.times(graph.scores(), 3.0), bias), 0.5)
    found, refused = graph.recognized(graph.attend(graph.op("sub", scores, mask)))
    assert attention_of(found).attributes["scale"] == 1.5
    assert not refused


@pytest.mark.parametrize("turned", [False, True])
def test_heads_may_have_factors_of_their_own_before_anything_is_added(turned):
    """Swin V2's cosines: each head learns how much they are worth."""
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (HEADS, ROWS, KEYS)))
    factors = graph.constant(np.array([2.0, -0.5, 3.0], np.float32).reshape(HEADS, 1, 1))
    operands = (factors, graph.scores()) if turned else (graph.scores(), factors)
    scores = graph.op("mul", *operands)
    found, refused = graph.recognized(graph.attend(graph.op("add", scores, bias)))
    assert attention_of(found).attributes["scale"] == 1
    assert not refused


def test_factors_of_heads_behind_what_is_added_are_not_taken_for_some_before_it():
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (HEADS, ROWS, KEYS)))
    factors = graph.constant(np.array([2.0, 0.5, 3.0], np.float32).reshape(HEADS, 1, 1))
    scores = graph.op("mul", graph.op("add", graph.scores(), bias), factors)
    found, (refused,) = graph.recognized(graph.attend(scores))
    assert not any(node.op == "attention" for node in found.nodes)
    assert refused.reason == "its scores are not those of one product"


@pytest.mark.parametrize(("steps", "found"), [(11, 1), (12, 0)])
def test_so_many_operators_behind_the_product_are_followed(steps, found):
    graph = Graph()
    scores = graph.scores()
    for _ in range(steps):
        scores = graph.times(scores, 0.5)
    recognized, _ = graph.recognized(graph.attend(scores))
    assert len([node for node in recognized.nodes if node.op == "attention"]) == found


def test_scores_that_are_not_a_product_are_refused_with_the_reason():
    graph = Graph()
    scores = graph.op("sigmoid", graph.scores())
    _, (refused,) = graph.recognized(graph.attend(scores))
    assert str(refused) == (
        "matmul.1: looks like attention, but its scores are not those of one product: "
        "they are behind a sigmoid"
    )


@pytest.mark.parametrize(("inner", "outer"), [(1 / 50, 50.0), (-0.25, -2.0), (0.1, 3.0)])
def test_a_tanh_of_scores_is_a_cap(inner, outer):
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (ROWS, KEYS)))
    capped = graph.times(graph.op("tanh", graph.times(graph.scores(), inner)), outer)
    found, refused = graph.recognized(graph.attend(graph.op("add", capped, bias)))
    node = attention_of(found)
    assert (node.attributes["cap"], refused) == (abs(outer), [])
    plain = attention_of(graph.recognized(graph.attend(graph.scores()))[0])
    expected = plain.attributes["scale"] * inner * outer
    assert node.attributes["scale"] == pytest.approx(expected)


def test_a_mask_before_the_cap_is_not_taken_for_one_behind_it():
    graph = Graph()
    bias = graph.input("bias", TensorType("float32", (ROWS, KEYS)))
    scores = graph.op("tanh", graph.op("add", graph.scores(), bias))
    found, (refused,) = graph.recognized(graph.attend(scores))
    assert not any(node.op == "attention" for node in found.nodes)
    assert "they are behind a tanh" in str(refused)
