"""Proposals by annealing on a model: on a cost that was made up."""

from collections.abc import Mapping

import pytest

from celosia.lab.sweep.words import options_of
from celosia.lab.tune.cost_model import Linear, TimelineAlone
from celosia.lab.tune.features import FEATURES, Seen
from celosia.lab.tune.learned import LearnedSampler, Promise, group_of
from celosia.lab.tune.trial import Found
from celosia.lab.tune.work import product_space
from celosia.sw.planning.rules.verify import PlanError

SPACE = product_space(*options_of(("matmul", "--shape", "40x40x40", "--preset", "tiny")))


def look(chosen: Mapping) -> Seen:
    """A timeline that likes low numbers; a plan without reuse of A is illegal."""
    if not chosen["a_keep"]:
        raise PlanError("keep", "a", "no")
    names = ("block_rows", "block_columns", "b_k_tiles", "b_n_tiles", "a_banks")
    cycles = 1000 + sum(chosen[name] for name in names)
    return Seen(cycles, dict.fromkeys(FEATURES, 0.0) | {"loads": float(chosen["a_banks"])})


def asked(count: int, real=lambda seen: seen.predicted, seed=0, model: type = Linear, **given):
    sampler, found = LearnedSampler(SPACE, look, model(), seed=seed, **given), []
    for number in range(count):
        chosen = sampler.ask(number)
        seen = look(chosen)
        found.append(chosen)
        sampler.tell(chosen, Found(real(seen), seen=seen))
    return found


def test_the_first_proposals_are_among_the_best_and_never_the_same_twice():
    chosen = asked(12)
    assert min(look(each).predicted for each in chosen[:3]) <= 1008
    assert len({tuple(each.values()) for each in chosen}) == 12


def test_a_seed_is_a_search():
    assert asked(4) == asked(4) != asked(4, seed=1)


def test_a_search_begins_where_it_is_told_to():
    start = {name: values[0] for name, values in SPACE.choices.items()}
    assert look(asked(1, start=start)[0]) == look(start)


def test_few_looks_are_as_few_programs():
    looked: set[tuple] = set()

    def counted(chosen):
        looked.add(tuple(chosen.values()))
        return look(chosen)

    start = {name: values[0] for name, values in SPACE.choices.items()}
    sampler = LearnedSampler(SPACE, counted, Linear(), start=start, looks=2)
    for number, most in enumerate((1 + 4 * 2, 1 + 5 * 2, 1 + 6 * 2)):
        chosen = sampler.ask(number)
        assert len(looked) <= most
        sampler.tell(chosen, Found(look(chosen).predicted, seen=look(chosen)))
    assert len(looked) > 8


def test_runs_that_the_timeline_tells_wrong_teach_the_linear_model():
    def real(seen):
        return round(seen.predicted * (1.5 - 0.1 * seen.features["loads"]))

    banks = {m: [e["a_banks"] for e in asked(40, real, model=m)] for m in (TimelineAlone, Linear)}
    most = max(SPACE.choices["a_banks"])
    assert banks[Linear].count(most) > banks[TimelineAlone].count(most)


def test_a_space_without_a_legal_plan_is_still_asked():
    def never(_):
        raise PlanError("rule", "place", "no")

    chosen = LearnedSampler(SPACE, never, Linear()).ask(0)
    assert chosen.keys() == SPACE.choices.keys()


def test_groups_promise_what_their_moves_gained():
    promise = Promise(["outer", "one.k", "one.block", "two.k"])
    assert group_of("one.k") == "one"
    assert set(promise.weights.values()) == {0.002}
    promise.moved("one", 0.1)
    assert promise.weights == {"": 0.1, "one": 0.1, "two": 0.1}
    promise.moved("one", -3)
    promise.moved("two", 0)
    assert promise.weights["one"] == pytest.approx(0.08)
    assert promise.weights["two"] == 0.002
