"""A text on a device is the text of the integer graph, however its tokens come."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.exports.decoders.llama import mistral
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.training.scorers import device_scorer, integer_scorer
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding import steps as steps_module
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.decoder import quantize_decoder
from celosia.sw.decoding.read import read_decoder
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.ir.graph import MatMul
from tests.support.decoder_exports import save
from tests.support.decoder_sessions import shared_session
from tests.support.integer_models import SHAPE, UNLIKE, quantized, tokens

CONTEXT = 70


def opened(preset, simulator="functional", context=CONTEXT, shape=SHAPE):
    """A device for a text."""
    size = session_bytes(quantized(shape), context)
    return open_device(simulator, resolve_config(preset, ()), MemoryTiming(), size)


@pytest.fixture
def device():
    """A device of the functional model; `base` has the shortest programs."""
    device = opened("base")
    yield device
    device.close()


# Texts of one bucket, and one that goes on in the next: the smallest array has that one alone.
@pytest.mark.parametrize(
    ("preset", "pieces"),
    [
        *(("base", pieces) for pieces in ((16, 1, 1, 3), (1, 20), (5, 57, 1, 1, 6))),
        ("tiny", (5, 57, 1, 1, 6)),
        ("rebalanced", (1, 20)),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                *(("tiny", pieces) for pieces in ((16, 1, 1, 3), (1, 20))),
                *(("rebalanced", pieces) for pieces in ((16, 1, 1, 3), (5, 57, 1, 1, 6))),
            )
        ),
    ],
)
def test_logits_are_those_of_the_integer_graph(preset, pieces):
    device = opened(preset)
    comparison, text = Comparison(), tokens(sum(pieces))
    session = shared_session(device, quantized(), CONTEXT, comparison)
    parts = np.split(np.array(text), np.cumsum(pieces)[:-1])
    logits, steps = zip(*(session.append(part.tolist()) for part in parts), strict=True)
    device.close()
    assert (np.concatenate(logits) == integer_scorer(quantized())(text)).all()
    assert session.length == sum(pieces)
    taken = [step.text.rows for each in steps for step in each]
    assert sum(taken) == sum(pieces)
    assert len(taken) == sum(-(-count // 16) for count in pieces)
    assert comparison.elements


@cache
def windowed(positions=256):
    """A model whose queries see 12 keys, in integers."""
    size = replace(SMALL, positions=positions, layers=1)
    path = save(mistral(size, 0), "windowed.onnx")
    graph = read_decoder(path, 160)
    path.unlink()
    random = np.random.default_rng(0)
    return quantize_decoder(graph, random.integers(0, size.vocabulary, (4, 40)).tolist())


def windowed_session(preset="base", simulator="functional", length=150):
    """A session of the model with a window, its text, and what has to come out."""
    model, comparison = windowed(), Comparison()
    text = np.random.default_rng(1).integers(0, SMALL.vocabulary, length).tolist()
    size = session_bytes(model, length)
    device = open_device(simulator, resolve_config(preset, ()), MemoryTiming(), size)
    return DecoderSession(device, model, length, comparison), text, integer_scorer(model)(text)


@pytest.mark.parametrize("preset", [pytest.param("tiny", marks=pytest.mark.nightly), "base"])
def test_a_text_past_its_window_is_that_of_the_integer_graph(preset, tmp_path, monkeypatch):
    """A text of more than two rings, in steps of all sizes, some of which end behind a ring."""
    monkeypatch.chdir(tmp_path)
    session, text, wanted = windowed_session(preset)
    assert [ring.size for ring in session.steps.rings] == [64, 64]
    found = []
    for count in (5, 16, 39, 1, 1, 16, 7, 20, 22, 1, 16, 6):
        first = session.length
        logits, _ = session.append(text[first : first + count])
        found.append(logits)
    session.steps.device.close()
    assert session.length == len(text)
    assert (np.concatenate(found) == wanted).all()


@pytest.mark.nightly
def test_a_ring_on_the_rtl(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session, text, wanted = windowed_session("tiny", "verilator")
    parts = [session.append(text[n : n + 16])[0] for n in range(0, 96, 16)]
    parts += [session.append(text[n : n + 1])[0] for n in range(96, 99)]
    session.steps.device.close()
    assert (np.concatenate(parts) == wanted[:99]).all()


def test_a_text_goes_back_as_far_as_its_ring_holds_a_window(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session, text, wanted = windowed_session()
    session.append(text[:80] + [1] * 20)
    session.go_back(80)
    assert (session.append(text[80:85])[0] == wanted[80:85]).all()
    with pytest.raises(ValueError, match="length: 40 is more than 52 before the 100 tokens"):
        session.go_back(40)
    session.go_back(0)
    assert (session.append(text[:20])[0] == wanted[:20]).all()
    session.steps.device.close()


def test_a_step_reads_the_keys_that_a_window_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    layout = CacheLayout(1, 170)
    step = windowed().step([Text(140, 1)], layout, moving=True, shorter=12)
    caches = {name for segment in step.model.segments for name in segment.caches}
    views = {
        view
        for segment in step.model.segments
        for op in segment.graph.ops
        if isinstance(op, MatMul)
        for view in (op.b,)
        if view.tensor in caches
    }
    # The first key that a text of 128 tokens sees is 117, and 112 begins a tile.
    assert {(view.row - layout.first(0), view.rows) for view in views} == {(112, 29)}
    weights = step.least_bytes([])
    width = sum(view.cols for view in views)
    assert step.least_bytes([Text(5, 2)]) == weights + 7 * width
    assert step.least_bytes([Text(140, 2)]) == weights + 13 * width


def test_a_row_does_not_depend_on_those_beside_it(device):
    """Steps of each number of rows stand behind a context, and across the end of a bucket."""
    text = tokens(CONTEXT)
    expected = integer_scorer(quantized())(text)
    session = shared_session(device, quantized(), CONTEXT, comparison := Comparison())
    session.append(text[:60])
    for count in (1, 2, 3, 4, 7, 8, 9):
        for begin in (60, 61):
            if begin > session.length:
                session.append(text[session.length : begin])
            logits, (step,) = session.append(text[begin : begin + count])
            assert (logits == expected[begin : begin + count]).all()
            assert step.text.rows == count
            session.go_back(60)
    assert comparison.elements


def test_a_text_goes_back_and_on_with_other_tokens(device):
    """What stood behind it is overwritten: whole caches are compared at each step."""
    wrong, text = tokens(CONTEXT, seed=5), tokens(CONTEXT, seed=6)
    session = shared_session(device, quantized(), CONTEXT)
    session.append(text[:10])
    session.append(wrong[10:67])
    session.go_back(12)
    assert session.length == 12
    session.go_back(10)
    found = [session.append(text[first : first + 6])[0] for first in range(10, CONTEXT, 6)]
    assert (np.concatenate(found) == integer_scorer(quantized())(text)[10:]).all()
    for length in (-1, CONTEXT + 1):
        with pytest.raises(ValueError, match=rf"length: {length} is not in 0..{CONTEXT}"):
            session.go_back(length)
    assert session.length == CONTEXT


def test_a_step_has_as_few_rows_as_its_tokens_need(device, monkeypatch):
    rows = []
    compile_bucket = steps_module.compile_bucket

    def counted(graph, layout, contexts, *arguments, **options):
        rows.append(max(op.a.rows for op in graph.ops if isinstance(op, MatMul)))
        return compile_bucket(graph, layout, contexts, *arguments, **options)

    monkeypatch.setattr(steps_module, "compile_bucket", counted)
    session = DecoderSession(device, quantized(), CONTEXT)
    for count in (1, 2, 3, 5, 9):
        session.append(tokens(count))
    assert rows == [1, 2, 4, 8, 16]


def test_without_a_comparison_only_the_device_works(device):
    """Across a bucket, too: caches stand in the device's memory, and nobody else has them."""
    text = tokens(CONTEXT)
    session = DecoderSession(device, quantized(), CONTEXT)
    pieces = (text[:20], text[20:63], text[63:65], text[65:66])
    found = [session.append(piece)[0] for piece in pieces]
    assert (np.concatenate(found) == integer_scorer(quantized())(text[:66])).all()


@pytest.mark.parametrize(
    "simulator", ["verilator", pytest.param("amaranth", marks=pytest.mark.nightly)]
)
def test_rtl_computes_the_same(simulator):
    device, text = opened("tiny", simulator, 4), tokens(4)
    session = shared_session(device, quantized(), 4)
    (first, steps), (second, more) = session.append(text[:3]), session.append(text[3:])
    device.close()
    expected = integer_scorer(quantized())(text)
    assert (np.concatenate((first, second)) == expected).all()
    assert all(step.cycles for step in (*steps, *more))


@pytest.mark.parametrize(
    ("preset", "simulator", "pieces"),
    [
        ("base", "functional", (9, 1, 3)),
        pytest.param("tiny", "verilator", (2, 1), marks=pytest.mark.slow),
        ("base", "verilator", (2, 1)),
    ],
)
def test_layers_need_not_be_alike(preset, simulator, pieces):
    count, model = sum(pieces), quantized(UNLIKE)
    device, text = opened(preset, simulator, count, UNLIKE), tokens(count, shape=UNLIKE)
    session = shared_session(device, model, count, comparison := Comparison())
    parts = np.split(np.array(text), np.cumsum(pieces)[:-1])
    found = [session.append(part.tolist())[0] for part in parts]
    device.close()
    assert (np.concatenate(found) == integer_scorer(model)(text)).all()
    assert comparison.elements


def test_programs_are_compiled_once_for_a_bucket(device, monkeypatch):
    compiled = []
    compile_bucket = steps_module.compile_bucket

    def counted(graph, layout, contexts, *arguments, **options):
        compiled.append(contexts)
        return compile_bucket(graph, layout, contexts, *arguments, **options)

    monkeypatch.setattr(steps_module, "compile_bucket", counted)
    session = DecoderSession(device, quantized(), CONTEXT)
    session.prepare(1)
    for token in tokens(CONTEXT):
        session.append([token])
    assert compiled == [range(64), range(64, CONTEXT)]


def test_bad_tokens_are_refused_and_nothing_is_appended(device):
    session = shared_session(device, quantized(), 4)
    with pytest.raises(ValueError, match="tokens: there are none"):
        session.append([])
    with pytest.raises(ValueError, match=r"token 1: 40 is not in 0..39"):
        session.append([0, 40])
    session.append([1, 2, 3])
    with pytest.raises(ValueError, match="2 after 3 are more than the 4 of the context"):
        session.append([1, 2])
    assert session.length == 3
    with pytest.raises(ValueError, match="context: 0 tokens"):
        DecoderSession(device, quantized(), 0)


def test_steps_of_other_numbers_of_programs_are_refused(device, monkeypatch):
    monkeypatch.setattr(steps_module, "_sizes", lambda *_: [1 << 20] * 2)
    session = DecoderSession(device, quantized(), 8)
    with pytest.raises(ValueError, match="a step of 1 tokens is 1 programs, one of 16 is 2"):
        session.append([1])


def test_a_text_is_scored_step_by_step(device):
    text = tokens(19, seed=3)
    assert (device_scorer(device, quantized())(text) == integer_scorer(quantized())(text)).all()
