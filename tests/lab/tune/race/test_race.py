"""Races of searches: what is withheld, what counts, and when one is over."""

from types import SimpleNamespace

import pytest

from celosia.lab.tune.cost_model import Linear
from celosia.lab.tune.learned import LearnedSampler
from celosia.lab.tune.race import race as race_module
from celosia.lab.tune.race.race import STRATEGIES, Runs, race, run_race, tuned_cycles
from celosia.lab.tune.race.workloads import Racetrack, _product
from celosia.lab.tune.work import Work
from celosia.sw.planning.rules.verify import PlanError


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """Each run takes a number of cycles that its plan alone decides, and is counted."""
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    ran = []

    def measured(self, plan, config, timing):
        ran.append(plan)
        return SimpleNamespace(right=True, cycles=1000 + len(repr(plan)))

    monkeypatch.setattr(Work, "measured", measured)
    return ran


def track(target: int) -> Racetrack:
    return Racetrack("small", lambda: _product("5x6x7"), target, preset="tiny")


def legal(found: Runs, *skipped):
    for chosen in found.track.space.all():
        try:
            found.look(chosen)
        except PlanError:
            continue
        if chosen not in skipped:
            return chosen
    raise AssertionError


def test_the_compilers_plan_and_its_neighbours_are_withheld():
    found = Runs(track(1))
    own = found.near_own
    for chosen in (own, dict(own) | {"outer": "cols" if own["outer"] == "rows" else "rows"}):
        with pytest.raises(PlanError, match="compiler's plan"):
            found.look(chosen)
    assert Runs(track(1), withhold=False).look(own).predicted


def test_a_plan_runs_once_for_all(runs):
    found = Runs(track(1))
    chosen = legal(found)
    assert found.cycles(chosen) == Runs(track(1)).cycles(chosen) == 1000 + len(repr(runs[0]))
    assert len(runs) == 1


class _Says:
    """A search that says what it was given, and remembers what it was told."""

    def __init__(self, *plans):
        self._plans, self.told = plans, []

    def ask(self, number):
        return self._plans[min(number, len(self._plans) - 1)]

    def tell(self, chosen, found):
        self.told.append(found.cycles)


def test_what_is_illegal_or_ran_before_does_not_count():
    found = Runs(track(1))
    one = legal(found)
    two = legal(found, one)
    says = _Says(found.near_own, one, one, two)
    assert len(race(found, says, 2)) == 2
    assert [cycles is None for cycles in says.told] == [True, False, False, False]


def test_a_race_is_over_within_one_percent_of_the_target():
    found = Runs(track(1))
    cycles = found.cycles(legal(found))
    for target, most in ((round(cycles / 1.009), 1), (round(cycles / 1.02), 3)):
        found = Runs(track(target))
        says = _Says(legal(found), legal(found, legal(found)))
        if most == 1:
            assert len(race(found, says, 3)) == 1
        else:
            assert len(race(found, says, 3)) > 1


def test_a_race_of_all_searches():
    pytest.importorskip("optuna")
    (line,) = run_race(lambda *_: None, [track(1)], seeds=2, most=2)
    assert line.trials == {name: [3, 3] for name in STRATEGIES}
    assert line.middle("tpe") == 3
    assert line.tuned <= line.compiler
    assert line.right


def test_a_search_from_the_compilers_plan_is_no_worse():
    one = track(1)
    assert tuned_cycles(one, 3) <= Runs(one).own_cycles


def test_a_learned_search_begins_with_what_others_ran(monkeypatch):
    begun = []

    class Remembers(LearnedSampler):
        def __init__(self, space, look, model, known=(), **given):
            begun.append((type(model), len(known)))
            super().__init__(space, look, model, known, **given)

    monkeypatch.setattr(race_module, "LearnedSampler", Remembers)
    monkeypatch.setattr(race_module, "tuned_cycles", lambda _: 1)
    other = Racetrack("other", lambda: _product("8x8x8"), 1, preset="tiny")
    pytest.importorskip("optuna")
    run_race(lambda *_: None, [track(1), other], seeds=1, most=2)
    assert begun[2:] == [(Linear, 2), (Linear, 2)]
