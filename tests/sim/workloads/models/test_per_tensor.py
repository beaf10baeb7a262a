"""Models on accelerators without a normalization unit: what is refused, what one scale costs."""

import re

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.per_tensor import check_unit, losses
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from tests.support.command_line import refused, right
from tests.support.plain_models import perceptron, save_perceptron


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


WITHOUT = ("--preset", "gemmini4")


def models(graph, samples):
    """With one scale, and with all scales and functions."""
    return [
        instantiate(graph, calibrate(lambda _: graph, samples, per_tensor=alone))
        for alone in (True, False)
    ]


def test_what_needs_the_unit_is_refused_by_the_name_of_its_node():
    graph = perceptron("hardswish")
    alone, usual = models(graph, [random_inputs(graph, [], 1)])
    check_unit("m.onnx", usual, PRESETS["base"])
    check_unit("m.onnx", alone, PRESETS["small"])
    with pytest.raises(
        InputError, match=r"^m.onnx: .*: hardswish by a scale for each column to uint8"
    ):
        check_unit("m.onnx", usual, PRESETS["small"])


def test_losses_are_those_of_the_samples():
    graph = perceptron()
    samples = [random_inputs(graph, [], seed) for seed in range(4)]
    alone, usual = models(graph, samples)
    (text,) = losses(graph, samples, alone, usual)
    mine, best, lost = map(float, re.findall(r"([-\d.]+) dB", text))
    real = np.stack([interpret(graph, sample)["y"] for sample in samples])
    for found, model in ((mine, alone), (best, usual)):
        made = np.stack([run_model(model, sample).outputs["y"] for sample in samples])
        power = np.square(real, dtype=np.float64).sum() / np.square(real - made).sum()
        assert found == pytest.approx(10 * np.log10(power), abs=0.06)
    assert lost == pytest.approx(best - mine, abs=0.11)
    assert text.startswith("per tensor: y is ")
    assert lost > 0
    wild = {name: 1e3 * array for name, array in samples[0].items()}
    assert [*losses(graph, [*samples, wild], alone, usual)] == [text]  # Four say enough.


def test_nothing_is_said_of_outputs_that_are_whole_numbers_or_none():
    builder, (row, column) = GraphBuilder("numbers"), np.ogrid[:6, :4]
    weights = builder.constant(np.sin(row + 2 * column).astype(np.float32))
    y = builder.op("matmul", builder.input("x", TensorType("float32", (5, 6))), weights)
    largest = builder.op("argmax", y, axis=1, keepdims=False, last=False)
    none = builder.op("slice", y, starts=(0, 0), sizes=(0, 4), steps=(1, 1))
    graph = builder.finish({"largest": largest, "none": none, "y": y})
    samples = [random_inputs(graph, [], seed) for seed in range(2)]
    said = [*losses(graph, samples, *models(graph, samples))]
    assert [text.split(" is ")[0] for text in said] == ["per tensor: y"]


@pytest.mark.parametrize("command", ["run", "compile"])
def test_a_softmax_is_refused_by_name(tmp_path, command):
    save_perceptron(tmp_path / "m.onnx", "Softmax")
    words = ("-o", "m.cel") if command == "compile" else ("--sim", "functional")
    refused(
        "m.onnx: c (MatMul): deferred_softmax to uint8 needs", command, "m.onnx", *WITHOUT, *words
    )


@pytest.mark.parametrize(
    "simulator", ["functional", pytest.param("verilator", marks=pytest.mark.slow)]
)
def test_a_file_of_products_runs_without_a_unit(tmp_path, simulator):
    save_perceptron(tmp_path / "m.onnx")
    words = ("run", "m.onnx", *WITHOUT, "--sim", simulator)
    refused("between (Relu): requantize by a scale for each column to uint8 needs", *words)
    text = " ".join(right(*words, "--per-tensor").output.split())
    assert re.search(r" 0 of [\d,]+ elements in 1 segment differ", text)
    assert re.search(r"per tensor: y is [\d.]+ dB .* that costs -?[\d.]+ dB", text)


def test_a_saved_model_has_one_scale(tmp_path):
    save_perceptron(tmp_path / "m.onnx")
    refused("between (Relu): requantize", "build", "m.onnx", *WITHOUT, "-o", "m.plan")
    text = right("build", "m.onnx", *WITHOUT, "-o", "m.plan", "--per-tensor").output
    assert "that costs" in " ".join(text.split())
    np.savez("x.npz", x=np.zeros((16, 24), np.float32))
    right("run", "m.plan", *WITHOUT, "--sim", "functional", "--input", "x.npz")


def test_what_is_the_hosts_is_said_before_it_runs(tmp_path):
    save_perceptron(tmp_path / "m.onnx", "HardSwish")
    text = " ".join(right("check", "m.onnx", "--per-tensor").output.split())
    assert "note: run and build say what one scale costs" in text
    assert "what one scale costs" not in right("check", "m.onnx").output
    assert "1 node on the host: 1 as stores finish no more than products with a ReLU" in text


def test_rewritten_models_have_scales_for_each_column(tmp_path):
    save_perceptron(tmp_path / "m.onnx")
    words = ("--optimize", "--per-tensor", "--sim", "functional")
    refused("--per-tensor: not with --optimize", "run", "m.onnx", *words)
