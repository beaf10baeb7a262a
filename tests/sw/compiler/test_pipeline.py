"""From a product to results: every plan means the same product, on every accelerator."""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import (
    Check,
    Compress,
    Encode,
    Expand,
    Schedule,
    predict,
)
from celosia.sw.compiler.pipeline import PASSES, Decide, find_plan, passes
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.search import product_plans
from celosia.sw.reference.matmul import matmul_reference
from tests.support.levels import CONFIGS
from tests.sw.strategies import configs, operands, problems

GUARD = bytes([0x5A]) * 64
BASE = PRESETS["base"]
LEAST = CONFIGS["least"]
"""Half its accumulator holds but a part of rows of 90 columns."""


def check(problem: MatMul, graph: Graph, config: AcceleratorConfig, plan: Plan) -> None:
    """Commands give the result of the definition, and write nothing else."""
    a, b, bias = operands(problem)
    upright = b.T if problem.b_transposed else b
    expected = matmul_reference(a, upright, bias, scale=problem.scale, relu=problem.relu)
    compiled = compile_graph(graph, config, Decide(plan), Encode(base=MEMORY_BASE + 64))
    device = FunctionalDevice(config, memory_bytes=1 << 20)
    device.write(MEMORY_BASE, GUARD)
    for name, values in (("a", a), ("b", b), *([] if bias is None else [("bias", bias)])):
        device.write(compiled.addresses[name], values.tobytes())
    c = compiled.addresses["c"]
    device.write(c, GUARD * (1 + expected.nbytes // 64 + 1))
    device.run(compiled.program)
    assert device.read(c, expected.nbytes) == expected.tobytes()
    assert device.read(MEMORY_BASE, 64) == GUARD
    assert device.read(c + expected.nbytes, 64) == GUARD


@given(st.data())
def test_the_decided_plan_gives_the_right_result(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 16)))
    graph = graph_of("product", problem)
    check(problem, graph, config, decide(graph, config))


@given(st.data())
def test_every_plan_of_the_search_gives_the_right_result(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    graph = graph_of("product", problem)
    plans = list(product_plans(only_product(graph), graph, config))
    check(problem, graph, config, data.draw(st.sampled_from(plans)))


@settings(max_examples=15)
@given(st.data())
def test_the_best_plan_gives_the_right_result(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    graph = graph_of("product", problem)
    check(problem, graph, config, find_plan(graph, config))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (64, 64, 64), (100, 300, 200), (3, 200, 1), (1, 5, 300)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_larger_products_on_base(shape, transposed):
    m, n, k = shape
    problem = MatMul(m=m, n=n, k=k, b_transposed=transposed, bias=True, scale=0.001)
    graph = graph_of("product", problem)
    check(problem, graph, BASE, decide(graph, BASE))


def test_a_bias_too_large_for_the_parameter_memory_is_exchanged():
    config = PRESETS["tiny"].with_values({"parameter_rows": 8})
    problem = MatMul(m=9, n=100, k=5, bias=True)
    graph = graph_of("product", problem)
    plan = decide(graph, config)
    assert sum(only_stage(plan).tiles) > config.parameter_rows
    check(problem, graph, config, plan)


@pytest.mark.parametrize(
    ("sizes", "form", "timing", "cycles"),
    # Measured on the RTL in Verilator.
    [
        ((64, 64, 64), {}, {}, 1250),
        # Of the same kind as the one before.
        pytest.param((128, 128, 128), {}, {}, 8418, marks=pytest.mark.slow),
        ((128, 128, 64), {"b_transposed": True}, {}, 4377),
        ((1, 768, 768), {}, {}, 37_310),
        ((512, 64, 512), {}, {}, 65_890),
        ((189, 124, 758), {}, {"latency": 1}, 72_882),
        ((688, 99, 465), {"scale": None}, {"latency": 20}, 144_945),
    ],
)
def test_predictions_of_products_are_near_the_rtl(sizes, form, timing, cycles):
    m, n, k = sizes
    problem = MatMul(m=m, n=n, k=k, **{"scale": 0.01, "bias": True, **form})
    graph, memory = graph_of("product", problem), MemoryTiming(**timing)
    plan = find_plan(graph, BASE, memory)
    found = compile_graph(graph, BASE, timing=memory).expected(memory)
    assert found.cycles == pytest.approx(cycles, rel=0.02)
    assert found == predict(graph, BASE, plan, memory)


def test_a_graph_that_is_not_well_formed_is_refused():
    graph = attention_case(2, 5, 4, seed=1).graph
    with pytest.raises(ValueError, match="another operator has this name"):
        compile_graph(replace(graph, ops=(*graph.ops, graph.ops[0])), PRESETS["tiny"])


def test_passes_that_are_given_take_the_places_of_their_namesakes():
    graph = attention_case(1, 5, 4, seed=1).graph
    how = Compress(loops=False), Decide(DEFAULT)
    applied = [each for each, _ in passes(graph, PRESETS["tiny"], *how)]
    assert applied == [Check(), how[1], Expand(), Schedule(), Encode(), how[0]]


def test_plans_are_compared_for_a_memory_only(monkeypatch):
    def compared(*_, **__):
        raise ValueError("compared")

    monkeypatch.setattr("celosia.sw.compiler.pipeline.find_plan", compared)
    graph = attention_case(1, 5, 4, seed=1).graph
    assert compile_graph(graph, PRESETS["tiny"]).program
    with pytest.raises(ValueError, match="compared"):
        compile_graph(graph, PRESETS["tiny"], timing=MemoryTiming())


def test_the_table_of_passes_is_the_list():
    text = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for each in PASSES:
        assert each.leaves in CompiledGraph.__annotations__
        arguments = ", ".join(f"`{field.name}`" for field in fields(each))
        row = f"| `{each.name}` | `{type(each).__name__}` | {arguments}"
        assert f"{row.rstrip()} | " in text, row
