"""A step has the rows of a whole text: in float32, in integers, for several texts, in buckets."""

from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
import pytest

from celosia.lab.exports.writing.size import SMALL
from celosia.lab.training.scorers import float_scorer, integer_scorer
from celosia.sw.decoding.decoder import quantize_decoder
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.read import read_decoder
from celosia.sw.decoding.step_graph import TOKENS, step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.quantized import Execution
from tests.support.decoder_exports import EXPORTED, exported, save

LENGTH = 48
PIECES = (7, 1, 1, 16)


def texts(count, size, seed=0):
    return np.random.default_rng(seed).integers(0, SMALL.vocabulary, (count, size)).tolist()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@cache
def whole(name):
    return read_decoder(save(exported(name)), LENGTH)


@cache
def decoder(name):
    return quantize_decoder(whole(name), texts(6, 32))


def behind(step):
    """The last tensor that each cache is in a step."""
    last = {name: name for name in step.caches}
    for node in step.graph.nodes:
        for name, tensor in last.items():
            if node.op == "cache" and node.inputs[0] == tensor:
                last[name] = node.name
    return last


def lengths():
    """The texts of each step: the second is two tokens ahead."""
    places = [Text(0, 2), Text(0, 4)]
    yield places
    for rows in PIECES:
        places = [Text(text.keys, rows) for text in places]
        yield places


@pytest.mark.parametrize("name", EXPORTED)
def test_steps_of_two_texts_are_rows_of_both(name):
    both = texts(2, 30)
    wanted, caches = [float_scorer(whole(name))(text) for text in both], {}
    for places in lengths():
        keys = max(text.keys for text in places) + 3
        step = step_graph(whole(name), places, CacheLayout(2, 40), keys)
        for each in step.caches:
            caches.setdefault(each, np.zeros(step.graph.inputs[each].shape, np.float32))
        parts = [text[at.context : at.keys] for text, at in zip(both, places, strict=True)]
        shown = replace(step.graph, outputs={**step.graph.outputs, **behind(step)})
        found = interpret(shown, step.inputs([*chain(*parts)], places) | caches)
        caches = {each: found.pop(each) for each in step.caches}
        (logits,) = found.values()
        rows = [text[at.context : at.keys] for text, at in zip(wanted, places, strict=True)]
        np.testing.assert_allclose(logits[0], np.concatenate(rows), atol=3e-5)


@pytest.mark.parametrize("name", EXPORTED)
def test_integer_steps_of_two_texts_are_rows_of_both_bit_for_bit(name):
    model, layout, caches, context = decoder(name), CacheLayout(2, 40), {}, 0
    one, other = texts(2, 30, seed=3)
    wanted = [integer_scorer(model)(text) for text in (one, other)]
    for rows in PIECES:
        places = [Text(context, rows), Text(context, rows)]
        step = model.step(places, layout, context + rows + 3, moving=True)
        (segment,) = step.model.segments
        for cached in segment.caches:
            caches.setdefault(cached, np.zeros(segment.graph.tensors[cached].shape, np.int8))

        def run(_number, graph, inputs):
            found = graph_interpret.interpret(graph, {**inputs, **caches})
            caches.update({cached: found[cached] for cached in caches})
            return found

        tokens = one[context : context + rows] + other[context : context + rows]
        outputs = Execution(step.model, step.float_graph.inputs(tokens, places)).run(run).outputs
        for logits, text in zip(np.split(step.logits(outputs), 2), wanted, strict=True):
            np.testing.assert_array_equal(logits, text[context : context + rows])
        context += rows


def embedded(build):
    """Rows of eight tokens, and how many there are."""
    tokens = build.input(TOKENS, TensorType("int64", (1, 8)))
    table = build.constant(np.random.default_rng(0).standard_normal((9, 4)).astype(np.float32))
    return build.op("gather", table, tokens, axis=0)


def refused(message, make):
    build = GraphBuilder("wrong")
    graph = build.finish({"logits": make(build, embedded(build))})
    with pytest.raises(DecoderProblem, match=message):
        step_graph(graph, [Text(0, 3)])


@pytest.mark.parametrize(
    "make",
    [
        lambda build, x: build.op("sub", x, build.op("reduce_mean", x, axes=(1,), keepdims=True)),
        lambda build, x: build.op(
            "softmax", build.op("transpose", x, permutation=(0, 2, 1)), axis=2
        ),
        lambda build, x: build.op("cumsum", x, axis=1, reverse=False, exclusive=False),
        lambda build, x: build.op("concat", x, x, axis=1),
        lambda build, x: build.op("matmul", x, build.op("transpose", x, permutation=(0, 2, 1))),
        lambda build, x: build.op("reshape", x, shape=(4, 8)),
    ],
    ids=["mean", "softmax", "cumsum", "concat", "matmul", "reshape"],
)
def test_what_mixes_tokens_is_refused(make):
    refused("its rows depend on other tokens", make)


def test_attention_to_later_tokens_is_refused():
    def make(build, x):
        rows = build.op("reshape", x, shape=(1, 1, 8, 4))
        return build.op("attention", rows, rows, rows, scale=1.0, causal=False, first_query=0)

    refused("its queries see later keys", make)


@pytest.mark.parametrize("first", [1, 3])
def test_attention_of_queries_behind_other_keys_is_none_of_a_whole_text(first):
    """Its causal mask shows later tokens."""

    def make(build, x):
        rows = build.op("reshape", x, shape=(1, 1, 8, 4))
        return build.op("attention", rows, rows, rows, scale=1.0, causal=True, first_query=first)

    refused("its queries see later keys", make)


@pytest.mark.parametrize(("later", "hides"), [(-np.inf, True), (-1e4, True), (-9999.0, False)])
@pytest.mark.parametrize("rows", [8, 1])
def test_a_mask_is_causal_if_it_hides_each_later_token(later, hides, rows):
    """One row for all queries hides the same keys from each of them."""
    mask = np.where(np.triu(np.ones((8, 8)), 1)[:rows], later, 0).astype(np.float32)

    def make(build, x):
        heads = build.op("reshape", x, shape=(1, 1, 8, 4))
        bias = build.constant(mask.reshape(1, 1, rows, 8))
        attributes = {"scale": 1.0, "causal": False, "first_query": 0}
        found = build.op("attention", heads, heads, heads, bias, **attributes)
        return build.op("reshape", found, shape=(1, 8, 4))

    if not hides or rows == 1:
        refused("its queries see later keys", make)
        return
    build = GraphBuilder("masked")
    graph = build.finish({"logits": make(build, embedded(build))})
    step = step_graph(graph, [Text(0, 8)])
    tokens = [1, 2, 3, 4, 5, 6, 7, 8]
    (found,) = interpret(step.graph, step.inputs(tokens, [Text(0, 8)])).values()
    (wanted,) = interpret(graph, {name: np.array([tokens]) for name in graph.inputs}).values()
    np.testing.assert_allclose(found.reshape(8, 4), wanted[0], 1e-5, 1e-6)


def test_some_of_the_tokens_are_refused_but_the_last_one_is_the_logits():
    def some(build, x):
        return build.op("slice", x, starts=(0, 2, 0), sizes=(1, 3, 4), steps=(1, 1, 1))

    refused("it picks some of the tokens", some)
    build = GraphBuilder("last")
    x = embedded(build)
    last = build.op("slice", x, starts=(0, 7, 0), sizes=(1, 1, 4), steps=(1, 1, 1))
    graph = build.finish({"logits": build.op("relu", last)})
    step = step_graph(graph, [Text(0, 3)])
    (found,) = interpret(step.graph, step.inputs([1, 2, 3], [Text(0, 3)])).values()
    table = next(value for value in graph.constants.values() if value.shape == (9, 4))
    np.testing.assert_array_equal(found[0], np.maximum(table[1:4], 0))
