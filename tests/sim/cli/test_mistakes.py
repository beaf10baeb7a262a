"""Mistakes of Celosia's own: a note and a result, or a sentence and a saved traceback."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from celosia.lab.fuzz.files.command import celosia
from celosia.sim.command.models import check_command
from celosia.sim.run.models import model_run
from celosia.sw.frontend.recognize.recognize import PASSES
from celosia.sw.quantize.graphs import quantized
from tests.sw.frontend.importer.models import floats, model

NOTE = "pass orders is left out at /gather (Gather): ZeroDivisionError: planted; the mistake is"
FAST = ("--preset", "tiny", "--sim", "functional")


def raising(*_, **__):
    raise ZeroDivisionError("planted")


def at_gathers(reader):
    for node in reader.nodes:
        if node.op == "gather":
            raising()
        yield from ()


@pytest.fixture(autouse=True)
def _model(place):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/product"),
        helper.make_node("Gather", ["h", "row"], ["g"], name="/gather", axis=1),
        helper.make_node("Relu", ["g"], ["y"], name="/relu"),
    ]
    constants = {"w": floats(8, 8), "row": np.array([2, 0])}
    proto = model(nodes, {"x": [1, 4, 8]}, ["y"], constants)
    Path("m.onnx").write_bytes(proto.SerializeToString())


@pytest.mark.parametrize(
    "words",
    [
        ("check", "m.onnx", "--json", "out.json"),
        ("run", "m.onnx", *FAST, "--json", "out.json"),
        ("build", "m.onnx", "-o", "out.plan"),
    ],
)
def test_a_pass_that_raises_is_left_out_and_the_file_goes_on(monkeypatch, mistakes, words):
    monkeypatch.setitem(PASSES, "orders", at_gathers)
    ended = celosia(words)
    assert ended.code == 0, ended.output
    assert f"note: {NOTE}" in " ".join(ended.output.split())
    if words[-1] == "out.json":
        (note,) = [
            each for each in json.loads(Path("out.json").read_text())["notes"] if NOTE in each
        ]
        assert note.startswith(NOTE)
    assert mistakes
    mistakes.clear()


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ((check_command, "units_of"), ("check", "m.onnx", "--text", "out")),
        ((quantized, "plan_segments"), ("build", "m.onnx", "-o", "out.plan")),
        ((model_run, "measure_graph"), ("run", "m.onnx", *FAST, "--json", "out")),
    ],
)
def test_what_nobody_has_foreseen_is_one_sentence(monkeypatch, tmp_path, planted, words):
    for name in ("out", "out.plan"):
        Path(name).write_text("before")
    monkeypatch.setattr(*planted, raising)
    ended = celosia(words, cache=str(tmp_path / "cache"))
    assert ended.code == 2
    lines = [line for line in ended.output.splitlines() if line.startswith("celosia: ")]
    assert len(lines) == 1
    assert lines[0].startswith("celosia: ZeroDivisionError: planted, in line ")
    assert lines[0].endswith("; the mistake is Celosia's, please report it")
    assert "Traceback" not in ended.output
    (saved,) = (tmp_path / "cache" / "tracebacks").iterdir()
    assert f"the traceback is in {saved};" in lines[0]
    assert "ZeroDivisionError: planted" in saved.read_text()
    assert {Path(name).read_text() for name in ("out", "out.plan")} == {"before"}
