"""Sweeps in time: cycles and what a cycle takes, by configuration."""

import json
from dataclasses import asdict

import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.sweep.front import pareto_front
from celosia.lab.sweep.periods import read_periods, timed
from celosia.lab.sweep.point import Point
from celosia.sim.support.problems import InputError
from tests.support.command_line import invoke, refused

SMALL, LARGE = resolve_config("tiny"), resolve_config("tiny", ["dim=8"])
SPACE = """
[space]
preset = ["tiny"]
set.dim = [4, 8]
[[workload]]
run = "matmul --shape 16x16x16"
"""


def timing_document(config, **periods):
    return {
        "schema": "celosia.timing/2",
        "config": asdict(config),
        "scripts": {script: {"period_ns": ns} for script, ns in periods.items()},
    }


@pytest.fixture
def written(tmp_path):
    def write(name, document):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


def test_the_period_is_of_the_default_script_or_of_the_only_one(written):
    both = written("both.json", timing_document(SMALL, prefix=2.5, default=4))
    one = written("one.json", timing_document(LARGE, prefix=3.5))
    assert read_periods([both, one]) == {SMALL: 4.0, LARGE: 3.5}


def test_what_a_cycle_takes_decides_which_point_is_faster():
    points = [
        Point(run="a", sim="model", choices={}, key=str(n), config=config)
        for n, config in enumerate((SMALL, LARGE, None))
    ]
    lines = [
        {"key": "0", "cycles": 3000, "read_bytes": 9, "write_bytes": 1},
        {"key": "1", "cycles": 2000, "read_bytes": 9, "write_bytes": 1},
        {"key": "2", "refused": "no"},
    ]
    found = timed(points, lines, {SMALL: 2.0, LARGE: 3.5})
    assert [line.get("us") for line in found] == [6.0, 7.0, None]
    assert [line["key"] for line in pareto_front(found)] == ["1"]
    assert [line["key"] for line in pareto_front(found, "us")] == ["0"]
    unknown = timed(points, lines, {LARGE: 3.5})
    assert [line["key"] for line in pareto_front(unknown, "us")] == ["1"]


def test_a_sweep_shows_time_and_leaves_out_what_has_none(written, tmp_path, monkeypatch):
    """In 80 columns, too, no number is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    space = written("space.toml", SPACE)
    timing = written("t.json", timing_document(LARGE, default=10))
    out = tmp_path / "out"
    result = invoke("sweep", str(space), "--out", str(out), "--timing", str(timing))
    assert result.exit_code == 0
    (row,) = [line for line in result.output.splitlines() if " of " in line and "│" in line]
    _, front, us, cycles, moved, _ = (cell.strip() for cell in row.split("│")[1:-1])
    assert front == "1 of 2"
    (line,) = [
        line
        for line in map(json.loads, (out / "points.jsonl").open())
        if line["space"]["set.dim"] == 8
    ]
    assert cycles == f"{line['cycles']:,}"
    assert moved == f"{line['read_bytes'] + line['write_bytes']:,}"
    assert float(us) == pytest.approx(line["cycles"] * 10 / 1000, abs=0.05)
    assert "1 point left out: no --timing is of their configuration" in result.output
    page = (out / "index.html").read_text()
    assert "Time against the bytes" in page
    assert "without a period" in page
    assert "us" not in line


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not JSON"),
        ({"schema": "celosia.area/1"}, "'celosia.area/1' is not 'celosia.timing/2'"),
        ({"schema": "celosia.timing/2"}, "config: not the parameters"),
        (timing_document(SMALL) | {"config": {"dim": 3}}, "config: not the parameters"),
        (timing_document(SMALL) | {"config": asdict(SMALL) | {"dim": 3}}, "config: dim"),
        (timing_document(SMALL), "scripts.default.period_ns: None is no number of ns"),
        (timing_document(SMALL, prefix=-1), "scripts.prefix.period_ns: -1"),
        (timing_document(SMALL, default=True), "period_ns: True"),
        (timing_document(SMALL) | {"scripts": [1]}, "period_ns: None"),
    ],
)
def test_what_has_no_period_is_refused(written, document, message):
    path = written("bad.json", document)
    with pytest.raises(InputError, match=message) as raised:
        read_periods([path])
    assert str(raised.value).startswith(f"{path}: ")


def test_a_configuration_has_one_period(written):
    paths = [written(f"{n}.json", timing_document(SMALL, default=n)) for n in (1, 2)]
    with pytest.raises(InputError, match=r"2.json: another file has the period"):
        read_periods(paths)


def test_a_bad_period_is_refused_before_work_begins(written, tmp_path):
    space, out = written("space.toml", SPACE), tmp_path / "out"
    refused(
        "none.json", "sweep", str(space), "--out", str(out), "--timing", str(tmp_path / "none.json")
    )
    assert not out.exists()
