"""Decisions of a plan as independent choices."""

import random
from collections import Counter

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError

TINY = resolve_config("tiny")
PROBLEM = MatMul(m=22, n=27, k=33, scale=0.02, bias=True)


@pytest.fixture
def space():
    graph = graph_of("matmul", PROBLEM)
    return PlanSpace(only_product(graph), graph, TINY)


def test_all_combinations_are_numbered(space):
    plans = space.all()
    first, second = next(plans), next(plans)
    assert next(space.all(1)) == second != first
    assert first.keys() == space.choices.keys()
    assert next(space.all(space.size - 1)) == {k: v[-1] for k, v in space.choices.items()}
    assert not list(space.all(space.size))
    assert space.size > 100_000


def test_a_choice_means_all_where_the_product_is_smaller(space):
    assert space.choices["block_rows"] == (1, 2, 3, 4, 6)
    assert space.choices["b_n_tiles"] == (1, 2, 4, 7)


def test_plans_compute_the_same_or_break_a_rule(space):
    rng, rules = random.Random(4), Counter()
    operator = Operator("matmul", random_operands(PROBLEM, 3))
    for _ in range(40):
        chosen = {name: rng.choice(values) for name, values in space.choices.items()}
        try:
            plan = space.plan(chosen)
        except PlanError as error:
            rules[error.rule] += 1
            continue
        rules["legal"] += 1
        device = open_device("functional", TINY)
        measured, _ = checked_product(device, operator, MemoryTiming(), plan=plan)
        assert measured.right, chosen
    assert rules["legal"] >= 10


def test_the_nearest_combination_of_a_plan_of_the_space_makes_it_again(space):
    chosen = random.Random(3)
    same = 0
    for _ in range(40):
        one = {name: chosen.choice(values) for name, values in space.choices.items()}
        try:
            plan = space.plan(one)
        except PlanError:
            continue
        near = space.like(plan)
        assert near.keys() == one.keys()
        assert all(near[name] == one[name] for name in ("outer", "a_keep", "b_keep", "a_banks"))
        same += space.plan(near) == plan
    assert same > 10


def test_the_nearest_combination_of_the_compilers_plan_is_one_of_the_space(space):
    near = space.nearest(MemoryTiming())
    assert all(near[name] in values for name, values in space.choices.items())
