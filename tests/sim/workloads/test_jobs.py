"""A model of a file is prepared once, and again when its file is another one."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import ModelFile
from celosia.sim.workloads.jobs import job_of, model_run
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.models.weights import WEIGHT_CHOICES
from tests.sw.frontend.importer.models import model

HARDWARE = resolve_config("tiny"), MemoryTiming()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def content(weight):
    """A product with one number in all weights; files of any two have the same size."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weights = np.full((4, 3), weight, np.float32)
    return model([node], {"x": [2, 4]}, ["y"], {"w": weights}).SerializeToString()


def prepared(hardware=HARDWARE, *, optimize=False, **details):
    job = job_of("m.onnx", ModelFile(**details), hardware, silent, optimize=optimize)
    assert isinstance(job, ModelJob)
    return job.prepared


def test_a_model_is_prepared_once():
    Path("m.onnx").write_bytes(content(1))
    assert prepared() is prepared()


@pytest.mark.parametrize(
    ("asked", "again"),
    [
        ({}, False),
        ({"per_tensor": True}, False),
        ({"weights": "int4"}, True),
        ({"precision": "auto"}, True),
        ({"optimize": True}, True),
    ],
    ids=str,
)
def test_what_depends_on_the_hardware_is_prepared_for_each(asked, again):
    Path("m.onnx").write_bytes(content(1))
    found, slow = prepared(**asked), (HARDWARE[0], MemoryTiming(latency=77))
    assert prepared(**asked) is found
    assert (prepared(slow, **asked) is not found) is again
    assert prepared((HARDWARE[0], MemoryTiming(seed=5)), **asked) is not found


@pytest.mark.parametrize(
    ("asked", "hint", "chosen"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"weights": "int4"}, True, False),
        ({"precision": "auto"}, False, True),
        ({"precision": "auto"}, True, True),
    ],
    ids=str,
)
def test_precisions_are_looked_at_if_they_are_asked_for_or_a_hint_is(asked, hint, chosen):
    """Users who name one type for all weights get no hint of what fewer bits would gain."""
    run = model_run(Path("m.onnx"), ModelFile(**asked), HARDWARE, hint=hint)
    assert (run.precision is not None) is chosen
    assert model_run(Path("m.onnx"), ModelFile(**asked), hint=hint).precision is None


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"dim": ("batch=3",)}, "sizes", {"batch": 3}),
        ({"beside": (Path("b.onnx"),)}, "beside", (Path("b.onnx"),)),
        ({"calibrate": Path("c.npz")}, "calibration", Path("c.npz")),
        ({"clip": "minmax"}, "clip", "minmax"),
        ({"per_tensor": True}, "per_tensor", True),
        ({"set_input": ("t=0.5",)}, "fixed", {"t": "0.5"}),
        ({"weights": "int4"}, "weights", WEIGHT_CHOICES["int4"]),
    ],
    ids=str,
)
def test_each_option_of_a_file_reaches_what_prepares_it(given, field, value):
    plain, run = (model_run(Path("m.onnx"), ModelFile(**each)) for each in ({}, given))
    assert getattr(run, field) == value != getattr(plain, field)
    assert replace(run, **{field: getattr(plain, field)}) == plain


@pytest.mark.parametrize("replaced", [False, True], ids=["in place", "by another file"])
def test_a_model_whose_file_is_written_anew_is_prepared_again(replaced):
    """In place, only its time is another one; of a file that takes its place, only the file is."""
    path, old = Path("m.onnx"), content(1)
    path.write_bytes(old)
    before, found = path.stat(), prepared()
    assert len(content(2)) == len(old)
    if replaced:
        Path("new").write_bytes(content(2))
        os.utime("new", ns=(before.st_atime_ns, before.st_mtime_ns))
        Path("new").replace(path)
    else:
        path.write_bytes(content(2))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert prepared() is not found


def test_a_program_is_no_workload_to_compile():
    with pytest.raises(InputError, match=r"p\.cel: a program is compiled already"):
        job_of("p.cel", None, HARDWARE, silent)
