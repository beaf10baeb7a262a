"""Files of models stand where names of workloads do: each command, of one and two segments."""

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from onnx import helper

from celosia.lab.sweep.point import evaluate
from celosia.lab.sweep.space import read_space
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.workload.run import run_workload
from celosia.sim.workloads.details import ModelFile
from celosia.sim.workloads.models import decided
from celosia.sim.workloads.models.saved_model import load_prepared
from celosia.sw.compiler import passes, pipeline
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.forms.text import parse_plan
from tests.support.command_line import refused, right, valid
from tests.support.plain import PLAIN_OVERRIDES
from tests.sw.frontend.importer.models import floats, model
from tests.sw.quantize.graphs.files.test_saved_file import written

TINY = ("--preset", "tiny")
FAST = (*TINY, "--sim", "functional")
SEGMENTS = {"one": 1, "two": 2}


def dense(name, count):
    """Dense layers, with a sine of the host's behind each but the last one."""
    nodes, read, weights = [], "x", {}
    for number in range(count):
        made = "y" if number + 1 == count else f"y{number}"
        weights[f"w{number}"] = floats(8, 8)
        nodes.append(helper.make_node("MatMul", [read, f"w{number}"], [f"m{number}"]))
        nodes.append(helper.make_node("Relu", [f"m{number}"], [made]))
        if made != "y":
            nodes.append(helper.make_node("Sin", [made], [f"s{number}"]))
            read = f"s{number}"
    proto = model(nodes, {"x": ["rows", 8]}, ["y"], weights)
    Path(f"{name}.onnx").write_bytes(proto.SerializeToString())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, count in SEGMENTS.items():
        dense(name, count)


@pytest.fixture(params=SEGMENTS)
def words(request):
    """The words of a workload."""
    return (f"{request.param}.onnx", "--dim", "rows=9")


@pytest.fixture
def count(words):
    """Its segments."""
    return SEGMENTS[words[0].removesuffix(".onnx")]


def ran(*words) -> dict[str, Any]:
    right("run", *words, "--json", "run.json")
    return valid(Path("run.json").read_text())


def expected_cycles(*words) -> list[str]:
    return re.findall(r"segment \d: [\d,]+ commands?, [\d,]+ cycles expected", shown(*words))


def shown(*words) -> str:
    return right("compile", *words, *TINY).stdout


def test_a_plan_is_printed_and_given_back(words, count):
    right("plan", *words, *TINY, "-o", "plans.toml")
    text = Path("plans.toml").read_text()
    parts = re.split(r"(?m)^(?=graph = )", text)[1:]
    assert len(parts) == count
    assert all(parse_plan(part).tactics for part in parts)
    own = expected_cycles(*words)
    assert len(own) == count
    assert expected_cycles(*words, "--plan", "plans.toml") == own
    plain, given = ran(*words, *FAST), ran(*words, *FAST, "--plan", "plans.toml")
    assert given["mismatches"] == 0 < given["elements_checked"]
    for key in ("predicted_cycles", "commands", "program_entries"):
        assert given[key] == plain[key]
    Path("printed.toml").write_text(shown(*words, "--print-after", "plan"))
    assert expected_cycles(*words, "--plan", "printed.toml") == own


def test_each_pass_is_printed_of_each_segment(words, count):
    text = shown(*words, "--print-after", "all")
    for form in ("graph", "plan", "expand", "schedule", "encode", "commands"):
        assert len(re.findall(rf"(?m)^\S+ .*, segment \d: {form}$", text)) == count


@pytest.mark.parametrize(
    "option",
    [("--stages", "dp"), ("--schedule", "steps.toml"), ("--reuse-memory",), ("--optimize",)],
)
def test_options_of_graphs_are_those_of_models(words, count, option):
    Path("steps.toml").write_text('start = "plain"\nsteps = []')
    document = ran(*words, *FAST, *option)
    assert document["mismatches"] == 0 < document["elements_checked"]
    if option[0] == "--schedule":
        assert document["predicted_cycles"] > ran(*words, *FAST)["predicted_cycles"]
        assert expected_cycles(*words, *option) != expected_cycles(*words)
    assert len(expected_cycles(*words, *option)) == count


of_two = pytest.mark.parametrize("words", ["two"], indirect=True)
"""For what takes seconds, and for one segment does what it does for the last of two."""


@of_two
def test_a_run_is_followed_and_explained(words, count):
    """On the simulator that `tests/sim/run/workload/test_advice.py` builds, too."""
    plain = [word for each in PLAIN_OVERRIDES for word in ("--set", each)]
    followed = ("--per-tensor", "--profile", "--trace", "run.pftrace")
    document = ran(*words, *TINY, *plain, *followed)
    assert document["mismatches"] == 0
    assert Path("run.pftrace").stat().st_size > 1000
    named = [name for name in document["profile"]["operators"] if name]
    assert len(named) >= count
    assert all("(MatMul)" in name or "(Relu)" in name for name in named)
    assert document["cycles"] == pytest.approx(document["predicted_cycles"], rel=0.1)
    assert document["changes"], "other hardware was asked about"
    assert f"{words[0]} took" in right("explain", "run.json").stdout
    text = right("explain", "run.json", "--waits", 20).stdout
    assert f"{words[0]} took" in text
    assert "Waits of the array above 20 cycles: " in text
    assert "wait_" in text.split("Waits of the array")[1]
    none = right("explain", "run.json", "--waits", 10**9).stdout
    assert "above 1,000,000,000 cycles: 0 of " in " ".join(none.split())
    assert "owners" not in none
    Path("short.json").write_text(json.dumps(document | {"profile": None}))
    refused("short.json: no instruction was followed", "explain", "short.json", "--waits", 20)
    assert "instructions" in right("top", "run.json").stdout
    assert "of what is known" in right("energy", "run.json").stdout


def test_one_device_runs_all_segments():
    """So a waveform is of all of them."""
    opened = []

    def opener(name, config, timing, memory_bytes, *, progress):
        opened.append(FunctionalDevice(config, memory_bytes=memory_bytes))
        return opened[-1]

    options = RunOptions(
        workload="two.onnx",
        details=ModelFile(dim=("rows=9",)),
        target=Target(simulator="functional", preset="tiny"),
    )
    outcome = run_workload(options, opener=opener)
    assert outcome.report.right
    assert len(outcome.report.operators) == 2
    assert len(opened) == 1


@pytest.mark.slow  # A simulator that writes waveforms is built.
def test_a_waveform_is_of_all_segments():
    document = ran("two.onnx", "--dim", "rows=9", *TINY, "--wave", "run.vcd")
    *_, last = re.finditer(rb"(?m)^#(\d+)$", Path("run.vcd").read_bytes())
    assert document["mismatches"] == 0
    assert int(last[1]) > document["cycles"]


@of_two
def test_the_plan_of_a_segment_is_tuned(words):
    search = ("--trials", "3", "--strategy", "random", "--storage", "log")
    refused("--graph q: ", "tune", *words, *TINY, *search, "--graph", "q")
    name = re.findall(r"(?m)^(.*, segment \d): ", shown(*words))[-1]
    right("tune", *words, *TINY, *search, "--graph", name)
    found = ran(*words, *FAST, "--tuned", "log")
    assert found["mismatches"] == 0
    assert found["predicted_cycles"] <= ran(*words, *FAST)["predicted_cycles"]
    refused("a log of another workload", "run", *words[:2], "rows=8", *FAST, "--tuned", "log")


@of_two
def test_all_segments_of_a_model_are_tuned(words):
    """Both are alike, so one is searched, and the plan is that of each."""
    search = ("--trials", "3", "--strategy", "exhaustive", "--storage", "log")
    table = right("tune", *words, *TINY, *search).stdout
    assert len(re.findall(r"(?m)^│ .*, segment 0 +│ +2 │ +3 │", table)) == 1
    assert "segment 1" not in table
    head, _, first, *_ = map(json.loads, Path("log").read_text().splitlines())
    best = {**first, "cycles": 1}
    Path("log").write_text(f"{json.dumps(head)}\n{json.dumps(best)}\n")
    plans = right("compile", *words, *TINY, "--tuned", "log", "--print-after", "plan").stdout
    assert plans != right("compile", *words, *TINY, "--print-after", "plan").stdout
    of_each = [parse_plan(part) for part in re.split(r"(?m)^(?=graph = )", plans)[1:]]
    assert len(of_each) == 2
    (one,), (other,) = (plan.stages for plan in of_each)
    assert isinstance(one, LinearStage)
    assert isinstance(other, LinearStage)
    assert one != other == replace(one, op=other.op)
    found = ran(*words, *FAST, "--tuned", "log")
    assert found["mismatches"] == 0
    refused("a log of another workload", "tune", "one.onnx", *words[1:], *TINY, *search)


def test_a_saved_model_is_planned_and_compiled(words, count):
    x = np.random.default_rng(0).standard_normal((9, 8), np.float32)
    np.savez("x.npz", x=x)
    right("build", *words, *TINY, "-o", "saved.plan")
    right("plan", "saved.plan", *TINY, "-o", "plans.toml")
    given = ("--input", "x.npz")
    assert expected_cycles("saved.plan", "--plan", "plans.toml") == expected_cycles(*words)
    document = ran("saved.plan", *FAST, *given, "--plan", "plans.toml", "--optimize")
    assert document["mismatches"] == 0
    assert document["predicted_cycles"] == ran(*words, *FAST, *given)["predicted_cycles"]
    refused("--clip is no option of saved.plan", "plan", "saved.plan", "--clip", "minmax")


def test_what_a_plan_does_not_fit_is_said(words):
    right("plan", *words, *TINY, "-o", "plans.toml")
    other = (words[0], "--dim", "rows=10")
    refused("plans.toml: ", "run", *other, *FAST, "--plan", "plans.toml")
    refused("machine", "run", *words, "--sim", "functional", "--plan", "plans.toml")
    text = Path("plans.toml").read_text()
    Path("plans.toml").write_text(re.sub(r"segment \d", "segment 7", text, count=1))
    refused("segment 7", "compile", *words, *TINY, "--plan", "plans.toml")


def test_a_saved_model_is_compiled_by_the_plans_that_it_has(words, count, monkeypatch):
    x = np.random.default_rng(0).standard_normal((9, 8), np.float32)
    np.savez("x.npz", x=x)
    right("build", *words, *TINY, "--mem-latency", "90", "-o", "saved.plan")
    slow = ("--mem-latency", "90", "--input", "x.npz")
    wanted = ran(*words, *FAST, *slow)
    assert wanted["mismatches"] == 0

    def never(*_arguments, **_more):
        raise AssertionError("it was compiled")

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "find_plan", never)
        for name in ("expand", "schedule", "schedule_by_need", "compress_loops", "decide_graph"):
            patched.setattr(passes, name, never)
        found = ran("saved.plan", *FAST, *slow)
    assert found["mismatches"] == 0
    for key in ("predicted_cycles", "commands", "program_entries", "elements_checked"):
        assert found[key] == wanted[key]
    assert not any("planned anew" in note for note in found["notes"])
    other = ran("saved.plan", *FAST, "--input", "x.npz")
    difference = "memory latency = 90, not 40"
    assert f"planned anew: what is saved was decided for {difference}" in other["notes"]
    assert other["predicted_cycles"] == ran(*words, *FAST)["predicted_cycles"]
    kept = load_prepared(Path("saved.plan"))[0].decided
    assert kept is not None
    assert len(kept.plans) == len(kept.programs) == count
    assert all(tactic.rejected for plan in kept.plans for tactic in plan.tactics[:1])


def test_programs_of_another_compiler_are_compiled_anew(words, monkeypatch):
    np.savez("x.npz", x=np.ones((9, 8), np.float32))
    right("build", *words, *TINY, "-o", "saved.plan")
    monkeypatch.setattr(decided, "source_version", lambda layers: "another")
    found = ran("saved.plan", *FAST, "--input", "x.npz")
    note = "compiled anew: its programs are of another version of the compiler"
    assert note in found["notes"]
    assert found["mismatches"] == 0


def test_tensors_that_share_memory_are_placed_anew(words, count):
    np.savez("x.npz", x=np.ones((9, 8), np.float32))
    right("build", *words, *TINY, "-o", "saved.plan")
    found = ran("saved.plan", *FAST, "--input", "x.npz", "--reuse-memory")
    assert found["mismatches"] == 0
    assert len(found["memory_plans"]) == count
    # All but the results, which are int32 or int16, may stand where others stood.
    assert all(each["fixed_bytes"] > 9 * 8 * 2 for each in found["memory_plans"])
    assert (found["memory_plan"] is None) == (count > 1)
    for kept in ((), ("--check", "outputs")):
        assert ran("saved.plan", *FAST, "--input", "x.npz", *kept)["memory_plans"] == []


def test_memory_is_shared_where_nothing_inside_is_compared(words, count):
    np.savez("x.npz", x=np.ones((9, 8), np.float32))
    shared = ran(*words, *FAST, "--input", "x.npz", "--check", "outputs")
    assert len(shared["memory_plans"]) == count
    assert shared["mismatches"] == 0 < shared["elements_checked"]
    assert ran(*words, *FAST, "--input", "x.npz")["memory_plans"] == []


@pytest.mark.parametrize(
    ("part", "change", "reason"),
    [
        ("ring", lambda data: data[:-24], "command "),
        ("ring", lambda data: data[:-1], "not a whole number of"),
        ("ops", lambda data: data[:9], "line 1, column "),
        ("ops", lambda data: data.replace(b"store", b"load", 1), "line "),
    ],
)
def test_a_program_that_is_not_the_plans_is_refused(part, change, reason):
    np.savez("x.npz", x=np.ones((9, 8), np.float32))
    right("build", "one.onnx", "--dim", "rows=9", *TINY, "-o", "saved.plan")
    with ZipFile("saved.plan") as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "digest"}
    name = f"programs/0/0/{part}"
    written(Path("saved.plan"), members | {name: change(members[name])})
    words = ("run", "saved.plan", *FAST, "--input", "x.npz")
    refused("saved.plan: program of segment 0: ", *words)
    refused(reason, *words)


def test_operators_of_a_plan_have_the_nodes_of_the_file(words, count):
    right("plan", *words, *TINY, "--json", "plan.json")
    programs = json.loads(Path("plan.json").read_text())["programs"]
    nodes = [each["node"] for program in programs for each in program["operators"]]
    assert len(programs) == count
    assert all(node.endswith(("(MatMul)", "(Relu)")) for node in nodes)
    right("plan", "softmax", "--shape", "4x4", *TINY, "--json", "plan.json")
    (program,) = json.loads(Path("plan.json").read_text())["programs"]
    assert [each["node"] for each in program["operators"]] == [None]


def test_a_model_is_swept_and_its_workers_need_no_file(words, count):
    run = " ".join(words)
    Path("space.toml").write_text(
        f'[space]\npreset = ["tiny"]\nmem_latency = [40, 90]\n[[workload]]\nrun = "{run}"\n'
        f'[[workload]]\nrun = "{run}"\nsim = "verilator"\n'
    )
    points = read_space("space.toml")
    dense(words[0].removesuffix(".onnx"), count + 1)
    others = read_space("space.toml")
    assert not {each.key for each in points} & {each.key for each in others}
    Path(words[0]).unlink()
    done = [evaluate(pickle.loads(pickle.dumps(point))) for point in points]
    model, _, measured, _ = (each.line for each in done)
    assert "wrong" not in measured
    assert measured["cycles"] == pytest.approx(model["cycles"], rel=0.1)
    for key in ("read_bytes", "write_bytes"):
        assert measured[key] == model[key]
    assert done[2].report is not None
    assert done[2].report["workload"] == words[0]
    with pytest.raises(ValueError, match="No such file"):
        read_space("space.toml")
