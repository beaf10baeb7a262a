"""Integer graphs see as many keys as a run's masks show; rows that see none are 0, or a mean."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, Mask, MatMul, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.quantize.graphs.masks import Sight, for_masks, sights
from celosia.sw.quantize.graphs.observe import raised
from celosia.sw.quantize.units.segments import Segment
from celosia.sw.quantize.units.values import Form
from tests.support.quantized_exports import TOKENS, quantized

ROWS, KEYS, WIDTH = 9, 6, 16
LEAST = float(np.finfo(np.float32).min)
STEP = 2.0**-12
"""What 1 stands for in scores."""


def masks(graph):
    """The masks of scores by the text that they are of."""
    ops = (op for op in graph.ops if isinstance(op, MatMul))
    return {
        op.name.split(".")[2]: op.finish.mask
        for op in ops
        if isinstance(op.finish, DeferredSoftmax)
    }


def nothing_is_added(view):
    raise AssertionError(f"{view} is no bias")


def test_keys_are_those_of_the_text_of_each_head():
    (segment,) = quantized("opt").segments
    assert masks(segment.graph) == {"text0": Mask(causal=True), "text1": Mask(causal=True)}
    counts = {keys: TOKENS - 5 * keys[1] for keys in segment.keys.values()}
    found = masks(for_masks(segment, counts, nothing_is_added).graph)
    assert found == {"text0": Mask(causal=True), "text1": Mask(keys=TOKENS - 5, causal=True)}


def attention(causal=False, rows=ROWS, first_row=0):
    """One head, to whose scores a row of numbers is added, or one for each query."""
    builder = GraphBuilder("test")
    given = {
        "q": Tensor("q", "int8", ROWS, WIDTH),
        "k": Tensor("k", "int8", KEYS, WIDTH),
        "v": Tensor("v", "int8", KEYS, WIDTH),
        "bias": Tensor("bias", "int32", rows, KEYS),
    }
    q, k, v, bias = (builder.input(tensor) for tensor in given.values())
    numerators = builder.tensor(Tensor("0.numerators", "uint8", ROWS, KEYS))
    sums = builder.tensor(Tensor("0.sums", "int32", ROWS, 1))
    out = builder.tensor(Tensor("0.out", "int16", ROWS, WIDTH))
    finish = DeferredSoftmax(STEP * 1024, sums, Mask(causal=causal, first_row=first_row))
    row, onto = (bias, None) if rows == 1 else (None, bias)
    builder.matmul("0.scores", numerators, q, k, finish, bias=row, onto=onto, b_transposed=True)
    builder.matmul("0.context", out, numerators, v, DivideBySums(sums, 2.0**-8))
    return Segment(
        graph=builder.finish("0.out"),
        inputs={name: Form(name, "heads") for name in given},
        outputs={},
        keys={},
        operators={},
    )


def computed(segment, bias):
    """The rows that a device computes for this bias, what they should be, and what was counted."""
    random = np.random.default_rng(0)
    q, k, v = (
        random.integers(-20, 21, (rows, WIDTH)).astype(np.int8) for rows in (ROWS, KEYS, KEYS)
    )
    made = for_masks(segment, {}, lambda view: bias[view.slices])
    whole = np.clip(raised(bias, KEYS) / STEP, -(1 << 30), 1 << 30).astype(np.int32)
    given = {"q": q, "k": k, "v": v, "bias": whole}
    config = resolve_config("tiny", ())
    run = GraphRun(
        FunctionalDevice(config, memory_bytes=1 << 20, seed=1), compile_graph(made.graph, config)
    )
    run.load(given)
    run.run()
    found = run.read("0.out")
    assert np.array_equal(found, interpret(made.graph, given)["0.out"])
    scores = (q @ k.T.astype(np.int32) * STEP).astype(np.float32) + bias.astype(np.float32)
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = powers / powers.sum(axis=1, keepdims=True)
    return found / 256, weights @ v, made.rows


def test_a_row_that_sees_no_key_is_0():
    bias = np.zeros((ROWS, KEYS))
    bias[[0, 1, 5]] = -np.inf
    bias[3, 1:] = -np.inf
    found, wanted, rows = computed(attention(), bias)
    assert not found[[0, 1, 5]].any()
    assert np.isnan(wanted[[0, 1, 5]]).all()
    others = [2, 3, 4, 6, 7, 8]
    np.testing.assert_allclose(found[others], wanted[others], atol=0.3)
    assert rows["0.scores", Sight.NONE] == 3
    assert rows["0.scores", Sight.HIDDEN] == 0


@pytest.mark.parametrize("least", [LEAST, -1e9])
def test_a_row_of_keys_that_a_low_number_hides_is_their_mean(least):
    bias = np.zeros((ROWS, KEYS))
    bias[4] = least
    bias[6] = least
    bias[6, 2:4] = -np.inf
    found, wanted, rows = computed(attention(), bias)
    np.testing.assert_allclose(found, wanted, atol=0.3)
    assert rows["0.scores", Sight.HIDDEN] == 2


def test_what_all_keys_of_a_row_have_is_not_seen():
    """-10,000 hides a key beside others, but not if all keys have it, as ONNX Runtime adds it."""
    bias = np.zeros((ROWS, KEYS))
    bias[2] = -1e4
    bias[3, 2:] = -1e4
    found, wanted, rows = computed(attention(), bias)
    np.testing.assert_allclose(found, wanted, atol=0.3)
    assert not rows


def test_a_row_for_all_queries_hides_keys_from_each():
    found, _, rows = computed(attention(rows=1), np.full((1, KEYS), -np.inf))
    assert not found.any()
    assert rows["0.scores", Sight.NONE] == ROWS


@pytest.mark.parametrize("first", [0, 1, 2, 4])
def test_what_a_causal_mask_hides_is_not_seen(first):
    """Queries see the first two keys, and of those behind them the ones up to their own place."""
    bias = np.zeros((ROWS, KEYS))
    bias[:, :2] = -np.inf
    later = np.arange(KEYS) > np.arange(ROWS)[:, np.newaxis] + first
    found, _, rows = computed(attention(causal=True, first_row=first), bias)
    _, wanted, _ = computed(attention(), np.where(later, -np.inf, bias))
    blind = max(0, 2 - first)
    assert not found[:blind].any()
    np.testing.assert_allclose(found[blind:], wanted[blind:], atol=0.3)
    assert rows["0.scores", Sight.NONE] == blind


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("keys", [None, 1, 4, KEYS])
def test_what_each_query_sees_is_told_key_by_key(causal, first, keys):
    random = np.random.default_rng(7)
    bias = random.choice(
        [0.0, -3.5, -1e8, -1e9, -np.inf], (ROWS, KEYS), p=[0.1, 0.1, 0.2, 0.2, 0.4]
    )
    op = attention(causal=causal, first_row=first).graph.ops[0]
    assert isinstance(op, MatMul)
    assert isinstance(op.finish, DeferredSoftmax)
    mask = replace(op.finish.mask, keys=keys)
    found = sights(
        replace(op, finish=replace(op.finish, mask=mask)), lambda view: bias[view.slices]
    )
    for query, sight in enumerate(found.tolist()):
        shown = [
            bias[query, key]
            for key in range(KEYS if keys is None else keys)
            if not causal or key <= query + first
        ]
        if all(number == -np.inf for number in shown):
            assert sight == Sight.NONE
        else:  # From -1e8 down, float32 keeps nothing of scores.
            assert sight == (Sight.SOME if max(shown) > -1e8 else Sight.HIDDEN)


def test_graphs_without_such_rows_stay_as_they_are():
    segment = attention()
    bias = np.where(np.arange(KEYS) > 3, -np.inf, np.zeros((ROWS, 1)))
    made = for_masks(segment, {}, lambda view: bias[view.slices])
    assert made.graph.ops == segment.graph.ops
    assert not made.rows


@pytest.mark.parametrize("window", [1, 2, 4])
@pytest.mark.parametrize("first", [0, KEYS - ROWS + 1, KEYS - ROWS + 2, KEYS - 1, 9])
@pytest.mark.parametrize("keys", [None, 3, KEYS])
def test_a_window_behind_all_keys_shows_none(window, first, keys):
    """A query at first + row sees `window` keys up to its own; nothing is added to scores."""
    op = attention(causal=True, first_row=0).graph.ops[0]
    assert isinstance(op, MatMul)
    assert isinstance(op.finish, DeferredSoftmax)
    first = max(first, 0)
    mask = Mask(keys=keys, causal=True, first_row=first, window=window)
    bare = replace(op, bias=None, onto=None, finish=replace(op.finish, mask=mask))
    found = sights(bare, nothing_is_added)
    for query, sight in enumerate(found.tolist()):
        own = query + first
        seen = [key for key in range(keys or KEYS) if own - window < key <= own]
        assert sight == (Sight.SOME if seen else Sight.NONE), (query, seen)


def test_what_one_text_sees_is_not_what_another_does():
    (segment,) = quantized("opt").segments
    counts = {keys: 0 if keys[1] else TOKENS for keys in segment.keys.values()}
    made = for_masks(segment, counts, nothing_is_added)
    blind = {name for (name, sight), count in made.rows.items() if sight == Sight.NONE and count}
    assert {name.split(".")[2] for name in blind} == {"text1"}
    assert {made.rows[name, Sight.NONE] for name in blind} == {TOKENS}
