"""Plans that are given: schedules, plan files, stages and memory that is used again."""

import json

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.tune.branches import plans
from celosia.lab.tune.branches.plans import BEST, best_stages, staged_plan
from celosia.lab.tune.branches.search import STRATEGIES
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.lab.tune.tuning_log import Entry, open_log, tuning_key
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.support.problems import InputError
from celosia.sw.compiler.passes import planned
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.problems import graph_of
from tests.support.command_line import refused, right

PRODUCT = ("matmul", "--shape", "24x24x30", "--preset", "tiny")
HEADS = ("attention", "--heads", "2", "--seq", "20", "--dim", "8", "--preset", "tiny")
FUNCTIONAL = ("--sim", "functional")
SCHEDULE = """start = "plain"

[[steps]]
kind = "tensorize"
op = "matmul"
times = 2

[[steps]]
kind = "double_buffer"
op = "matmul"
what = "b"
"""


def test_a_schedule_is_exported_compiled_and_run(tmp_path):
    path, plan = tmp_path / "schedule.toml", tmp_path / "plan.toml"
    path.write_text(SCHEDULE)
    right("compile", *PRODUCT, "--schedule", str(path), "--print-after", "plan", "-o", str(plan))
    assert parse_plan(plan.read_text()).rings["b"].step > 1
    commands = [
        right("compile", *PRODUCT, *given, "--print-after", "commands").stdout
        for given in (("--schedule", str(path)), ("--plan", str(plan)), ())
    ]
    assert commands[0] == commands[1] != commands[2]
    for given in (("--schedule", str(path)), ("--plan", str(plan))):
        right("run", *PRODUCT, *FUNCTIONAL, *given)


def test_a_plan_is_written_with_its_tactics(tmp_path):
    path = tmp_path / "plan.toml"
    right("plan", *HEADS, "--output", str(path))
    plan = parse_plan(path.read_text())
    tactics = {tactic.name: tactic for tactic in plan.tactics}
    assert {"block_tiles", "piece_tiles", "overlap"} <= tactics.keys()
    assert all(each.cycles or each.reason for t in plan.tactics for each in t.rejected)
    assert right("compile", *HEADS, "--plan", str(path)).stdout.endswith("expected\n")
    right("run", *HEADS, *FUNCTIONAL, "--plan", str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start = 1\nsteps = []", "schedule.start: 1 is none of"),
        ("steps = 3", "schedule.steps: a list is expected"),
        ('[[steps]]\nkind = "unroll"', "schedule.steps[0].kind: 'unroll' is none of"),
        ('[[steps]]\nkind = "split"', "schedule.steps[0].op is missing"),
        ("steps = [", "at end of document"),
        (SCHEDULE.replace("times = 2", "times = 0"), "tensorize-times: step 1, tensorize: matmul"),
        (SCHEDULE.replace('what = "b"', 'what = "c"'), "step-role: step 2, double_buffer: stage m"),
    ],
)
def test_what_is_no_schedule_is_refused(tmp_path, text, message):
    path = tmp_path / "schedule.toml"
    path.write_text(text)
    for command in ("compile", "run"):
        refused(message, command, *PRODUCT, "--schedule", str(path))


def test_plans_for_another_configuration_are_refused(tmp_path):
    path = tmp_path / "plan.toml"
    right("compile", *PRODUCT, "--print-after", "plan", "-o", str(path))
    words = (*PRODUCT[:3], "--preset", "base", "--plan", str(path))
    refused(f"{path}: machine: ", "run", *words)
    refused("not together with --stages dp", "run", *PRODUCT, "--plan", str(path), "--stages", "dp")
    refused("there are best, sequential", "run", *HEADS, "--stages", "all")
    refused("no graph with tensors between", "run", *PRODUCT, "--reuse-memory")


def test_memory_is_used_again(tmp_path):
    path = tmp_path / "run.json"
    words = ("run", "encoder-layer", "--model", "minilm", "--seq", "4", *FUNCTIONAL)
    found = right(*words, "--reuse-memory", "--json", str(path)).stdout
    assert "are overwritten, so not compared" in " ".join(found.split())
    plan = json.loads(path.read_text())["memory_plan"]
    assert plan["live_bytes"] <= plan["peak_bytes"] <= 1.05 * plan["live_bytes"]
    assert plan["peak_bytes"] < plan["apart_bytes"]
    assert plan["overwritten"]


GRAPH = attention_case(2, 20, 8, 0).graph
TINY, TIMING = PRESETS["tiny"], MemoryTiming()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_stages_are_those_of_the_strategy(strategy):
    given = GivenPlan(stages=strategy)
    assert given.options == (f"--stages {strategy}",)
    assert given.of([GRAPH], TINY, TIMING) == (staged_plan(GRAPH, TINY, TIMING, strategy),)


def test_the_best_stages_are_those_that_are_expected_to_be():
    given = GivenPlan(stages=BEST)
    assert given.of([GRAPH], TINY, TIMING) == (best_stages(GRAPH, TINY, TIMING),)


@pytest.mark.parametrize(("block", "taken"), [(1, False), (4, True)])
def test_no_stages_are_better_than_those_that_are_expected_to_be_slower(monkeypatch, block, taken):
    """Blocks of four tiles take 1.9 % fewer cycles than those of one."""
    own, staged = (planned(GRAPH, TINY, Choices(block_tiles=each)) for each in (5 - block, block))
    monkeypatch.setattr(plans, "staged_plans", lambda *_: {"dp": staged})
    monkeypatch.setattr(plans, "find_plan", lambda *_: own)
    assert best_stages(GRAPH, TINY, TIMING) == (staged if taken else own)


def test_a_log_has_the_plan_of_its_fastest_trial(tmp_path):
    graph = graph_of("matmul", MatMul(m=9, k=10, n=11))
    space = PlanSpace(only_product(graph), graph, TINY)
    path = tmp_path / "log"
    chosen = first_legal(graph)
    with open_log(path, tuning_key(graph, TINY, TIMING), "model", {None: space}) as log:
        log.add(Entry(strategy="random", trial=0, chosen=chosen, cycles=5))
    given = GivenPlan(tuned=str(path))
    assert given.of([graph], TINY, TIMING) == (space.plan(chosen),)
    other = graph_of("another", MatMul(m=9, k=10, n=12))
    assert given.of([other, graph], TINY, TIMING) == (None, space.plan(chosen))
    with pytest.raises(InputError, match="a log of another workload"):
        given.of([other, GRAPH], TINY, TIMING)


def first_legal(graph):
    space = PlanSpace(only_product(graph), graph, TINY)
    return next(each for each in space.all() if is_legal(space, each))


def is_legal(space: PlanSpace, chosen) -> bool:
    try:
        space.plan(chosen)
    except ValueError:
        return False
    return True


def test_none_is_the_compilers_own():
    assert GivenPlan().of([GRAPH, GRAPH], TINY, TIMING) == (None, None)
    assert GivenPlan().options == ()


PRODUCTS = [graph_of(name, MatMul(m=9, k=10, n=11)) for name in ("one", "two")]


def test_a_file_has_plans_of_several_graphs_by_their_names(tmp_path):
    plans = [PlanSpace(only_product(g), g, TINY).plan(first_legal(g)) for g in PRODUCTS]
    path = tmp_path / "plans.toml"
    path.write_text("\n".join(map(print_plan, reversed(plans))))
    given = GivenPlan(plan=str(path))
    assert given.of(PRODUCTS, TINY, TIMING) == tuple(plans)
    assert given.of([*PRODUCTS, GRAPH], TINY, TIMING) == (*plans, None)
    with pytest.raises(InputError, match=r"plans.toml: plan.graph: 'two' is none of 'one', '"):
        given.of([PRODUCTS[0], GRAPH], TINY, TIMING)
    path.write_text("\n".join(map(print_plan, [plans[0], plans[0]])))
    with pytest.raises(InputError, match="two plans of one graph"):
        given.of(PRODUCTS, TINY, TIMING)
    text = "\n".join(map(print_plan, plans))
    path.write_text(text.replace('graph = "two"', 'graph = "two"\nmachine = ', 1))
    line = text[: text.index('graph = "two"')].count("\n") + 2
    with pytest.raises(InputError, match=rf"plans.toml: .*line {line}"):
        given.of(PRODUCTS, TINY, TIMING)


def test_each_graph_takes_the_steps_of_a_schedule_that_name_an_operator_of_it(tmp_path):
    path = tmp_path / "schedule.toml"
    text = SCHEDULE.replace('"matmul"', '"two"')
    path.write_text(text)
    plans = GivenPlan(schedule=str(path)).of(PRODUCTS, TINY, TIMING)
    alone = [GivenPlan(schedule=str(path)).of([PRODUCTS[1]], TINY, TIMING)[0]]
    path.write_text('start = "plain"\nsteps = []')
    plain = GivenPlan(schedule=str(path)).of(PRODUCTS, TINY, TIMING)
    assert plans == (plain[0], alone[0]) != plain
    path.write_text(text.replace('"two"', '"three"'))
    with pytest.raises(InputError, match="three"):
        GivenPlan(schedule=str(path)).of(PRODUCTS, TINY, TIMING)


@pytest.mark.parametrize("given", [{"plan": "a"}, {"schedule": "b"}, {"tuned": "c"}])
def test_only_one_plan_is_given(given):
    with pytest.raises(InputError, match=r"not together with --stages best"):
        GivenPlan(**given, stages=BEST).check()
    GivenPlan(**given).check()
