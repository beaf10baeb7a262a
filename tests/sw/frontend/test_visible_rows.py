"""Which rows of outputs belong to tokens that somebody sees, by evaluation."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.visible_rows import interpret_visibly

TEXTS, TOKENS, WIDTH = 2, 6, 8
HEADS = TensorType("float32", (TEXTS, 2, TOKENS, WIDTH))
MASK = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]])


def softmax_attention(builder, x, bias, axis=-1, keys=TOKENS):
    """One head, written as products and a softmax; of the last so many keys."""
    random = np.random.default_rng(4)
    q, k, v = (
        builder.op(
            "matmul", x, builder.constant(random.standard_normal((WIDTH, WIDTH), np.float32))
        )
        for _ in range(3)
    )
    ends = {"starts": (0, TOKENS - keys, 0), "sizes": (TEXTS, keys, WIDTH), "steps": (1, 1, 1)}
    k, v = (builder.op("slice", each, **ends) for each in (k, v))
    scores = builder.op("matmul", q, builder.op("transpose", k, permutation=(0, 2, 1)))
    if bias is not None:
        scores = builder.op("add", scores, bias)
    weights = builder.op("softmax", scores, axis=axis)
    return builder.op("add", x, builder.op("matmul", weights, v))


def additive(builder, mask, lowest=-3e38):
    """0 for keys that the mask shows, and as low as exporters go for others."""
    shown = builder.op("cast", mask, to="float32")
    hidden = builder.op("sub", builder.like(1, shown), shown)
    bias = builder.op("mul", hidden, builder.like(lowest, shown))
    return builder.op("reshape", bias, shape=(TEXTS, 1, TOKENS))


def layer(heads):
    """Two layers of attention, and what models make of their rows."""
    builder = GraphBuilder("layer")
    x = builder.input("x", TensorType("float32", (TEXTS, TOKENS, WIDTH)))
    mask = builder.input("mask", TensorType("int64", (TEXTS, TOKENS)))
    bias = additive(builder, mask)
    rows = softmax_attention(builder, softmax_attention(builder, x, bias), bias)
    column = builder.constant(np.ones((WIDTH, 1), np.float32))
    shown = builder.op("reshape", builder.op("cast", mask, to="float32"), shape=(TEXTS, TOKENS, 1))
    weighed = builder.op("mul", rows, shown)
    logits = builder.op("reshape", builder.op("matmul", rows, column), shape=(TEXTS, TOKENS))
    found = {
        "rows": rows,
        "logits": logits,
        "pooled": builder.op("reduce_sum", weighed, axes=(1,), keepdims=False),
        "careless": builder.op("reduce_sum", rows, axes=(1,), keepdims=False),
        "mask_again": builder.op("cast", mask, to="int64"),
    }
    return builder.finish({name: found[name] for name in heads})


def given(mask=MASK):
    x = np.random.default_rng(1).standard_normal((TEXTS, TOKENS, WIDTH)).astype(np.float32)
    return {"x": x, "mask": mask}


ALL = ("rows", "logits", "pooled", "careless", "mask_again")


def test_rows_and_elements_of_hidden_tokens_do_not_count():
    graph = layer(ALL)
    outputs, rows = interpret_visibly(graph, given())
    assert set(rows) == {"rows", "logits", "pooled", "careless"}
    assert np.array_equal(rows["rows"].visible, MASK == 1)
    assert np.array_equal(rows["logits"].visible, MASK == 1), "elements of a row, one by one"
    # A sum that leaves them out is all visible; one that does not is what the model computes.
    assert rows["pooled"].visible.tolist() == [True, True]
    assert rows["careless"].visible.all()
    for name, value in interpret(graph, given()).items():
        assert np.array_equal(outputs[name], value)


def test_what_is_of_texts_can_be_pooled():
    _, rows = interpret_visibly(layer(ALL), given())
    assert [rows[name].texts for name in ALL[:4]] == [True, False, True, True]


@pytest.mark.parametrize(("axis", "keys"), [(-2, TOKENS), (1, TOKENS), (-1, TOKENS - 1), (2, 1)])
def test_only_a_softmax_of_as_many_keys_as_queries_mixes_tokens(axis, keys):
    """A key of another axis stands for no row, and what goes along queries is no mean of tokens."""
    builder = GraphBuilder("other")
    x = builder.input("x", TensorType("float32", (TEXTS, TOKENS, WIDTH)))
    hidden = np.where(np.arange(keys) == keys - 1, np.float32(-3e38), np.float32(0))
    y = softmax_attention(builder, x, builder.constant(hidden.reshape(1, 1, keys)), axis, keys)
    _, rows = interpret_visibly(builder.finish({"y": y}), {"x": given()["x"]})
    assert rows["y"].visible.all()


def test_a_softmax_of_texts_beside_each_other_mixes_no_tokens():
    """A key that one text hides has the other text's weight, and none of its own."""
    builder = GraphBuilder("texts")
    x = builder.input("x", TensorType("float32", (TEXTS, TOKENS, WIDTH)))
    hidden = np.where(MASK == 1, np.float32(0), np.float32(-3e38))
    y = softmax_attention(builder, x, builder.constant(hidden[:, np.newaxis]), 0)
    _, rows = interpret_visibly(builder.finish({"y": y}), {"x": given()["x"]})
    assert rows["y"].visible.all()


@pytest.mark.parametrize("axis", [-1, 2])
def test_the_last_axis_may_be_called_by_its_number(axis):
    builder = GraphBuilder("numbered")
    x = builder.input("x", TensorType("float32", (TEXTS, TOKENS, WIDTH)))
    hidden = np.where(MASK == 1, np.float32(0), np.float32(-3e38))
    y = softmax_attention(builder, x, builder.constant(hidden[:, np.newaxis]), axis)
    _, rows = interpret_visibly(builder.finish({"y": y}), {"x": given()["x"]})
    assert np.array_equal(rows["y"].visible, MASK == 1)


@pytest.mark.parametrize("mask", [np.ones_like(MASK), MASK[:, ::-1], MASK])
def test_padding_may_be_anywhere(mask):
    _, rows = interpret_visibly(layer(("rows",)), given(mask))
    assert np.array_equal(rows["rows"].visible, mask == 1)


def test_nobody_is_hidden_where_everybody_is():
    _, rows = interpret_visibly(layer(("rows",)), given(np.zeros_like(MASK)))
    assert rows["rows"].visible.all()


def attention(bias, causal, cross=False):
    """Attention of two heads that was recognized, with what `bias` makes of the mask."""
    builder = GraphBuilder("attention")
    x = builder.input("x", HEADS)
    keys = builder.input("source", HEADS) if cross else x
    mask = builder.input("mask", TensorType("int64", (TEXTS, TOKENS)))
    fixed = {"scale": 0.5, "causal": causal, "first_query": 0}
    y = builder.op("attention", x, keys, keys, bias(builder, mask), **fixed)
    return builder.finish({"y": builder.op("neg", y)})


def by_heads(builder, mask):
    """As low as early exporters go."""
    return builder.op("reshape", additive(builder, mask, -1e4), shape=(TEXTS, 1, 1, TOKENS))


def run(graph, mask, **more):
    random = np.random.default_rng(2)
    drawn = {
        name: random.standard_normal(kind.shape).astype(np.float32)
        for name, kind in graph.inputs.items()
        if kind.is_float
    }
    _, rows = interpret_visibly(graph, {**drawn, **more, "mask": mask})
    return rows["y"].visible


@pytest.mark.parametrize("causal", [False, True])
def test_attention_hides_what_its_bias_hides(causal):
    found = run(attention(by_heads, causal), MASK)
    assert np.array_equal(found, np.broadcast_to((MASK == 1)[:, None], found.shape))


def test_the_last_token_of_a_text_is_visible_though_only_it_sees_itself():
    assert run(attention(by_heads, True), np.ones_like(MASK)).all()


def test_padding_that_looks_at_everything_shows_nothing():
    def unattended(builder, mask):
        """Rows of tokens on the left see all keys, as exporters write it."""
        row = builder.op("cast", by_heads(builder, mask), to="float32")
        own = builder.op(
            "reshape", builder.op("cast", mask, to="bool"), shape=(TEXTS, 1, TOKENS, 1)
        )
        return builder.op("where", own, row, builder.like(0, row))

    mask = np.array([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    found = run(attention(unattended, False), mask)
    assert np.array_equal(found[:, 0], mask == 1)


def test_keys_of_another_sequence_hide_no_rows_of_this_one():
    assert run(attention(by_heads, False, cross=True), MASK).all()


@pytest.mark.parametrize("encoded", [False, True])
def test_hidden_tokens_of_an_encoder_hide_none_of_its_decoder(encoded):
    """Whether rows of the encoder are an output, too, or only read by attention of the decoder."""
    builder = GraphBuilder("both")
    x, source = builder.input("x", HEADS), builder.input("source", HEADS)
    mask = builder.input("mask", TensorType("int64", (TEXTS, TOKENS)))
    bias, fixed = by_heads(builder, mask), {"scale": 0.5, "causal": False, "first_query": 0}
    rows = builder.op("neg", builder.op("attention", source, source, source, bias, **fixed))
    y = builder.op("neg", builder.op("attention", x, rows, rows, bias, **fixed))
    graph = builder.finish({"y": y, "rows": rows} if encoded else {"y": y})
    random = np.random.default_rng(2)
    drawn = {name: random.standard_normal(HEADS.shape, np.float32) for name in ("x", "source")}
    _, found = interpret_visibly(graph, {**drawn, "mask": MASK})
    assert found["y"].visible.all()
    if encoded:
        shown = np.broadcast_to((MASK == 1)[:, None], HEADS.shape[:-1])
        assert np.array_equal(found["rows"].visible, shown)


@pytest.mark.parametrize(
    ("kind", "op"),
    [
        (TensorType("float32", (1,)), "mul"),  # A factor for all tokens.
        (TensorType("int64", (TOKENS,)), "add"),  # Positions, of as many as there are tokens.
    ],
)
def test_what_two_sequences_share_beside_tokens_does_not_make_them_one(kind, op):
    builder = GraphBuilder("shared")
    names = builder.input("x", HEADS), builder.input("source", HEADS)
    both = builder.input("both", kind)

    def with_both(name):
        column = builder.op("cast", both, to="float32")
        return builder.op(op, name, builder.op("reshape", column, shape=(*kind.shape, 1)))

    x, source = map(with_both, names)
    mask = builder.input("mask", TensorType("int64", (TEXTS, TOKENS)))
    fixed = {"scale": 0.5, "causal": False, "first_query": 0}
    y = builder.op("attention", x, source, source, by_heads(builder, mask), **fixed)
    graph = builder.finish({"y": builder.op("neg", y)})
    assert run(graph, MASK, both=np.ones(kind.shape, kind.dtype)).all()


def test_layers_that_were_recognized_hide_the_same():
    recognized = recognize(layer(("rows",))).graph
    _, rows = interpret_visibly(recognized, given())
    assert np.array_equal(rows["rows"].visible, MASK == 1)


def test_a_mask_of_pairs_of_tokens_is_no_mask_of_tokens():
    """Tokens of two texts that share a row: each sees its own text, and all of them count."""
    builder = GraphBuilder("packed")
    x = builder.input("x", TensorType("float32", (1, 2, TOKENS, WIDTH)))
    pairs = builder.input("mask", TensorType("int64", (TOKENS, TOKENS)))
    shown = builder.op("cast", pairs, to="float32")
    bias = builder.op(
        "mul", builder.op("sub", shown, builder.like(1, shown)), builder.like(3e38, shown)
    )
    fixed = {"scale": 0.5, "causal": False, "first_query": 0}
    graph = builder.finish({"y": builder.op("attention", x, x, x, bias, **fixed)})
    blocks = np.kron(np.eye(2, dtype=np.int64), np.ones((TOKENS // 2, TOKENS // 2), np.int64))
    assert run(graph, blocks).all()
    blocks[:, -1] = 0
    assert run(graph, blocks).tolist() == [[[True] * (TOKENS - 1) + [False]] * 2]
