"""What `benchmarks/plan_reference.py` tries, and what it says of it."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "plan_reference.py"))
CASE = SCRIPT["ReferenceCase"]
TINY = CASE(shape="4x4x4", preset="tiny", every=True)


def test_twenty_shapes_have_all_plans_followed_and_sixty_others_some():
    cases = SCRIPT["CASES"]
    assert len(cases) == len(set(cases)) == 80
    assert sum(case.every for case in cases) == 20
    assert {case.preset for case in cases if case.every} == {"base"}
    assert not set(SCRIPT["EVERY"]) & set(SCRIPT["SEARCHED"])


@pytest.fixture
def ran(monkeypatch):
    """Plans that would run on the RTL, which here takes a cycle more than for the one before."""
    plans = []

    def cycles(self, plan):
        plans.append(plan)
        return 1000 + len(plans)

    monkeypatch.setattr(CASE, "_cycles", cycles)
    return plans


def test_of_all_plans_of_a_shape_the_ten_that_are_expected_to_be_fastest_run(ran):
    found = TINY.measured()
    assert found["plans"] == TINY.space.size
    (every,) = found["best"].values()
    assert 0 < every["legal"] < TINY.space.size
    assert found["compiler"]["cycles"] == 1001
    runs = min(10, every["legal"])
    assert [run["cycles"] for run in every["runs"]] == [*range(1002, 1002 + runs)]
    predicted = [run["predicted"] for run in every["runs"]]
    assert predicted == sorted(predicted)
    assert predicted[0] <= found["compiler"]["predicted"]
    assert len({repr(plan) for plan in ran[1:]}) == runs


def test_other_shapes_have_drawn_plans_and_those_of_tpe(ran, monkeypatch):
    case = replace(TINY, every=False)
    monkeypatch.setitem(CASE._random.__globals__, "DRAWN", 12)
    monkeypatch.setitem(CASE._random.__globals__, "TPE", 5)
    found = case.measured()["best"]
    assert found.keys() == {"drawn", "tpe"}
    assert 1 <= found["tpe"]["legal"] <= 5
    assert found["drawn"]["legal"] <= 12


def line(cycles, *runs):
    best = {"every": {"legal": 5, "runs": [{"predicted": n, "cycles": n} for n in runs]}}
    compiler = {"predicted": cycles, "cycles": cycles}
    return {"shape": "4x4x4", "preset": "tiny", "compiler": compiler, "best": best, "seconds": 3}


def test_the_compilers_plan_may_be_the_best_that_is_known():
    lines = [line(110, 120, 100), line(100, 105)]
    first, second, summary = SCRIPT["table"](lines)
    assert first.split()[:4] == ["tiny", "4x4x4", "110", "1.100"]
    assert second.split()[:4] == ["tiny", "4x4x4", "100", "1.000"]
    assert "5.00% more than the best known on average, 10.00% at most" in summary
