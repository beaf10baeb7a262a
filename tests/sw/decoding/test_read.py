"""Decoders of ONNX files: their weights, their integers, and what is no decoder."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.decoders.llama import gemma2
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.training.scorers import float_scorer, integer_scorer
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.decoder import quantize_decoder
from celosia.sw.decoding.float_session import FloatSession
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.read import read_decoder
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.quantize.precision import Numbers
from tests.support.decoder_exports import EXPORTED, WIDTH, exported, save
from tests.support.decoder_sessions import shared_session
from tests.support.onnx_runtime import run_session, runtime_session

LENGTH = 40
ONE_LAYER = replace(SMALL, layers=1)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def imported(name, *, cached=False, length=LENGTH):
    return read_decoder(save(exported(name, cached)), length)


def texts(count, size=LENGTH, seed=0):
    return np.random.default_rng(seed).integers(0, SMALL.vocabulary, (count, size)).tolist()


@cache
def in_integers(name):
    return quantize_decoder(imported(name), texts(4))


def in_float(graph, text):
    return float_scorer(graph)(text)


def by_runtime(model, text):
    """The logits of a text by ONNX Runtime, from a file without a cache."""
    inputs = {"input_ids": np.array([text]), "attention_mask": np.ones((1, len(text)), np.int64)}
    (found,) = run_session(runtime_session(model), inputs)
    return found[0]


@pytest.mark.parametrize("name", EXPORTED)
def test_logits_are_those_of_the_file(name):
    (text,) = texts(1)
    wanted = by_runtime(exported(name), text)
    np.testing.assert_allclose(in_float(imported(name), text), wanted, atol=3e-5)


def test_scores_of_another_scale_are_those_of_the_file():
    """Queries take what is not the root of a head's width: their weights, and their biases, too."""
    model, (text,) = changed("gpt2"), texts(1)
    divisors = {np.float32(WIDTH**0.5), np.float32(2)}
    for each in model.graph.node:
        for attribute in each.attribute:
            if each.op_type == "Constant" and attribute.t.dims == []:
                value = numpy_helper.to_array(attribute.t)
                if value.dtype == np.float32 and value == np.float32(WIDTH**0.5):
                    attribute.t.CopyFrom(numpy_helper.from_array(np.array(1.5, np.float32)))
    for each in model.graph.initializer:
        value = numpy_helper.to_array(each)
        if value.shape == () and value.dtype == np.float32 and value in divisors:
            each.CopyFrom(numpy_helper.from_array(np.array(1.5, np.float32), each.name))
        elif each.name.endswith("c_attn.bias"):
            queries = value.size // 3
            larger = np.concatenate([10 * value[:queries] + 1, value[queries:]])
            each.CopyFrom(numpy_helper.from_array(larger, each.name))
    found = in_float(read_decoder(save(model), LENGTH), text)
    np.testing.assert_allclose(found, by_runtime(model, text), atol=2e-5)
    assert np.abs(found - in_float(imported("gpt2"), text)).max() > 0.01


@pytest.mark.parametrize("name", EXPORTED)
def test_a_file_with_a_cache_is_the_same_model(name):
    other = quantize_decoder(imported(name, cached=True), texts(4))
    (text,) = texts(1, seed=3)
    assert (integer_scorer(in_integers(name))(text) == integer_scorer(other)(text)).all()


@pytest.mark.parametrize("name", EXPORTED)
def test_a_files_own_steps_behind_its_cache_have_the_same_logits(name):
    model, (text,) = exported(name, cached=True), texts(1, 9)
    session, graph = runtime_session(model), imported(name, cached=True)
    names = [each.name for each in model.graph.output]
    past, positioned = {}, False
    for each in model.graph.input:
        positioned |= each.name == "position_ids"
        if each.name.startswith("past"):
            heads = each.type.tensor_type.shape.dim[1].dim_value
            past[each.name] = np.zeros((1, heads, 0, WIDTH), np.float32)
    found = []
    for begin, end in ((0, 5), (5, 6), (6, 9)):
        mask = np.ones((1, end), np.int64)
        inputs = {"input_ids": np.array([text[begin:end]]), "attention_mask": mask, **past}
        if positioned:
            inputs["position_ids"] = np.arange(begin, end)[np.newaxis]
        results = dict(zip(names, run_session(session, inputs), strict=True))
        found.append(results.pop("logits")[0])
        past = {each.replace("present", "past_key_values"): x for each, x in results.items()}
    np.testing.assert_allclose(np.concatenate(found), in_float(graph, text), atol=2e-5)


@pytest.mark.parametrize(
    ("name", "decibels"),
    [
        *(("gpt2", 20), ("opt", 22), ("llama", 22), ("qwen2", 15), ("qwen3", 18), ("mistral", 21)),
        *(("gemma", 21), ("phi", 30), ("gpt-neox", 30), ("bloom", 24)),
    ],
)
def test_integers_foretell_what_float_does(name, decibels):
    weights = imported(name)
    scorer, signal, noise, same = integer_scorer(quantize_decoder(weights, texts(16))), 0, 0, []
    for text in texts(4, seed=1):
        exact, found = in_float(weights, text), scorer(text)
        signal, noise = signal + np.square(exact).sum(), noise + np.square(exact - found).sum()
        same += (exact.argmax(axis=1) == found.argmax(axis=1)).tolist()
    assert 10 * np.log10(signal / noise) > decibels
    assert np.mean(same) > 0.85


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama"])
@pytest.mark.parametrize("pieces", [(3, 1, 1, 16), (1, 19, 1)])
def test_prefill_and_steps_are_prefill_of_all_bit_for_bit(name, pieces):
    quantized = in_integers(name)
    found, text = in_pieces(quantized, pieces)
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


@pytest.mark.parametrize("name", list(EXPORTED)[3:])
def test_steps_of_one_layer_are_prefill_of_all_bit_for_bit(name):
    """The context is longer than a window."""
    graph = read_decoder(save(EXPORTED[name](ONE_LAYER, 0)), LENGTH)
    quantized = quantize_decoder(graph, texts(4))
    found, text = in_pieces(quantized, (16, 1, 3))
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


def test_products_read_int16_in_steps_and_in_prefill_and_are_nearer_to_float():
    graph = read_decoder(save(EXPORTED["llama"](ONE_LAYER, 0)), LENGTH)

    def kinds(names: Collection[str], wide: Collection[str]) -> dict[str, Numbers]:
        # Gates cannot.
        assert len(names) == len(wide) + 1
        assert "/model/layers.0/self_attn/q_proj/MatMul" in wide
        # Values of two bytes are those of whole texts: a cache has one.
        chosen = {name for name in wide if "v_proj" not in name}
        return {name: Numbers.INT16 if name in chosen else Numbers.INT8 for name in names}

    plain, fine = (quantize_decoder(graph, texts(4), kinds=each) for each in (None, kinds))
    found, text = in_pieces(fine, (3, 1))
    np.testing.assert_array_equal(found, integer_scorer(fine)(text))
    noises = [
        sum(np.square(integer_scorer(each)(x) - in_float(graph, x)).sum() for x in texts(2, seed=1))
        for each in (plain, fine)
    ]
    assert noises[0] > 1.5 * noises[1]


def test_rtl_normalizes_heads_as_the_functional_model_does():
    graph = read_decoder(save(EXPORTED["qwen3"](ONE_LAYER, 0)), LENGTH)
    quantized = quantize_decoder(graph, texts(4))
    found, text = in_pieces(quantized, (1, 1), "verilator", "tiny")
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


def in_pieces(quantized, pieces, simulator="functional", preset="base"):
    """The logits of a text by steps on a device, and the text; `base` has the shortest programs."""
    text = texts(1, sum(pieces), seed=2)[0]
    size = session_bytes(quantized, len(text))
    device = open_device(simulator, PRESETS[preset], MemoryTiming(), size)
    session = shared_session(device, quantized, len(text))
    parts = np.split(np.array(text), np.cumsum(pieces)[:-1])
    found = [session.append(part.tolist())[0] for part in parts]
    device.close()
    return np.concatenate(found), text


@pytest.mark.parametrize("name", EXPORTED)
def test_a_step_is_one_program(name):
    """Nothing of these models is the host's between two of the accelerator's operators."""
    step = in_integers(name).step([Text(9, 1)], CacheLayout(1, 30))
    assert len(step.model.segments) == 1


def test_keys_before_a_window_are_not_seen():
    """Two layers see the window's keys of what sees as many, by steps as in the file."""
    (text,), reach = texts(1), 2 * (SMALL.window - 1)
    changed = [(text[0] + 1) % SMALL.vocabulary, *text[1:]]
    session = FloatSession(imported("mistral"), LENGTH)
    by_steps = np.concatenate([session.append([token]) for token in text])
    np.testing.assert_allclose(by_steps, by_runtime(exported("mistral"), text), atol=2e-5)
    scorer = integer_scorer(in_integers("mistral"))
    for one, other in (
        (by_steps, in_float(imported("mistral"), changed)),
        (scorer(text), scorer(changed)),
    ):
        difference = np.abs(one - other).max(axis=1)
        assert (difference[: SMALL.window] > 1e-3).all()
        assert difference[SMALL.window : reach + 1].max() > 1e-3
        assert difference[reach + 1 :].max() < 1e-5


def test_slopes_go_as_far_as_a_long_text():
    """Scores are up to 256 then: they are too large to wait in memory, and do not saturate."""
    (text,) = texts(1, 1024)
    model = EXPORTED["bloom"](ONE_LAYER, 0)
    graph = read_decoder(save(model), 1024)
    wanted = by_runtime(model, text)
    np.testing.assert_allclose(in_float(graph, text), wanted, atol=1e-4)
    quantized = quantize_decoder(graph, texts(1, 1024, seed=1))
    assert not quantized.formats.stored
    found = integer_scorer(quantized)(text)
    assert 10 * np.log10(np.square(wanted).sum() / np.square(found - wanted).sum()) > 20


def test_heads_that_the_host_rotates_are_written_to_caches():
    """Heads of 8 columns are too narrow for the accelerator: it reads what the host has made."""
    size = replace(SMALL, heads=8, key_heads=4, layers=1)
    graph = read_decoder(save(EXPORTED["llama"](size, 0)), LENGTH)
    quantized, (text,) = quantize_decoder(graph, texts(4)), texts(1, 9)
    step = quantized.step([Text(5, 1)], CacheLayout(1, LENGTH))
    given = [rows for segment in step.model.segments for rows in segment.given]
    # Values are the accelerator's, but of the segment before the one that reads them.
    assert [rows.first for rows in given] == [CacheLayout(1, LENGTH).first(0) + 5] * 2
    found, segments = in_steps(quantized, text)
    assert segments == len(step.model.segments) > 1
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


@pytest.mark.parametrize("heads", [SMALL.heads, 1])
def test_heads_that_the_host_makes_beside_each_other_are_written_to_caches(heads):
    """As GPT-J rotates: in (1, tokens, heads, columns), for steps of one token and of several."""
    model = EXPORTED["opt"](replace(SMALL, layers=1, heads=heads), 0)
    given = {name for each in model.graph.node for name in each.output if each.op_type == "Reshape"}
    turned = [
        (place, each)
        for place, each in enumerate(model.graph.node)
        if each.op_type == "Transpose" and each.input[0] in given
    ]
    for place, each in reversed(turned):
        made = onnx.helper.make_node("Sigmoid", each.input[:1], [f"{each.input[0]} made"])
        each.input[0] = made.output[0]
        model.graph.node.insert(place, made)
    assert len(turned) == 3, "queries, keys and values"
    quantized, (text,) = quantize_decoder(read_decoder(save(model), LENGTH), texts(4)), texts(1, 9)
    found, segments = in_steps(quantized, text)
    assert segments > 1
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


def test_scores_that_are_near_their_cap_are_refused_by_name():
    model = gemma2(SMALL, 0)
    for each in model.graph.node:
        for attribute in each.attribute:
            if attribute.name == "value" and np.all(numpy_helper.to_array(attribute.t) == 50):
                attribute.t.CopyFrom(numpy_helper.from_array(np.array(3, np.float32)))
    reason = "layers.0/self_attn/MatMul_1 .MatMul.: its scores come too near to 3.0, their cap"
    with pytest.raises(DecoderProblem, match=reason):
        quantize_decoder(read_decoder(save(model), LENGTH), texts(2))


def refused(message, model, length=LENGTH):
    with pytest.raises(DecoderProblem, match=message):
        read_decoder(save(model), length)


def changed(name, cached=False):
    model = onnx.ModelProto()
    model.CopyFrom(exported(name, cached))
    return model


def node(model, name):
    return next(each for each in model.graph.node if each.name == name)


def test_models_that_are_no_decoders_are_refused():
    refused("input token_type_ids: a decoder has input_ids", EXPORTS["bert-17"].build(SMALL))
    refused("it has no input input_ids; it has pixel_values", EXPORTS["vit"].build(SMALL))
    with pytest.raises(DecoderProblem, match="not an ONNX file"):
        read_decoder(save_bytes(b"x"), LENGTH)
    with pytest.raises(DecoderProblem, match="No such file"):
        read_decoder(save(exported("opt")).with_name("nowhere.onnx"), LENGTH)


def save_bytes(content):
    path = save(exported("opt"))
    path.write_bytes(content)
    return path


def test_a_text_longer_than_the_table_of_positions_is_refused():
    refused(r"wpe/Gather.*out of bounds.*\(for 65 tokens\)", exported("gpt2"), 65)


def test_open_sizes_must_be_open():
    model = changed("llama")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 8
    refused("input input_ids: axis 1 has size 8, not 40", model)
    del model.graph.input[0].type.tensor_type.shape.dim[1]
    refused("input input_ids: it has 1 axes", model)


def test_the_cache_of_another_model_is_refused():
    model = changed("gpt2", cached=True)
    before = next(each for each in model.graph.input if each.name.startswith("past"))
    before.type.tensor_type.shape.dim[1].dim_value = 8
    refused(r"attn/Concat.*float32\[1x8x0x16\]", model)


def in_steps(quantized, text):
    """The logits of a text by a device of the functional model, and how many segments there are."""
    size = session_bytes(quantized, len(text))
    device = open_device("functional", PRESETS["base"], MemoryTiming(), size)
    session = DecoderSession(device, quantized, len(text))
    found, steps = zip(
        *(session.append(part) for part in (text[:5], text[5:6], text[6:])), strict=True
    )
    device.close()
    return np.concatenate(found), len(steps[0][0].results)


def test_what_the_host_computes_stands_between_segments():
    """An activation that the accelerator does not have: each layer is cut in two."""
    model, (text,) = changed("opt"), texts(1, 9)
    node(model, "/decoder/layers.1/activation_fn/Relu").op_type = "Sigmoid"
    graph = read_decoder(save(model), LENGTH)
    quantized = quantize_decoder(graph, texts(4))
    found, segments = in_steps(quantized, text)
    assert segments == 2
    np.testing.assert_array_equal(found, integer_scorer(quantized)(text))


def test_layers_need_not_be_alike():
    model, (text,) = changed("opt"), texts(1, 9)
    norm = node(model, "/decoder/layers.1/final_layer_norm/LayerNormalization")
    next(each for each in norm.attribute if each.name == "epsilon").f = 0.5
    found = in_float(read_decoder(save(model), LENGTH), text)
    np.testing.assert_allclose(found, by_runtime(model, text), atol=2e-5)


def test_a_model_that_sees_later_tokens_is_refused():
    model = changed("gpt2")
    for each in model.graph.node:
        for attribute in each.attribute:
            if attribute.t.dims[:2] == [1, 1] and attribute.t.dims[-1] == SMALL.positions:
                attribute.t.CopyFrom(numpy_helper.from_array(np.ones(attribute.t.dims, bool)))
    refused("its queries see later keys", model)
