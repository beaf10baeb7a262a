"""Weights of four bits of models in files: run, checked, saved, and what does not fit the tiles."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from celosia.isa.encoding import WeightType
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.saved_model import load_prepared
from celosia.sim.workloads.models.weights import parse_weights
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats, model

FAST = ("--sim", "functional")
INT4 = ("--weights", "int4-vocabulary")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save():
    """Products of 32, 20 and 48 inputs, of which the last two follow each other."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/even"),
        helper.make_node("Relu", ["h"], ["a"], name="/relu"),
        helper.make_node("MatMul", ["a", "v"], ["b"], name="/odd"),
        helper.make_node("Relu", ["b"], ["c"], name="/relu_1"),
        helper.make_node("MatMul", ["c", "u"], ["y"], name="/last"),
    ]
    weights = {"w": floats(32, 20), "v": floats(20, 48), "u": floats(48, 16)}
    proto = model(nodes, {"x": [6, 32]}, ["y"], weights, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())


def test_types_are_those_of_a_products_place():
    assert parse_weights(None).of(last=False) is WeightType.INT8
    found = parse_weights("int4")
    assert found.of(last=False) is WeightType.INT4
    assert found.of(last=True) is WeightType.INT8
    assert parse_weights("int4-vocabulary").of(last=True) is WeightType.INT4
    with pytest.raises(InputError, match=r"^--weights int2: there are int8, int4, int4-voc"):
        parse_weights("int2")


@pytest.mark.parametrize("preset", ["base", "tiny"])
def test_a_product_whose_inputs_make_no_whole_tiles_is_packed_with_zeros_behind_it(preset):
    save()
    text = right("run", "m.onnx", *FAST, *INT4, "--preset", preset).stdout
    assert " 0 of " in text
    assert "stay int8" not in text


def test_a_saved_model_has_its_weights_and_runs_as_the_file_does():
    save()
    np.savez("x.npz", x=floats(6, 32, seed=3))
    for name, words in (("four", INT4), ("eight", ())):
        right("build", "m.onnx", *words, "-o", f"{name}.plan")
        right("run", f"{name}.plan", *FAST, "--input", "x.npz", "--json", f"{name}.json")
    (found,) = load_prepared(Path("four.plan"))
    assert found.calibrated is not None
    kinds = [each.kind.bits for each in found.calibrated.formats.integers.values()]
    assert sorted(kinds) == [4, 4, 4]
    plans = [json.loads(Path(f"{name}.json").read_text()) for name in ("four", "eight")]
    assert [each["mismatches"] for each in plans] == [0, 0]
    read = [each["dram_read_bytes"] for each in plans]
    # Two weights in a byte, of two whole tiles where there are 20 inputs; what is lost of means
    # behind a curve is a bias.
    saved, bias = 32 * 20 // 2 + (20 - 2 * 8) * 48 + 48 * 16 // 2, 4 * (48 + 16)
    assert read[1] - read[0] == saved - bias
    refused("--weights is no option of four.plan", "run", "four.plan", *FAST, *INT4)


def test_the_predicted_time_is_that_of_the_weights():
    save()
    memory = ("--mem-bytes-per-cycle", 4)
    documents = []
    for words in ((), INT4):
        right("check", "m.onnx", *memory, *words, "--json", "j.json")
        documents.append(json.loads(Path("j.json").read_text()))
    assert [each["weights"] for each in documents] == ["int8", "int4-vocabulary"]
    cycles = [each["placement"]["predicted"]["accelerator_cycles"] for each in documents]
    assert cycles[1] < cycles[0]


@pytest.mark.parametrize("command", [("run",), ("check",), ("build", "-o", "m.plan")])
def test_an_unknown_type_is_refused_before_the_file_is_read(command):
    name, *more = command
    refused("--weights int-4: there are int8", name, "m.onnx", *more, "--weights", "int-4")
    assert not Path("m.plan").exists()


def test_what_is_rewritten_keeps_eight_bits():
    save()
    refused("--weights: not with --optimize", "run", "m.onnx", *FAST, *INT4, "--optimize")


def test_a_saved_model_has_whole_tiles_of_each_array():
    save()
    np.savez("x.npz", x=floats(6, 32, seed=3))
    right("build", "m.onnx", *INT4, "--preset", "tiny", "-o", "m.plan")
    for preset in ("tiny", "base"):
        text = right("run", "m.plan", *FAST, "--preset", preset, "--input", "x.npz").stdout
        assert " 0 of " in text
