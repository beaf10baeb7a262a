"""`celosia run decoder` from outside."""

import json
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.run.compiled_forms import ALL
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.workloads import decoder_workload
from celosia.sim.workloads.decoder_workload import step_bytes
from celosia.sim.workloads.workload_kinds import GraphWorkload
from celosia.sim.workloads.workloads import WORKLOADS, details_for
from celosia.sw.decoding.texts import Text
from celosia.sw.driver.program_file import parse_program as parse_assembly
from celosia.sw.ir.print_program import print_program
from celosia.sw.ir.read_program import parse_program
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.models.decoder_shape import GPT2_SMALL, DecoderShape, Form
from celosia.sw.planning.forms.text import parse_plan
from celosia.sw.reference.language.shape import LayerShape
from tests.support.command_line import FAST, refused, right, valid

PREFILL = ("decoder-layer", "--model", "gpt2-small", "--context", 0, "--rows", 12)
STEP = ("decoder", "--model", "tinyllama", "--context", "9,0,4", "--layers", 1)
PARTS = pytest.mark.parametrize("part", [PREFILL, STEP], ids=["prefill", "step"])
FORMS = pytest.mark.parametrize(
    "part",
    [pytest.param(PREFILL, marks=pytest.mark.nightly, id="prefill"), pytest.param(STEP, id="step")],
)
"""A step has operators of its own, so it is the one that stays by day."""


def shape(form: Form) -> DecoderShape:
    return DecoderShape(
        form=form,
        width=64,
        vocabulary=50,
        layers=(
            LayerShape(heads=4, key_heads=2 if form == "llama" else 4, head_width=16, hidden=40),
        )
        * 2,
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
    cached = (16 + context + rows + 16) * shape("llama").with_layers(1).cache_width
    assert document["elements_checked"] > cached


def test_texts_of_different_lengths_have_a_row_each():
    words = ("--model", "opt-125m", "--context", "9,0,4", "--layers", 1, "--json", "-")
    document = valid(right("run", "decoder", *words, *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)
    cached = (16 + 3 * (10 + 16)) * shape("opt").with_layers(1).cache_width
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
    assert attention["macs"] == 2 * 4 * 16 * 4 * 4 * tiles * (tiles + 1) // 2
    refused("--layers is no option", "run", "decoder-layer", *words, "--layers", 2)


@pytest.mark.parametrize("weights", ["int4", "int4-vocabulary"])
def test_a_step_with_packed_weights_is_right(weights):
    words = ("--model", "gpt2-small", "--context", 9, "--layers", 1, "--weights", weights)
    document = valid(right("run", "decoder", *words, "--json", "-", *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)


def test_an_unknown_type_of_weights_is_refused_with_those_there_are():
    words = ("--model", "gpt2-small", "--context", 9, "--weights", "int-4")
    message = "--weights int-4: there are int8, int4, int4-vocabulary; did you mean int4?"
    refused(message, "run", "decoder", *words)


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


@FORMS
def test_each_form_of_a_part_is_printed_and_reads_back(part):
    forms = {
        form: right("compile", *part, "--preset", "tiny", "--print-after", form).stdout
        for form in ("graph", "plan", "expand", "schedule", "encode", "commands", ALL)
    }
    workload = WORKLOADS[part[0]]
    assert isinstance(workload, GraphWorkload)
    options = dict(zip(part[1::2], part[2::2], strict=True))
    words = {name.removeprefix("--"): value for name, value in options.items()}
    words["context"] = str(words["context"])
    details = details_for(part[0], words)
    constants = workload.make(details, 0, lambda *_: None).case.graph.constants
    graph = parse_graph(forms["graph"], constants)
    assert print_graph(graph) == forms["graph"]
    assert {tensor.name for tensor in graph.tensors.values() if tensor.cache} == {
        "0.key.cache" if part is PREFILL else "0.rotate_key.cache",
        "0.value.cache",
    }
    assert parse_plan(forms["plan"]).graph == graph.name
    for form in ("expand", "schedule"):
        assert print_program(parse_program(forms[form])) == forms[form]
    for form in ("encode", "commands"):
        assert parse_assembly(forms[form], form).commands
    assert all(text in forms[ALL] for form, text in forms.items() if form != ALL)


@PARTS
def test_a_plan_says_what_is_decided_and_what_that_costs_and_runs(part):
    shown = right("plan", *part, "--preset", "tiny", "--output", "part.plan").stdout
    for words in ("whole_scores", "cycles predicted", "0.attention", "Rejected, all else"):
        assert words in " ".join(shown.split())
    words = ("run", *part, "--plan", "part.plan", "--json", "-")
    document = valid(right(*words, *FAST).stdout)
    assert (document["status"], document["mismatches"]) == ("right", 0)


@pytest.mark.slow
@PARTS
def test_a_part_is_traced_and_explained(part):
    words = ("--preset", "tiny", "--sim", "verilator", "--report", "out", "--trace", "t.pftrace")
    right("run", *part, *words)
    assert Path("t.pftrace").stat().st_size
    assert "0.attention" in Path("out/index.html").read_text()
    document = valid(Path("out/RUN.json").read_text())
    assert 0 < document["memory_limit_share"] < 1
    text = right("explain", "out/RUN.json").stdout
    assert "Weights, keys and values of the step come in" in text
    assert "What was lost" in text


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
        ("bytes of weights are more than", "--model opt-125m --context 1 --layers 99999999"),
    ],
)
def test_what_is_no_step_is_refused(message, words):
    refused(message, "run", "decoder", *words.split())
