"""One decision after the other."""

from types import SimpleNamespace
from typing import Any

from celosia.sw.compiler.descent import PlanCosts, descended
from celosia.sw.planning.rules.verify import PlanError


def step(index):
    """A decision about one of two numbers: one more, or one less."""

    def others(pair):
        for by in (-1, 1):
            changed = list(pair)
            changed[index] += by
            yield tuple(changed)

    return others


def test_decisions_are_taken_until_none_changes_anything():
    found = descended((0, 0), [step(0), step(1)], lambda p: abs(p[0] - 3) + abs(p[1] + p[0] - 5))
    assert found == (3, 2)


def test_what_is_not_possible_is_passed_over():
    cost = {(0, 0): 9, (1, 0): None, (0, 1): 5, (1, 1): 2}.get
    assert descended((0, 0), [step(0), step(1)], cost) == (1, 1)
    assert descended((7, 7), [step(0)], cost) == (7, 7)


def test_a_small_gain_is_none():
    cost = {0: 100, 1: 95, 2: 50}.get
    decisions = [lambda n: [n + 1]] * 2
    assert descended(0, decisions, cost) == 2
    assert descended(0, decisions, cost, gain=0.1) == 0


def test_the_first_of_equals_is_taken():
    assert descended("x", [lambda _: ["b", "a"]], {"x": 2, "a": 1, "b": 1}.get) == "b"


def test_no_more_plans_are_followed_than_there_is_time_for(monkeypatch):
    """A plan that was followed is known; one that is not legal was followed, too."""
    followed = []

    def predicted(_graph, _config, plan, *_):
        followed.append(plan.stages)
        if plan.stages == "illegal":
            raise PlanError("rule", "stage", "is not legal")
        return SimpleNamespace(cycles=len(plan.stages))

    def plan(name, spare=0) -> Any:
        return SimpleNamespace(
            stages=name, rings={}, scheduler="need", defer=True, spare_tiles=spare
        )

    monkeypatch.setattr("celosia.sw.compiler.descent.predict", predicted)
    none: Any = None
    cost = PlanCosts(none, none, None, most=3)
    names = ("a", "illegal", "a", "abc", "abcd", "abc", "a")
    assert [cost(plan(name)) for name in names] == [1, None, 1, 3, None, 3, 1]
    assert followed == ["a", "illegal", "abc"]
    assert cost(plan("a", spare=16)) is None  # Not the plan that is known.
