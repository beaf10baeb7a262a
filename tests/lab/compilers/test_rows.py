"""Rows of the table, on small graphs and products."""

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.lab.compilers import dialects, latency, memory, schedules, stages, tactics, workload
from celosia.lab.compilers.workload import Workload
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.lab.graphs.branches import branches_case
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.support.progress import silent
from celosia.sw.compiler.alternatives import plan_graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case


def checked(case, compiled, config, timing):
    """The expected cycles of what a functional device computes right."""
    size = compiled.end - MEMORY_BASE
    check_device(case, FunctionalDevice(config, memory_bytes=size), compiled)
    return compiled.expected(timing).cycles, True


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(workload, "graph_cycles", checked)


def alone(case):
    return Workload(case.graph.name, (case,))


@pytest.mark.slow
def test_stages_of_a_graph():
    row = stages.ios(silent, alone(branches_case("decode-beside-prefill", 0, width=48, heads=2)))
    assert row.cycles.keys() == {"as compiled", "sequential", "greedy", "dp"}
    assert row.right
    assert row.gain == row.cycles["sequential"] / row.cycles["dp"]


@pytest.mark.slow
def test_memory_that_is_used_again():
    row = memory.glow(silent, alone(branches_case("texts", 0, width=48, heads=2)))
    assert row.cycles.keys() == {"apart", "reused"}
    assert row.right
    assert row.gain == pytest.approx(1, abs=0.005)
    assert "live" in row.work


@pytest.mark.slow
def test_a_product_by_schedules():
    row = schedules.halide(silent, MatMul(m=32, n=64, k=32, scale=0.01), "tiny")
    assert row.right
    assert row.gain is not None
    assert row.gain > 3
    assert [*row.cycles.values()][:4] == sorted([*row.cycles.values()][:4], reverse=True)


def test_tactics_and_each_alternative_of_a_plan():
    case = attention_case(1, 16, 16, 0)
    row = tactics.tensorrt(silent, alone(case), lambda tell: [("error", 30.0)], "tiny")
    assert row.right
    planned = plan_graph(case.graph, resolve_config("tiny"))
    possible = [each for each in planned.rejected if each.cycles is not None]
    assert len(possible) > 2
    assert [*row.cycles] == ["default", "as chosen", *(f"{e.name} {e.value}" for e in possible)]
    assert row.gain == row.cycles["default"] / row.cycles["as chosen"]
    assert "calibrated by error 30.0 dB" in row.work


def test_units_by_turns_and_plans_that_decide_nothing_take_longer():
    small = alone(attention_case(1, 24, 16, 0))
    turns, plain = latency.tvm_of(silent, small, "tiny"), schedules.halide_of(silent, small, "tiny")
    assert [*turns.cycles] == ["serial", "as compiled"]
    assert [*plain.cycles] == ["plain", "the compiler's"]
    assert turns.cycles["as compiled"] == plain.cycles["the compiler's"]
    macs, peak = 2 * 24 * 24 * 16, resolve_config("tiny").macs_per_cycle
    assert turns.work.endswith(f"and {macs / peak / turns.cycles['as compiled']:.1%} of the peak")
    for row in (turns, plain):
        assert row.right
        assert (row.gain or 0) > 1.2


def test_graphs_of_a_model_take_what_each_takes_and_are_wrong_if_one_is(monkeypatch):
    case = attention_case(1, 16, 16, 0)
    one, two = alone(case), Workload("two", (case, case))
    once, twice = (dialects.mlir(silent, each) for each in (one, two))
    assert twice.cycles == {way: 2 * cycles for way, cycles in once.cycles.items()}
    assert once.cycles["as it is"] == once.cycles["from its text"]
    assert twice.right
    answers = iter([(5, True), (7, False), (5, True), (7, True)])
    monkeypatch.setattr(workload, "graph_cycles", lambda *_: next(answers))
    found = dialects.mlir(silent, two)
    assert found.cycles == {"as it is": 12, "from its text": 12}
    assert not found.right
