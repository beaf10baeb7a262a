"""Branches beside each other: legal plans that compute the same, and stages that no order beats."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.isa.config import ConfigError
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.lab.graphs.branches import BRANCHES, branches_case
from celosia.lab.tune.branches.plans import staged_plan
from celosia.lab.tune.branches.search import STRATEGIES, stages_of
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.branches import costs as costs_module
from celosia.sw.branches.blocks import Block, blocks_of
from celosia.sw.branches.compose import plan_of_stages
from celosia.sw.branches.costs import Cost, Costs, Together
from celosia.sw.branches.shares import QUARTERS, share_of
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case
from celosia.sw.models.random_operands import int8_matrix
from celosia.sw.planning.forms.stages import ConcurrentStage, LinearStage
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.rules.verify import PlanError, verify_plan

BASE = resolve_config("base")
SLOW = MemoryTiming(bytes_per_cycle=8)


@pytest.fixture(scope="module")
def decode():
    return branches_case("decode-beside-prefill", 1, width=48, heads=2)


class Measured(Costs):
    """Blocks whose cycles are known: of the array, and of memory."""

    def __init__(self, work: dict[int, tuple[int, int]]):
        super().__init__(graph=None, config=BASE, timing=SLOW)  # type: ignore[arg-type]
        self.work = work

    def together(self, branches):
        alone = [sum(max(self.work[b.number]) for b in branch) for branch in branches]
        sums = [sum(self.work[b.number][unit] for br in branches for b in br) for unit in (0, 1)]
        cycles = alone[0] if len(branches) == 1 else max(*alone, *sums)
        return Together(cycles, (1,) * len(branches))


def cost(stages, costs) -> float:
    return sum(costs.together(branches).cycles for branches in stages)


def test_branches_end_together_in_the_best_stages():
    """Two short blocks that wait for memory fit beside one long one of the array."""
    long = Block(0, (), frozenset())
    short = [Block(1, (), frozenset()), Block(2, (), frozenset({1}))]
    costs = Measured({0: (100, 10), 1: (5, 45), 2: (5, 45)})
    found = {name: stages_of([long, *short], costs, name) for name in STRATEGIES}
    assert [cost(found[name], costs) for name in STRATEGIES] == [190, 150, 110]
    assert found["greedy"] == (((long,), (short[0],)), ((short[1],),))
    assert found["dp"] == (((long,), tuple(short)),)


def test_a_branch_gets_most_of_the_memories_where_that_is_faster(monkeypatch):
    """Taller blocks read less, for which a branch that needs little leaves the room."""
    long, short = (Block(number, (), frozenset()) for number in range(2))
    costs = Measured({})
    reads = {0: {4: 100, 3: 120, 2: 200, 1: 300}, 1: {4: 80, 3: 80, 2: 80, 1: 80}}
    monkeypatch.setattr(costs, "_key", lambda *_: 0)
    monkeypatch.setattr(
        costs, "of", lambda b, quarters: Cost(100, (90.0, reads[b.number][quarters], 0.0, 0.0))
    )
    for branches, quarters in (([long, short], (3, 1)), ([short, long], (1, 3))):
        found = Costs.together(costs, [[block] for block in branches])
        assert found is not None
        assert found.quarters == quarters
        assert 200 <= found.cycles < 210
    monkeypatch.setattr(Costs, "hidden", 1)
    alone = Costs.together(costs, [[long]])
    assert alone == Together(100, (QUARTERS,))


@pytest.mark.parametrize(
    ("cycles", "quarters", "chosen"),
    [
        ((100, 102), 2, "reads less"),  # Within 3 %: what it reads counts beside others.
        ((100, 104), 2, "fast"),
        ((100, 102), QUARTERS, "fast"),  # Alone, nobody else wants the memory.
        ((104, 100), QUARTERS, "reads less"),
    ],
)
def test_of_plans_that_take_about_as_long_the_one_that_reads_less_runs_beside_others(
    monkeypatch, cycles, quarters, chosen
):
    """The second plan reads a half, and writes three times."""
    plans = ("fast", "reads less")
    expected = dict(zip(plans, cycles, strict=True))
    work = {"fast": (0.0, 80.0, 10.0, 0.0), "reads less": (0.0, 40.0, 30.0, 0.0)}
    monkeypatch.setattr(costs_module, "part_of", lambda *_: None)
    monkeypatch.setattr(
        costs_module,
        "candidates",
        lambda *_: [SimpleNamespace(stages=name) for name in plans],
    )
    monkeypatch.setattr(
        costs_module, "predict", lambda _, __, plan, ___: Cost(expected[plan.stages], ())
    )
    costs = Measured({})
    monkeypatch.setattr(costs, "_key", lambda *_: 0)
    monkeypatch.setattr(costs, "_work", lambda plan, _: work[plan.stages])
    assert costs.plan([], quarters).stages == chosen  # type: ignore[comparison-overlap]


def test_a_share_is_of_each_memory(decode):
    share = share_of(BASE, 3)
    assert share.scratchpad_kib * QUARTERS == 3 * BASE.scratchpad_kib
    assert share.accumulator_rows * QUARTERS == 3 * BASE.accumulator_rows
    assert share_of(BASE, QUARTERS) is BASE
    with pytest.raises(ConfigError, match="statistics_rows: 4 is less than 16"):
        share_of(replace(BASE, statistics_rows=16), 1)


def test_what_needs_the_same_unit_is_computed_in_order():
    blocks = [Block(0, (), frozenset()), Block(1, (), frozenset())]
    costs = Measured({0: (100, 10), 1: (100, 10)})
    assert len(stages_of(blocks, costs, "dp")) == 2


def test_blocks_of_a_graph(decode):
    blocks = blocks_of(decode.graph)
    assert [op.name for op in blocks[0].ops] == [
        "prefill.0.attention.query",
        "prefill.0.attention.key",
        "prefill.0.attention.value",
    ]
    assert blocks[1].needs == {0}
    assert sum(len(block.ops) for block in blocks) == len(decode.graph.ops)
    assert not blocks[5].needs


@pytest.mark.parametrize(
    "strategy",
    [pytest.param(each, marks=[pytest.mark.slow] * (each != "greedy")) for each in STRATEGIES],
)
def test_every_strategy_computes_the_same(decode, strategy):
    plan = staged_plan(decode.graph, BASE, SLOW, strategy)
    assert parse_plan(print_plan(plan)) == plan
    beside = [stage for stage in plan.stages if isinstance(stage, ConcurrentStage)]
    assert bool(beside) == (strategy != "sequential")
    compiled = compile_graph(decode.graph, BASE, Decide(plan))
    size = compiled.end - MEMORY_BASE
    check_device(decode, FunctionalDevice(BASE, memory_bytes=size), compiled)


@pytest.mark.slow
@pytest.mark.parametrize("name", BRANCHES)
def test_every_graph_computes_the_same(name):
    case = branches_case(name, 2, width=48, heads=2)
    plan = staged_plan(case.graph, BASE, SLOW, "dp")
    compiled = compile_graph(case.graph, BASE, Decide(plan))
    size = compiled.end - MEMORY_BASE
    check_device(case, FunctionalDevice(BASE, memory_bytes=size), compiled)


def test_branches_that_meet_are_refused(decode):
    plan = staged_plan(decode.graph, BASE, SLOW, "greedy")
    number, stage = next(
        (n, each) for n, each in enumerate(plan.stages) if isinstance(each, ConcurrentStage)
    )

    def refused(rule: str, changed: ConcurrentStage) -> None:
        stages = (*plan.stages[:number], changed, *plan.stages[number + 1 :])
        with pytest.raises(PlanError, match=f"^{rule}: "):
            verify_plan(replace(plan, stages=stages), decode.graph, BASE)

    first, second = stage.branches
    refused("branches", replace(stage, branches=(replace(first, cycles=(0,)), second)))
    refused("branches", replace(stage, branches=(replace(first, cycles=()), second)))
    one = first.stages[0]
    split = (replace(first, stages=(one,), cycles=(1,)),)
    rest = replace(first, stages=first.stages[1:], cycles=first.cycles[1:])
    refused("ring-apart", replace(stage, branches=(*split, rest, second)))


def test_blocks_of_sums_that_have_all_of_a_share_compute_the_same(monkeypatch):
    """A long product whose next block waits until the last one is drained, beside a short one."""
    random, builder = np.random.default_rng(3), GraphBuilder("beside")
    inputs = {}
    for name, rows in (("long", 64), ("short", 16)):
        inputs |= {f"{name}.a": int8_matrix(random, rows, 64)}
        a = builder.input(Tensor(f"{name}.a", "int8", rows, 64))
        w = builder.constant(f"{name}.w", int8_matrix(random, 64, 384))
        out = builder.tensor(Tensor(name, "int8", rows, 384))
        builder.matmul(name, out, a, w, Requantize(0.01))
    case = Case(builder.finish("long", "short"), inputs)
    costs = Costs(case.graph, BASE, SLOW)
    monkeypatch.setattr(costs, "_best", lambda plans, *_: plans[1])
    branches = tuple((block,) for block in blocks_of(case.graph))
    costs.learn(branches, (2, 2), 1)
    plan = plan_of_stages([branches], costs)
    (stage,) = plan.stages
    assert isinstance(stage, ConcurrentStage)
    long = stage.branches[0].stages[0]
    assert isinstance(long, LinearStage)
    assert max(long.rows) * max(long.tiles) == 512  # Half of the accumulator, at once.
    compiled = compile_graph(case.graph, BASE, Decide(plan))
    size = compiled.end - MEMORY_BASE
    check_device(case, FunctionalDevice(BASE, memory_bytes=size), compiled)
