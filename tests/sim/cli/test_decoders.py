"""`celosia run decoder` from outside."""

import json
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.workloads import decoder_workload
from celosia.sim.workloads.decoder_workload import step_bytes
from celosia.sw.models.decoder_shape import GPT2_SMALL, DecoderShape, Form, Text
from tests.support.command_line import FAST, refused, right, valid


def shape(form: Form) -> DecoderShape:
    return DecoderShape(
        form=form,
        layers=2,
        width=32,
        heads=4,
        key_heads=2 if form == "llama" else 4,
        hidden=40,
        vocabulary=50,
    )


@pytest.fixture(autouse=True)
def small_decoders(monkeypatch):
    """Lets every decoder be a small one of its form."""
    forms: dict[str, Form] = {"gpt2-small": "gpt2", "opt-125m": "opt", "tinyllama": "llama"}
    small = {name: shape(form) for name, form in forms.items()}
    monkeypatch.setattr(decoder_workload, "DECODERS", small)


@pytest.mark.parametrize(
    ("model", "context", "rows"),
    [("gpt2-small", 9, 1), ("opt-125m", 0, 3), ("tinyllama", 9, 1), ("tinyllama", 2, 3)],
)
def test_a_step_is_right_with_every_tensor_compared(model, context, rows):
    words = ("--model", model, "--context", context, "--rows", rows, "--layers", 1, "--json", "-")
    document = valid(right("run", "decoder", *words, *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)
    names = [each["workload"] for each in document["operators"]]
    assert names[-1] == "vocabulary"
    assert ("0.rotate_query" in names) == (model == "tinyllama")
    assert document["memory_limit_share"] is None, "a functional model has no clock"
    cached = 2 * (16 + context + rows + 16) * shape("llama").cache_width
    assert document["elements_checked"] > cached


def test_texts_of_different_lengths_have_a_row_each():
    words = ("--model", "opt-125m", "--context", "9,0,4", "--layers", 1, "--json", "-")
    document = valid(right("run", "decoder", *words, *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)
    cached = 2 * (16 + 3 * (10 + 16)) * shape("opt").cache_width
    assert document["elements_checked"] > cached


def test_a_layer_of_a_prefill_counts_what_rows_see():
    words = ("--model", "gpt2-small", "--context", 0, "--rows", 24, "--json", "-")
    document = valid(right("run", "decoder-layer", *words, *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)
    names = [each["workload"] for each in document["operators"]]
    assert "vocabulary" not in names
    assert not any(name.startswith("1.") for name in names)
    attention = next(each for each in document["operators"] if "attention" in each["workload"])
    tiles = 24 // 4
    assert attention["macs"] == 2 * 4 * 8 * 4 * 4 * tiles * (tiles + 1) // 2
    refused("--layers is no option", "run", "decoder-layer", *words, "--layers", 2)


def test_all_layers_run_and_without_a_clock_there_is_no_share():
    words = ("--model", "opt-125m", "--context", 3, "--json", "j.json")
    result = right("run", "decoder", *words, *FAST)
    assert "of the memory's limit" not in result.stdout
    names = [each["workload"] for each in json.loads(Path("j.json").read_text())["operators"]]
    assert {name.split(".")[0] for name in names} == {"0", "1", "norm", "vocabulary"}


def test_the_share_of_the_limit_is_of_weights_and_caches():
    text = Text(128, 1)
    moved = step_bytes(GPT2_SMALL, [text, text])
    assert moved == GPT2_SMALL.weights + 2 * 2 * 12 * 768 * 129
    setting = Setting(
        workload="decoder",
        preset="base",
        simulator="verilator",
        config=PRESETS["base"],
        timing=MemoryTiming(bytes_per_cycle=16),
    )
    whole = Measurement(name="decoder", cycles=5000)
    report = Report(
        setting=setting, operators=(), whole=whole, elapsed_seconds=1, step_bytes=40_000
    )
    assert report.memory_limit_share == 0.5


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("give --model, one of gpt2-small, opt-125m, tinyllama", ""),
        ("--model gpt3: there are gpt2-small, opt-125m, tinyllama", "--model gpt3 --context 1"),
        ("decoder: give --context", "--model opt-125m"),
        ("4097 keys are more than the 4096", "--model opt-125m --context 4096"),
        ("4097 keys are more than the 4096", "--model opt-125m --context 1 --rows 4096"),
        ("4097 keys are more than the 4096", "--model opt-125m --context 1,4096"),
        ("'x' is no number of tokens", "--model opt-125m --context 1,x"),
        ("'-1' is no number of tokens", "--model opt-125m --context -1"),
        ("'' is no number of tokens", "--model opt-125m --context 1,"),
        ("'99999' is no number of tokens", "--model opt-125m --context 99999"),
        ("--rows", "--model opt-125m --context 1 --rows 0"),
        ("--layers", "--model opt-125m --context 1 --layers 0"),
        ("--seq is no option of decoder", "--model opt-125m --context 1 --seq 4"),
        (
            "bytes of weights and caches are more than",
            "--model opt-125m --context 1 --layers 99999999",
        ),
    ],
)
def test_what_is_no_step_is_refused(message, words):
    refused(message, "run", "decoder", *words.split())
