"""Plans of products become programs that mean what the graph means, scheduled or not."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph_interpret import interpret as interpret_graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.program import Load
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_verify import verify as verify_program
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.schedule import schedule
from tests.sw.scheduling.products import product_graph
from tests.sw.strategies import configs, problems


def check(plan, graph, values, config):
    """Both programs of `plan` are legal, and mean what `graph` means."""
    want = interpret_graph(graph, values)["c"]
    program = expand(plan, graph)
    scheduled = schedule(program, config)
    for form in (program, scheduled):
        ops = [written.op for written in form]
        verify_program(ops, config, graph)
        found = interpret_program(ops, config, graph.tensors, values)["c"]
        np.testing.assert_array_equal(found, want)
    return program, scheduled


def without_waits(program):
    return [
        replace(written.op, after=0) if isinstance(written.op, Load) else written.op
        for written in program
    ]


@st.composite
def works(draw):
    config = draw(configs())
    return config, draw(problems(config.dim)), draw(st.integers(0, 9))


@settings(max_examples=60)
@given(works())
def test_any_product_on_any_accelerator_is_computed(work):
    config, problem, seed = work
    graph, values = product_graph(problem, seed)
    program, scheduled = check(decide(graph, config), graph, values, config)
    assert Counter(map(str, without_waits(program))) == Counter(map(str, without_waits(scheduled)))
    order = {id(written.op): index for index, written in enumerate(scheduled)}
    needs = dependences([written.op for written in scheduled], config)
    assert all(max(each, default=-1) < index for index, each in enumerate(needs))
    assert len(order) == len(program)


@st.composite
def edits(draw, plan, k_tiles):
    """`plan` of one product with other cuts, which may be illegal."""
    (stage,) = plan.stages
    rows, tiles = sum(stage.rows), sum(stage.tiles)
    last = draw(st.integers(1, tiles))
    first_rows = draw(st.integers(1, rows))
    pieces = draw(st.integers(1, min(4, k_tiles)))
    stage = replace(
        stage,
        rows=tuple(size for size in (first_rows, rows - first_rows) if size),
        tiles=tuple(size for size in (tiles - last, last) if size),
        outer=draw(st.sampled_from(("rows", "cols"))),
        a=replace(
            stage.a,
            tiles=pieces,
            first=draw(st.integers(1, pieces)),
            keep=draw(st.booleans()),
        ),
        w=replace(
            stage.w,
            k_tiles=draw(st.integers(1, 4)),
            columns=draw(st.integers(1, 4)),
            pieces=draw(st.sampled_from((1, 2))),
            keep=draw(st.booleans()),
        ),
        drain=replace(stage.drain, tiles=draw(st.integers(1, 4))),
        parts=(1, last - 1) if last > 1 and draw(st.booleans()) else (),
    )
    return replace(plan, stages=(stage,))


@settings(max_examples=60)
@given(st.data())
def test_whatever_plan_is_legal_computes_the_same(data):
    config = resolve_config("tiny")
    problem = data.draw(problems(config.dim))
    graph, values = product_graph(problem)
    plan = data.draw(edits(decide(graph, config), -(-problem.k // config.dim)))
    try:
        verify_plan(plan, graph, config)
    except PlanError:
        return
    check(plan, graph, values, config)


@pytest.mark.parametrize("preset", ["base", "rebalanced", "tiny"])
def test_a_product_with_everything(preset):
    config = resolve_config(preset)
    problem = MatMul(m=70, n=90, k=50, bias=True, scale=-0.003, relu=True)
    graph, values = product_graph(problem)
    check(decide(graph, config), graph, values, config)
