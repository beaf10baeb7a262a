"""Decoders: a prefill and steps behind it are one computation, cut anywhere."""

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.texts import GUARD_ROWS, CacheLayout, Text
from celosia.sw.ir.causal import seen_products
from celosia.sw.ir.graph import DeferredSoftmax, Mask, MatMul
from celosia.sw.ir.program import Products
from celosia.sw.models.cases import attention_case
from celosia.sw.models.decoder_shape import GPT2_SMALL, OPT_125M, TINYLLAMA, Form
from tests.sw.models.decoder_runs import CAPACITY, Session, interpreted, model, on_device, tokens

FORMS = ("gpt2", "opt")


def in_pieces(decoder, pieces, compute):
    """Logits and caches of all tokens, so many at a time."""
    session, embedding = Session(decoder, compute), tokens(decoder, sum(pieces))
    logits = [
        session.step(part) for part in np.split(embedding, np.cumsum(pieces)[:-1]) if len(part)
    ]
    return np.concatenate(logits), session.caches


def assert_same(one, other):
    (logits, caches), (others, other_caches) = one, other
    assert (logits == others).all()
    for name, value in caches.items():
        assert (value == other_caches[name]).all(), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", [(12, 1), (1, 12), (9, 4), (3, 7, 3), (1,) * 13])
def test_a_prefill_and_steps_are_one_prefill(form, pieces):
    decoder = model(form)
    assert_same(in_pieces(decoder, pieces, interpreted), in_pieces(decoder, (13,), interpreted))


@pytest.mark.parametrize(
    ("preset", "form", "pieces"),
    [
        ("tiny", "gpt2", (20, 1, 3)),
        ("tiny", "opt", (5, 16, 1, 2)),
        ("rebalanced", "gpt2", (18, 2, 1)),
        ("base", "gpt2", (17, 1, 2)),
    ],
)
def test_devices_compute_prefill_and_steps(preset, form, pieces):
    decoder = model(form)
    whole = in_pieces(decoder, (sum(pieces),), interpreted)
    assert_same(in_pieces(decoder, pieces, on_device(preset)), whole)


PRESETS = ("tiny", "rebalanced", "base")


def of_form(form: Form):
    """A decoder for all of `PRESETS`: rotary heads are as wide as the widest array."""
    return model(form, width=64, key_heads=2) if form == "llama" else model(form)


@settings(max_examples=5)
@given(
    preset=st.sampled_from(PRESETS),
    form=st.sampled_from(["gpt2", "opt", "llama"]),
    prefill=st.integers(1, 8),
    steps=st.lists(st.integers(1, 16), min_size=1, max_size=3),
)
def test_any_steps_behind_any_prefill_are_one_prefill(preset, form, prefill, steps):
    decoder = of_form(form)
    ends = [prefill, *(prefill + end for end in accumulate(steps))]
    pieces = [end - start for start, end in pairwise([0, *ends]) if end <= CAPACITY]
    whole = in_pieces(decoder, (sum(pieces),), interpreted)
    assert_same(in_pieces(decoder, pieces, on_device(preset)), whole)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["gpt2", "llama"])
@pytest.mark.parametrize("rows", range(1, 17))
@pytest.mark.parametrize("preset", PRESETS)
def test_all_cuts_on_devices(preset, rows, form):
    decoder = of_form(form)
    whole = in_pieces(decoder, (20,), interpreted)
    assert_same(in_pieces(decoder, (20 - rows, rows), on_device(preset)), whole)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["gpt2", "llama"])
@pytest.mark.parametrize("pieces", [(11, 1, 2), (3, 9)])
def test_cuts_on_rtl(pieces, form):
    decoder = of_form(form)
    whole = in_pieces(decoder, (sum(pieces),), interpreted)
    assert_same(in_pieces(decoder, pieces, on_device("tiny", "verilator")), whole)


@pytest.mark.parametrize("compute", [interpreted, on_device("tiny")], ids=["graph", "device"])
def test_texts_of_a_step_do_not_see_each_other(compute):
    decoder, lengths = model(), (5, 1, 9)
    texts = [tokens(decoder, length + 2, seed) for seed, length in enumerate(lengths)]
    together = Session(decoder, compute, texts=3)
    together.step(np.concatenate([text[:-2] for text in texts]), lengths)
    logits = [together.step(np.stack([text[n] for text in texts]), [1, 1, 1]) for n in (-2, -1)]
    layout = CacheLayout(3, CAPACITY)
    for number, text in enumerate(texts):
        alone = Session(decoder)
        expected = alone.step(text)
        for step in (0, 1):
            assert (logits[step][number] == expected[step - 2]).all()
        for name, value in together.caches.items():
            mine = slice(layout.first(number), layout.first(number) + len(text))
            there = slice(GUARD_ROWS, GUARD_ROWS + len(text))
            assert (value[mine] == alone.caches[name][there]).all()


def test_guards_and_what_is_behind_the_text_stay():
    session = Session(model(), on_device("tiny"))
    before = dict(session.caches)
    session.step(tokens(session.decoder, 7))
    for name, value in session.caches.items():
        new = np.zeros(len(value), np.bool_)
        new[GUARD_ROWS : GUARD_ROWS + 7] = True
        assert (value[~new] == before[name][~new]).all()
        assert (value[new] != before[name][new]).any(axis=1).all()


def test_keys_behind_the_text_do_not_count():
    decoder = model()
    expected, bucket = (Session(decoder, on_device("tiny")) for _ in range(2))
    text = tokens(decoder, 7)
    for part, keys in ((text[:5], 16), (text[5:6], 16), (text[6:], CAPACITY)):
        assert (bucket.step(part, keys=keys) == expected.step(part)).all()


def test_a_layer_alone_is_that_of_the_whole():
    decoder = model()
    whole = decoder.graph([Text(2, 3)], CAPACITY)
    layer = model(layers=1, whole=False).graph([Text(2, 3)], CAPACITY)
    assert layer.ops == whole.ops[: len(layer.ops)]
    assert layer.outputs == ("0.down.wide",)


@pytest.mark.parametrize("form", ["gpt2", "opt", "llama"])
def test_tensors_use_the_range_of_their_types(form):
    """Integers spread over their types, and few are at the ends."""
    decoder = of_form(form)
    step = decoder.step([Text(0, CAPACITY)], CAPACITY)
    (segment,) = step.model.segments
    session = Session(decoder)
    inputs = {
        "embedding.wide": tokens(decoder, CAPACITY),
        **step.tables(segment, [Text(0, CAPACITY)]),
        **session.caches,
    }
    found = interpreted(segment.graph, inputs)
    least = {"int8": 12, "uint8": 12, "int16": 800}
    for name, value in found.items():
        kind = value.dtype.name
        if kind in least and name not in inputs and "numerators" not in name:
            assert value.std() > least[kind], name
            ends = np.abs(value.astype(int)) >= np.iinfo(value.dtype).max
            # The fewer values attention averages the larger is the result: its step is for many.
            assert "context" in name or ends.mean() < 0.01, name


def test_masks_begin_at_the_context():
    graph = model().graph([Text(5, 3)], CAPACITY)
    masks = {
        op.finish.mask
        for op in graph.ops
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
    }
    assert masks == {Mask(causal=True, first_row=5)}


def test_sizes_that_do_not_fit_each_other_are_refused():
    for change, problem in (
        ({"width": 0}, "width: 0 is not positive"),
        ({"vocabulary": -1}, "vocabulary: -1 is not positive"),
        ({"layers": ()}, "layers: there are none"),
    ):
        with pytest.raises(ValueError, match=problem):
            replace(GPT2_SMALL, **change)


def test_published_sizes():
    assert GPT2_SMALL.weights == 12 * 7_077_888 + 768 * 50_257
    assert OPT_125M.with_layers(1).weights == 7_077_888 + 768 * 50_272
    assert TINYLLAMA.with_layers(1).layer_weights == 2 * 2048 * (2048 + 256) + 3 * 2048 * 5632


@pytest.mark.parametrize(("preset", "rows", "width"), [("tiny", 40, 16), ("base", 70, 32)])
def test_tiles_that_no_row_sees_are_not_computed(preset, rows, width):
    case = attention_case(1, rows, width, 1, mask=Mask(causal=True))
    config = resolve_config(preset, ())
    compiled = compile_graph(case.graph, config)
    made = sum(
        each.rows * each.last_depth * each.last_cols
        for written in compiled.ops
        if isinstance(written.op, Products)
        for each in written.op.each(config.dim)
    )
    seen = seen_products(case.graph)
    assert made == sum(product.macs(config.dim) for product in seen.values())
    assert made < 0.7 * case.graph.macs
    found = on_device(preset)(case.graph, case.inputs, compiled)
    assert (found["context"] == interpreted(case.graph, case.inputs)["context"]).all()
