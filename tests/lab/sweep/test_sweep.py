"""Sweeps: points become lines, whatever happens to workers."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from celosia.lab.sweep.front import costs, pareto_front
from celosia.lab.sweep.lines import LINES, open_lines
from celosia.lab.sweep.page import sweep_page
from celosia.lab.sweep.point import SIMULATORS, Done, Point, evaluate, line_of
from celosia.lab.sweep.space import read_space
from celosia.lab.sweep.sweep import run_sweep
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support import cluster
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane, local_lanes
from tests.support.command_line import invoke, refused
from tests.support.mortal_sweep import killing_compute
from tests.support.run_options import changed

THREADS = (Lane(make=lambda: ThreadPoolExecutor(2), width=2),)
SPACE = """
[space]
set.dim = [4, 8, 5]
[[workload]]
run = "matmul --shape 8x8x8"
[[workload]]
run = "softmax --shape 4x8"
"""


def point(value):
    return Point(run="a", sim="model", choices={"x": value}, key=f"k{value}")


def lines_in(folder):
    return (folder / LINES).read_text().splitlines()


@pytest.fixture
def space(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(SPACE)
    return path


def test_killed_workers_change_no_line(tmp_path, monkeypatch):
    points, calm, deadly = [point(n) for n in range(4)], tmp_path / "calm", tmp_path / "deadly"
    for folder in (calm, deadly):
        folder.mkdir()
    monkeypatch.setenv("MORTAL_WORK", str(deadly))
    run_sweep(points, local_lanes(2), deadly, silent, killing_compute)
    run_sweep(points, THREADS, calm, silent, killing_compute)  # All marks are there: nobody dies.
    assert sorted(lines_in(calm)) == sorted(lines_in(deadly))
    assert len(lines_in(calm)) == 4


def test_a_sweep_goes_on_where_it_was(tmp_path):
    asked = []

    def compute(each):
        asked.append(each.key)
        return Done(line_of(each, cycles=1), {"status": "right"})

    run_sweep([point(1)], THREADS, tmp_path, silent, compute)
    with (tmp_path / LINES).open("a") as file:
        file.write('{"key": "k2", "cyc')  # The machine went down here.
    found = run_sweep([point(1), point(2)], THREADS, tmp_path, silent, compute)
    assert asked == ["k1", "k2"]
    assert [line["key"] for line in found] == ["k1", "k2"]
    assert [json.loads(line)["key"] for line in lines_in(tmp_path)] == ["k1", "k2"]
    assert json.loads((tmp_path / "runs" / "k2.json").read_text()) == {"status": "right"}


def test_a_point_on_verilator_needs_its_simulator(space):
    space.write_text(SPACE.replace('4x8"', '4x8"\nsim = "verilator"'))
    points = read_space(str(space))
    needs = [SIMULATORS.of(each) for each in points]
    assert needs == [None, None, None, (points[3].config,), (points[4].config,), None]


def test_a_sweep_begins_with_what_two_configurations_need(space, tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    space.write_text(
        "[space]\nset.dim = [4, 8]\nmem_latency = [40, 60]\n"
        '[[workload]]\nrun = "softmax --shape 4x8"\nsim = "verilator"'
    )
    begun = []

    def compute(each):
        begun.append(each.choices["set.dim"])
        return Done(line_of(each, cycles=1))

    lane = Lane(make=lambda: ThreadPoolExecutor(1))
    run_sweep(read_space(str(space)), [lane], tmp_path, silent, compute)
    assert begun == [4, 8, 4, 8]


def test_a_point_that_ends_its_workers_fails_and_is_tried_again(tmp_path):
    def impossible(_):
        raise ZeroDivisionError

    lane = (Lane(make=lambda: ThreadPoolExecutor(1), broken=(ZeroDivisionError,), attempts=2),)
    (line,) = run_sweep([point(1)], lane, tmp_path, silent, impossible)
    assert line["failed"] == "its worker ended 2 times"
    assert lines_in(tmp_path) == []


def test_lines_of_others_are_refused_and_nobody_else_writes(tmp_path):
    with open_lines(tmp_path), pytest.raises(OutputError, match="another sweep"):
        open_lines(tmp_path).__enter__()
    (tmp_path / LINES).write_text('{"key": "a"}\n[]\n')
    with pytest.raises(InputError, match=r"points.jsonl: line 2: not a line of a sweep"):
        open_lines(tmp_path).__enter__()


def test_a_point_is_a_prediction_or_a_run(space):
    model, *_ = read_space(str(space))
    done = evaluate(model)
    assert {"cycles", "read_bytes", "write_bytes"} <= set(done.line)
    assert done.report is None
    space.write_text(SPACE.replace('4x8"', '4x8"\nsim = "verilator"'))
    *_, run, _ = read_space(str(space))
    asked = []

    def runner(options, tell):
        asked.append(options)
        return run_workload(changed(options, simulator="functional"), tell)

    done = evaluate(run, runner)
    (options,) = asked
    assert options.target.simulator == "verilator"
    assert options.target.config == run.config
    assert done.report
    read, written = (done.report[f"dram_{way}_bytes"] for way in ("read", "write"))
    assert (done.line["read_bytes"], done.line["write_bytes"]) == (read, written)
    assert 0 < written < read
    assert "wrong" not in done.line


def test_a_worker_of_other_sources_computes_nothing(space):
    model, *_ = read_space(str(space))
    with pytest.raises(EnvironmentProblem, match="the sweep is of abc: install the same"):
        evaluate(replace(model, version="abc"))


def test_a_point_that_does_not_fit_is_refused(space):
    space.write_text(SPACE.replace("[4, 8, 5]", "[8]\nset.normalization = [false]"))
    *_, softmax = read_space(str(space))
    assert "normalization" in evaluate(softmax).line["refused"]


def test_the_front_is_what_nothing_beats():
    each = ((5, 1), (1, 9), (3, 3), (3, 4), (4, 3), (1, 9), (9, 1))
    lines = [
        {"key": str(n), "cycles": c, "read_bytes": b, "write_bytes": 0}
        for n, (c, b) in enumerate(each)
    ]
    lines += [{"key": "r", "refused": "no"}, {**lines[0], "cycles": 0, "wrong": "all"}]
    assert [line["key"] for line in pareto_front(lines)] == ["1", "2", "0"]


def test_what_is_written_costs_as_much_as_what_is_read():
    moved = {"reads": (100, 1), "writes": (1, 99), "both": (51, 50), "slower": (0, 99)}
    lines = [
        {"key": key, "cycles": 7 + (key == "slower"), "read_bytes": read, "write_bytes": written}
        for key, (read, written) in moved.items()
    ]
    assert [costs(line) for line in lines] == [(7, 101), (7, 100), (7, 101), (8, 99)]
    assert [line["key"] for line in pareto_front(lines)] == ["writes", "slower"]


def test_a_page_leads_from_points_to_rows_and_reports(tmp_path):
    pytest.importorskip("plotly")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "k1.json").touch()
    lines = [
        {
            "key": f"k{n}",
            "run": "matmul",
            "sim": "model",
            "space": {"x": n},
            "cycles": 9 - n,
            "read_bytes": n,
            "write_bytes": 0,
        }
        for n in range(3)
    ]
    lines.append({"key": "bad", "run": "matmul", "sim": "model", "space": {}, "refused": "a < b"})
    text = sweep_page(lines, "space.toml", tmp_path)
    assert '<tr id="k2">' in text
    assert '<a href="#k2">' in text
    assert '<a href="runs/k1.json">report</a>' in text
    assert 'href="runs/k0.json"' not in text
    assert "refused: a &lt; b" in text


def test_the_command_sweeps_and_knows_what_it_knew(space, tmp_path):
    out = tmp_path / "out"
    words = ("sweep", space, "--executor", "local:1", "--out", out)
    first = invoke(*words)
    assert first.exit_code == 0, first.output
    assert "2 points refused, the page says why" in first.output
    before = (out / LINES).read_text()
    assert invoke(*words).exit_code == 0
    assert (out / LINES).read_text() == before
    assert before.count('"refused": "dim: 5 is not a power of two') == 2
    assert before.count('"cycles"') == 4
    assert "softmax" in (out / "index.html").read_text()


def test_a_scheduler_that_is_not_there_is_told_before_the_space_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "_SECONDS", 1)
    result = invoke("sweep", "no.toml", "--executor", "dask:127.0.0.1:9", "--out", "x")
    assert result.exit_code == 2
    assert "--executor dask:127.0.0.1:9: no scheduler answers" in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_bad_input_writes_nothing(space, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(
        "--executor remote: write local:N", "sweep", space, "--executor", "remote", "--out", "x"
    )
    space.write_text(SPACE.replace("[4, 8, 5]", "[3]"))
    refused("no point is legal; the first: dim: 3", "sweep", space, "--out", "x")
    refused("no.toml", "sweep", "no.toml", "--out", "x")
