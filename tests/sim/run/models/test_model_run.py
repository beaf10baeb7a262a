"""Models from their file to a device: samples, what is prepared, runs, distances of outputs."""

import time
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper

from celosia.isa.presets import PRESETS
from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sim.devices.devices import open_device
from celosia.sim.run.models.model_checks import checked_run, run_model_job
from celosia.sim.run.models.model_outcome import whole_report
from celosia.sim.run.models.model_run import ModelRunner
from celosia.sim.run.outcome import setting_of
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.models.decibels import decibels
from celosia.sim.workloads.models.model_job import model_job
from celosia.sim.workloads.models.prepare import ModelRun, prepare, random_samples
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from tests.sim.run.models.dense_layer import OPTIONS, layer, prepared
from tests.support.run_options import changed
from tests.sw.frontend.importer.models import floats, model


def run_prepared(made, inputs, options):
    """The outcome of a model on a file of inputs, or on random ones."""
    target = options.target
    job = model_job(options.workload, made, inputs, target.hardware)
    return run_model_job(job, options, silent, open_device, 0)


def graph():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, 3)))
    return builder.finish({"y": builder.op("neg", x)})


def test_samples_are_along_the_first_axis(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    np.savez(tmp_path / "c.npz", x=values)
    samples = read_samples(tmp_path / "c.npz", graph())
    assert len(samples) == 4
    assert np.array_equal(samples[2]["x"], values[2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros((2, 3))}, r"x is \(2, 3\); there are x of"),
        ({"z": np.zeros((1, 2, 3))}, "z is"),
        ({"x": np.zeros((0, 2, 3))}, "one number, not 0, is needed"),
        ({"x": np.full((4, 2, 3), 0.5)}, "all its arrays are constant"),
        ({"x": np.array([{}], object)}, "is no .npz file of arrays"),
    ],
)
def test_samples_of_another_shape_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "c.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_samples(tmp_path / "c.npz", graph())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"no zip at all"])
def test_a_file_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is no \.npz file of arrays"):
        read_samples(path, graph())


@pytest.mark.parametrize("sizes", [{"n": 0, "m": 2}, {"n": 2, "m": 0}])
def test_a_model_without_an_element_is_refused_in_one_sentence(tmp_path, sizes):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    proto = model(nodes, {"x": ["n", "m", 4]}, ["y"], {"w": floats(4, 4)})
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(InputError, match=r"its outputs \(y\) have no elements: give other sizes"):
        prepare(ModelRun(path, sizes), 0)


def test_samples_of_one_element_may_be_constant():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", ()))
    single = builder.finish({"y": builder.op("neg", x)})
    assert read_samples({"x": np.array([5], np.float32)}, single) == [{"x": 5}]
    with pytest.raises(InputError, match="all its arrays are constant"):
        read_samples({"x": np.array([5, 5], np.float32)}, single)
    with pytest.raises(InputError, match=r"x is \(\); there are x of"):
        read_samples({"x": np.array(5, np.float32)}, single)
    with pytest.raises(InputError, match="calibration: x is of int64, not float32"):
        read_samples({"x": np.array([5, 6])}, single)


def test_random_samples_are_those_of_the_seeds_behind_it():
    found = random_samples(graph(), 7)
    wanted = [random_inputs(graph(), [], seed) for seed in range(8, 16)]
    for one, other in zip(found, wanted, strict=True):
        assert np.array_equal(one["x"], other["x"])


def test_a_model_runs_segment_by_segment_and_is_near_its_float_graph():
    told: list[str] = []
    runner = ModelRunner(prepared(), OPTIONS, lambda text, _: told.append(text))
    given = random_inputs(layer(), [], 5)
    before = time.perf_counter()
    outputs, outcome = checked_run(runner, given, notes=["another"])
    assert outcome.right
    assert outcome.notes == ("a note", "another")
    assert outcome.report is outcome.reports[0]
    assert outcome.report.setting == setting_of(OPTIONS, "tiny", PRESETS["tiny"])
    assert outcome.report.whole is not None
    assert 0 < outcome.report.elapsed_seconds < time.perf_counter() - before
    (real,) = interpret(layer(), given).values()
    assert decibels(real, outputs["y"]) > 25
    (far,) = outcome.distances
    assert far.sqnr_db == pytest.approx(decibels(real, outputs["y"]))
    assert told[0] == "compiling segment 0"
    assert "running segment 0" in told
    told.clear()
    again = runner.run(given).result.outputs
    assert np.array_equal(again["y"], outputs["y"])
    assert not any("compiling" in text for text in told), "programs are used again"


def test_inputs_come_from_a_file_or_are_random(tmp_path):
    made, path = prepared(), tmp_path / "x.npz"
    given = random_inputs(layer(), [], OPTIONS.target.timing.seed)
    np.savez(path, x=given["x"])
    filed = run_prepared(made, path, OPTIONS)
    assert filed.notes == ("a note",)
    drawn = run_prepared(made, None, OPTIONS)
    random = "run on random data: give --input for an input of your own"
    assert drawn.notes == ("a note", random)
    assert drawn.distances == filed.distances
    with pytest.raises(InputError, match=r"layer\.onnx: give --input: a plan is run on inputs"):
        run_prepared(replace(made, graph=None), None, OPTIONS)
    alone = run_prepared(replace(made, graph=None), path, OPTIONS)
    assert alone.right
    assert not alone.distances
    np.savez(path, z=given["x"])
    with pytest.raises(InputError, match=r"layer\.onnx: "):
        run_prepared(made, path, OPTIONS)


def test_a_device_that_stops_is_part_of_the_outcome():
    outcome = run_prepared(prepared(), None, changed(OPTIONS, cycle_budget=2))
    assert not outcome.right
    assert outcome.report.total.failure is not None


def test_several_segments_are_reported_as_one_after_the_other():
    outcome = run_prepared(prepared(), None, OPTIONS)
    (one,) = outcome.reports
    assert whole_report([one]) is one
    both = whole_report([one, one])
    assert both.right
    assert both.operators == (one.total,) * 2
    assert both.elapsed_seconds == 2 * one.elapsed_seconds
    assert both.setting == one.setting


def test_preparing_tells_what_it_does(tmp_path):
    pytest.importorskip("onnx")
    path, told = tmp_path / "bert.onnx", []
    path.write_bytes(EXPORTS["bert-17"].build(SMALL).SerializeToString())
    job = ModelRun(path, {"batch": 1, "sequence": 4})
    made = prepare(job, 3, lambda text, _: told.append(text))
    assert told[:2] == [f"importing {path}", "recognizing operators"]
    random = "calibrated on random data: give --calibrate for the accuracy of real data"
    assert random in made.notes
    assert made.graph is not None
    drawn = random_samples(made.graph, 3)
    samples = {name: np.stack([each[name] for each in drawn]) for name in made.graph.inputs}
    calibrated = prepare(replace(job, calibration=samples), 3)
    assert random not in calibrated.notes
    assert calibrated.model.inputs == made.model.inputs
    assert len(calibrated.model.segments) == len(made.model.segments) == 1
