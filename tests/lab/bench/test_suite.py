"""A benchmark is as right as its parts, and what is asked for is what runs."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from celosia.isa.documents.record import Hidden
from celosia.lab.bench import suite
from celosia.lab.bench.benches import BENCHES, Asked
from celosia.lab.bench.line import Lines
from celosia.lab.bench.suite import Bench, run_bench
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent


@dataclass(frozen=True)
class Made:
    """A part, or a line of it, that is right or not."""

    right: bool = True
    asked: Hidden[Any] = None


@pytest.fixture
def ran(monkeypatch):
    """The names of the benchmarks that ran; none measures anything."""
    names: list[str] = []

    def made(name):
        def run(asked, _tell):
            names.append(name)
            return Made(asked=asked)

        return replace(BENCHES[name], run=run, show=lambda part: [], ready=lambda: None)

    monkeypatch.setattr(suite, "BENCHES", {name: made(name) for name in BENCHES})
    return names


def test_a_benchmark_is_as_right_as_each_of_its_parts():
    assert Bench(parts={"speed": Made(), "cost": Made()}).right
    assert not Bench(parts={"speed": Made(right=False), "cost": Made()}).right
    assert not Bench(parts={"speed": Made(), "cost": Made(right=False)}).right


def test_lines_are_as_right_as_each_of_them():
    assert Lines((Made(), Made())).right
    assert not Lines((Made(), Made(right=False))).right
    assert not Lines((Made(right=False), Made())).right


def test_what_must_be_asked_for_does_not_run_with_the_others(ran):
    run_bench((), silent)
    assert ran == ["products", "encoders", "decoders", "cost", "speed"]


def test_what_is_asked_for_alone_runs(ran):
    bench = run_bench(["trace"], silent, ("celosia", "bench", "trace"))
    assert ran == ["trace"]
    document = bench.document()
    assert document["trace"]["right"]
    assert [name for name in BENCHES if document["rows" if name == "compilers" else name]] == [
        "trace"
    ]
    assert document["command_line"] == ["celosia", "bench", "trace"]


def test_a_benchmark_knows_what_was_measured_before_it(ran):
    parts = run_bench(["products", "cost"], silent, asked=Asked(seq=7)).parts
    cost = parts["cost"]
    assert isinstance(cost, Made)
    assert cost.asked.seq == 7
    assert "products" in cost.asked.measured


def test_predictions_are_for_commands_that_stream(ran):
    run_bench((), silent, asked=Asked(issue="ring"))
    assert "cost" not in ran
    with pytest.raises(InputError, match="stream"):
        run_bench(["cost"], silent, asked=Asked(issue="ring"))


def test_what_would_stop_one_is_said_before_any_is_measured(ran, monkeypatch):
    def missing():
        raise InputError("no compiler")

    known = suite.BENCHES
    monkeypatch.setattr(
        suite, "BENCHES", {**known, "speed": replace(known["speed"], ready=missing)}
    )
    with pytest.raises(InputError, match="no compiler"):
        run_bench(["products", "speed"], silent)
    assert ran == []
