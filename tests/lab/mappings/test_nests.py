"""The model of nests: bytes are exact, and cycles near the timeline's, of bad plans, too."""

from itertools import islice
from random import Random

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.mappings.nests import Nests
from celosia.lab.mappings.samplers import Sampler, draws
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.program import Load, LoadParameters
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of

TIMING = MemoryTiming()
PROBLEMS = [
    MatMul(m=200, n=136, k=264, scale=0.01, bias=True),
    MatMul(m=40, n=250, k=130, b_transposed=True),
    MatMul(m=9, n=100, k=16, scale=0.5),
]


def space_of(problem, preset="base", *overrides):
    graph = graph_of("product", problem)
    return PlanSpace(only_product(graph), graph, resolve_config(preset, overrides))


def some(space, count, seed=0):
    return [plan for _, plan in islice(draws(space, Sampler.UNIFORM, Random(seed)), count)]


def follow(space, plan, timing=TIMING):
    return Nests(space.op, space.graph, space.config, timing).follow(plan)


def loaded_bytes(space, plan):
    loads = [
        written.op.view
        for written in compile_graph(space.graph, space.config, Decide(plan)).ops
        if isinstance(written.op, Load | LoadParameters)
    ]
    wide = {"int8": 1, "int32": 4}
    types = space.graph.tensors
    return sum(view.rows * view.cols * wide[types[view.tensor].type] for view in loads)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bytes_are_those_of_the_program(problem):
    space = space_of(problem, "base", "parameter_rows=32")
    for plan in some(space, 8):
        found = follow(space, plan)
        exact = loaded_bytes(space, plan)
        # A bias counts whole tiles, and is loaded again a little less often than counted.
        most = 0 if space.op.bias is None else 4 * 144 * len(only_stage(plan).rows)
        assert exact <= found.read_bytes <= exact + most


@pytest.mark.parametrize("preset", ["base", "tiny"])
def test_cycles_are_near_those_of_the_timeline(preset):
    errors = []
    size = resolve_config(preset, ()).dim
    for m, n, k in ((9, 7, 11), (3, 12, 6)):
        problem = MatMul(m=m * size, n=n * size - 1, k=k * size - 2, scale=0.01, bias=True)
        space = space_of(problem, preset)
        for plan in some(space, 8):
            expected = predict(space.graph, space.config, plan, TIMING).cycles
            errors.append(abs(follow(space, plan).cycles / expected - 1))
    assert sum(errors) / len(errors) < 0.06
    assert max(errors) < 0.4


@pytest.mark.parametrize(
    "chosen",
    [
        # Each piece is loaded again for each block, so that the array waits for every one.
        {"block_rows": 2, "block_columns": 2, "a_tiles": 4, "b_k_tiles": 16, "a_banks": 1},
        {"block_rows": 1, "block_columns": 3, "a_tiles": 4, "b_k_tiles": 16, "a_banks": 3},
        {"block_rows": 3, "block_columns": 24, "a_tiles": 4, "b_k_tiles": 4, "a_banks": 3},
    ],
)
def test_the_array_waits_for_whole_pieces(chosen):
    space = space_of(MatMul(m=49, n=512, k=576, scale=0.01))
    others = {"outer": "cols", "a_first": "all", "a_keep": False, "b_n_tiles": 4, "b_keep": False}
    plan = space.plan(chosen | others | {"tail": "none"})
    expected = predict(space.graph, space.config, plan, TIMING).cycles
    # What is left is the latency of memory, which overlaps by parts in the timeline.
    assert follow(space, plan).cycles == pytest.approx(expected, rel=0.05)


def test_one_bank_for_an_operand_that_streams_costs_what_is_loaded():
    # Rows of A are loaded for every block of columns, and the array reads the same bank.
    space = space_of(MatMul(m=256, n=512, k=512, scale=0.01))
    chosen = {name: values[-1] for name, values in space.choices.items()} | {
        "block_rows": 8,
        "block_columns": 4,
        "outer": "cols",
        "a_tiles": 4,
        "a_keep": False,
        "b_k_tiles": 4,
        "b_n_tiles": 2,
        "tail": "none",
    }
    one = follow(space, space.plan(chosen | {"a_banks": 1})).cycles
    two = follow(space, space.plan(chosen | {"a_banks": 2})).cycles
    assert one > 1.15 * two


def test_a_slow_memory_costs_cycles():
    space = space_of(PROBLEMS[0])
    (plan,) = some(space, 1)
    cycles = [
        follow(space, plan, MemoryTiming(latency=latency, bytes_per_cycle=rate)).cycles
        for latency, rate in ((40, 16), (400, 16), (400, 2))
    ]
    assert sorted(cycles) == cycles
    assert cycles[2] > 2 * cycles[0]
