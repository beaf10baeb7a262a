"""A plan runs without the model that it was built from, on the configuration it was built for."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sim.workloads import published_encoder
from celosia.sim.workloads.models.saved_model import load_prepared
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder import Tables
from celosia.sw.quantize.encoders.encoder_file import load_encoder
from celosia.sw.reference.encoder import EncoderShape
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats, model
from tests.sw.frontend.importer.source.test_fixed import branching

FAST = ("--sim", "functional")
RUN = ("run", "m.plan", *FAST)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_plan_is_built_and_run_and_refused_elsewhere():
    Path("m.onnx").write_bytes(EXPORTS["vit"].build(SMALL).SerializeToString())
    given: dict[str, Any] = {**EXPORTS["vit"].inputs(SMALL, 0)}
    np.savez("x.npz", **given)
    refused("ends with .plan", "build", "m.onnx", "-o", "m.zip", "--dim", "batch=1")
    result = right("build", "m.onnx", "-o", "m.plan", "--dim", "batch=1")
    assert "note: calibrated on random data" in result.stdout
    Path("m.onnx").unlink()
    result = right(*RUN, "--input", "x.npz", "--json", "j.json")
    assert "elements in 2 segments differ" in " ".join(result.stdout.split())
    document = json.loads(Path("j.json").read_text())
    assert document["mismatches"] == 0
    assert document["placement"]["accelerator_mac_share"] == 1
    refused("give --input", *RUN)
    refused("--dim batch=2: m.plan is saved for batch=1", *RUN, "--dim", "batch=2")
    refused(
        "--set-input is no option of m.plan, which has its calibration", *RUN, "--set-input", "x=1"
    )
    other = right(*RUN, "--input", "x.npz", "--set", "execute_queue=4").stdout
    text = " ".join(other.split())
    assert "planned anew: what is saved was decided for execute_queue = " in text
    Path("m.plan").write_bytes(Path("m.plan").read_bytes()[:5000])
    refused("m.plan: is no whole plan", *RUN, "--input", "x.npz")


def test_an_input_is_fixed_in_a_plan_and_in_a_run():
    Path("m.onnx").write_bytes(branching().SerializeToString())
    refused("give --set-input cached=VALUE", "build", "m.onnx", "-o", "m.plan")
    fixed = ("--set-input", "cached=true")
    right("build", "m.onnx", "-o", "m.plan", *fixed)
    x: dict[str, Any] = {"x": floats(3, 4, seed=1)}
    np.savez("x.npz", **x)
    right(*RUN, "--input", "x.npz")
    result = right("run", "m.onnx", *FAST, *fixed, "--input", "x.npz")
    assert "note: input cached is true from here on" in result.stdout


def test_models_of_two_files_are_built_and_run_beside_each_other():
    for name, seed in (("a.onnx", 1), ("b.onnx", 2)):
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
            helper.make_node("Gelu", ["h"], ["y"], name="gelu"),
        ]
        proto = model(nodes, {"x": ["n", 8]}, ["y"], {"w": floats(8, 16, seed=seed)}, opset=20)
        Path(name).write_bytes(proto.SerializeToString())
    both = ("a.onnx", "--beside", "b.onnx", "--dim", "a/n=5", "--dim", "b/n=3")
    samples: dict[str, Any] = {"a/x": floats(6, 5, 8), "b/x": floats(6, 3, 8)}
    np.savez("c.npz", **samples)
    right("build", *both, "--calibrate", "c.npz", "-o", "m.plan")
    x: dict[str, Any] = {name: value[0] for name, value in samples.items()}
    np.savez("x.npz", **x)
    given = ("--input", "x.npz", "--json")
    run = ("run", *both, *FAST, "--calibrate", "c.npz", "--stages", "greedy", *given)
    for words, name in ((run, "run.json"), ((*RUN, *given), "plan.json")):
        right(*words, name)
        document = json.loads(Path(name).read_text())
        assert document["mismatches"] == 0
        assert document["elements_checked"] == 8 * 16
    outputs = {
        each["name"]: each["sqnr_db"]
        for each in json.loads(Path("run.json").read_text())["outputs"]
    }
    assert outputs.keys() == {"a/y", "b/y"}
    assert min(outputs.values()) > 25
    refused("there are a/n, b/n", "check", "a.onnx", "--beside", "b.onnx", "--dim", "n=3")
    refused("no.onnx: No such file", "run", "a.onnx", *FAST, "--beside", "no.onnx")
    refused("--beside is no option of m.plan", *RUN, "--beside", "b.onnx")
    refused("--beside: not with minilm", "build", "minilm", "--beside", "b.onnx", "-o", "n.plan")


def two_products():
    """Two products of an input each, whose sizes are free."""
    given = {"x": ["n", 8], "z": ["k", 8]}
    weights = {name: floats(8, 16, seed=seed) for seed, name in enumerate("vw")}
    nodes = [helper.make_node("MatMul", list(each), [f"y{each[0]}"]) for each in ("xv", "zw")]
    return model(nodes, given, ["yx", "yz"], weights, opset=20)


def test_plans_that_are_given_are_kept_for_each_size():
    Path("m.onnx").write_bytes(two_products().SerializeToString())
    sizes = ("--dim", "n=5", "--dim", "n=40", "--dim", "k=3")
    kinds = {}
    for stages in ("sequential", "greedy"):
        right("build", "m.onnx", *sizes, "--stages", stages, "-o", "m.plan")
        profiles = load_prepared(Path("m.plan"))
        assert [each.sizes["n"] for each in profiles] == [5, 40]
        plans = [plan for each in profiles if each.decided for plan in each.decided.plans]
        kinds[stages] = [type(plan.stages[0]).__name__ for plan in plans]
        x: dict[str, Any] = {"x": floats(40, 8), "z": floats(3, 8)}
        np.savez("x.npz", **x)
        right(*RUN, "--input", "x.npz", "--json", "j.json")
        assert json.loads(Path("j.json").read_text())["mismatches"] == 0
    assert kinds == {"sequential": ["LinearStage"] * 2, "greedy": ["ConcurrentStage"] * 2}
    words = ("build", "m.onnx", *sizes, "-o", "n.plan")
    refused("not together with --stages dp", *words, "--stages", "dp", "--schedule", "s.toml")
    refused("--stages fast: there are best,", *words, "--stages", "fast")
    refused("no.toml: No such file", *words, "--plan", "no.toml")
    assert not Path("n.plan").exists()


def published(monkeypatch):
    """A small encoder in the place of the published one, and the criteria it is asked for by."""
    shape = EncoderShape(layers=1, width=16, heads=2, hidden=32)
    tables = Tables(np.full((5, 16), 7, np.int16), np.full((40, 16), 9, np.int16))
    encoder, clips = replace(random_quantized_encoder(shape, 0), tables=tables), []

    def found(_tell, clip, _weights):
        clips.append(clip)
        return encoder

    monkeypatch.setattr(published_encoder, "published_model", found)
    return encoder, clips


def test_the_published_model_is_one_saved_model_like_any_other(monkeypatch):
    encoder, clips = published(monkeypatch)
    right("build", "minilm", "-o", "e.plan", "--clip", "minmax", "--preset", "tiny")
    assert clips == ["minmax"]
    assert load_encoder(Path("e.plan")).graph([3, 9]).macs == encoder.graph([3, 9]).macs
    given = np.random.default_rng(0).normal(size=(16, 16)).astype(np.float32)
    np.savez("x.npz", embedding=given)
    shown = right("run", "e.plan", *FAST, "--input", "x.npz", "--preset", "tiny", "--json", "-")
    document = json.loads(shown.stdout)
    assert document["mismatches"] == 0
    assert document["placement"]["accelerator_mac_share"] == 1
    refused("e.plan: give --input", "run", "e.plan", *FAST)


def test_sizes_of_the_published_model_are_tokens(monkeypatch):
    published(monkeypatch)
    built = ("build", "minilm", "-o", "f.plan", "--preset", "tiny")
    right(*built, "--dim", "tokens=1", "--dim", "tokens=40")
    assert [each.sizes for each in load_prepared(Path("f.plan"))] == [{"tokens": 1}, {"tokens": 40}]
    refused("--dim batch=1: the published model has tokens alone", *built, "--dim", "batch=1")
    for tokens in (0, 41):
        refused(f"--dim tokens={tokens}: is not in 1..40", *built, "--dim", f"tokens={tokens}")
    refused("--calibrate: not with minilm", *built, "--calibrate", "c.npz")


SIZES = ("--dim", "rows=8", "--dim", "rows=5")


def dense():
    """A dense layer of any rows in `m.onnx`, and samples of five rows in `c.npz`."""
    proto = model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": ["rows", 12]},
        ["y"],
        {"w": floats(12, 9)},
    )
    Path("m.onnx").write_bytes(proto.SerializeToString())
    np.savez("c.npz", x=floats(3, 5, 12, seed=2))


def test_a_model_is_saved_for_several_sizes_and_runs_for_those_of_its_inputs():
    dense()
    built = ("build", "m.onnx", "-o", "m.plan", "--calibrate", "c.npz")
    assert "m.plan: 2 segments for 2 sizes," in " ".join(right(*built, *SIZES).stdout.split())
    both = load_prepared(Path("m.plan"))
    for rows in (8, 5):
        np.savez("x.npz", x=floats(rows, 12))
        result = right(*RUN, "--input", "x.npz", "--json", "-")
        assert json.loads(result.stdout)["elements_checked"] == rows * 9
    # One that is built for one size alone, by the same samples, has the same integers.
    right(*built, *SIZES[2:])
    (alone,) = load_prepared(Path("m.plan"))
    constants = [each.model.segments[0].graph.constants for each in (*both, alone)]
    for other in constants[1:]:
        assert all((value == constants[0][name]).all() for name, value in other.items())


def test_what_was_compared_is_not_compared_again(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    dense()
    built = ("build", "m.onnx", "--calibrate", "c.npz", "--dim", "rows=5", "-o")
    right(*built, "first.plan")

    def never(*_arguments):
        raise AssertionError("it was compared")

    monkeypatch.setattr("celosia.sim.command.models.build_command.planned_program", never)
    right(*built, "second.plan")
    assert Path("second.plan").read_bytes() == Path("first.plan").read_bytes()


def test_sizes_that_a_model_is_not_saved_for_are_refused():
    dense()
    right("build", "m.onnx", "-o", "m.plan", *SIZES)
    known = "rows=8; rows=5"
    refused(f"m.plan: give --dim or --input: it is saved for {known}", "plan", "m.plan")
    right("plan", "m.plan", "--dim", "rows=5")
    refused(f"--dim rows=9: m.plan is saved for {known}", "plan", "m.plan", "--dim", "rows=9")
    np.savez("x.npz", x=floats(9, 12))
    refused(
        f"m.plan: its inputs are of no size that it is saved for: {known}", *RUN, "--input", "x.npz"
    )
    many = [part for size in range(2, 67) for part in ("--dim", f"rows={size}")]
    refused("65 sizes are more than 64", "build", "m.onnx", "-o", "m.plan", *many)
    np.savez("c.npz", x=floats(3, 6, 12))
    refused(
        "c.npz: x is (3, 6, 12)", "build", "m.onnx", "-o", "m.plan", *SIZES, "--calibrate", "c.npz"
    )
