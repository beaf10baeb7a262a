"""Samplers: what they draw is legal, and what they promise of it holds."""

from itertools import count, islice
from random import Random

import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.mappings import samplers
from celosia.lab.mappings.samplers import Sampler, choices_of, draws, enumerated
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.support.problems import InputError
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError, verify_plan

GRAPH = graph_of("product", MatMul(m=24, n=20, k=36))
SPACE = PlanSpace(only_product(GRAPH), GRAPH, resolve_config("tiny", ()))


@pytest.mark.parametrize("sampler", [Sampler.UNIFORM, Sampler.FACTORS])
def test_plans_are_legal_and_repeat_with_the_seed(sampler):
    first = list(islice(draws(SPACE, sampler, Random(3)), 20))
    again = list(islice(draws(SPACE, sampler, Random(3)), 20))
    assert first == again
    assert first != list(islice(draws(SPACE, sampler, Random(4)), 20))
    for chosen, plan in first:
        assert SPACE.plan(chosen) == plan == verify_plan(plan, SPACE.graph, SPACE.config)


def test_factors_divide_the_product():
    sizes = {"block_rows": 24, "block_columns": 20, "a_tiles": 36, "b_k_tiles": 36, "b_n_tiles": 20}
    dim = SPACE.config.dim
    choices = choices_of(SPACE, Sampler.FACTORS)
    for name, extent in sizes.items():
        assert choices[name]
        assert all(-(-extent // dim) % int(size) == 0 for size in choices[name])


def test_every_combination_is_tried_once(monkeypatch):
    plans = PlanSpace.plan

    def picky(space, chosen):
        if chosen["a_keep"]:
            raise PlanError("odd", "stage p", "no")
        return plans(space, chosen)

    graph = graph_of("product", MatMul(m=4, n=4, k=4))
    space = PlanSpace(only_product(graph), graph, resolve_config("tiny", ()))
    monkeypatch.setattr(PlanSpace, "plan", picky)
    half = space.size // 2
    parts = [*enumerated(space, 0, half), *enumerated(space, half, space.size)]
    legal = [chosen for chosen in space.all() if not chosen["a_keep"]]
    assert [chosen for chosen, _ in parts] == legal


def test_a_space_of_which_nothing_is_legal_is_a_message(monkeypatch):
    monkeypatch.setattr(samplers, "MOST_REFUSED", 5)

    def refuse(*_):
        raise PlanError("sums-fit", "stage p", "no")

    monkeypatch.setattr(PlanSpace, "plan", refuse)
    with pytest.raises(
        InputError, match="5 plans in a row are illegal; the last: sums-fit: stage p: no"
    ):
        next(draws(SPACE, Sampler.UNIFORM, Random(0)))


def test_draws_that_are_refused_count_in_a_row_only(monkeypatch):
    """Two of three plans are illegal: twenty that are not are found, in spite of the limit."""
    monkeypatch.setattr(samplers, "MOST_REFUSED", 5)
    plans, asked = PlanSpace.plan, count(1)

    def refuse(space, chosen):
        if next(asked) % 3:
            raise PlanError("sums-fit", "stage p", "no")
        return plans(space, chosen)

    monkeypatch.setattr(PlanSpace, "plan", refuse)
    assert len(list(islice(draws(SPACE, Sampler.UNIFORM, Random(0)), 20))) == 20
