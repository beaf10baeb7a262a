"""Rows of Halide, Glow, TensorRT and IOS, on small graphs and products."""

from functools import partial

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.lab.compilers import memory, schedules, stages, tactics
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
    for module in (memory, stages):
        monkeypatch.setattr(module, "branches_case", partial(branches_case, width=48, heads=2))
    for module in (memory, stages, tactics):
        monkeypatch.setattr(module, "graph_cycles", checked)


@pytest.mark.slow
def test_stages_of_a_graph():
    row = stages.ios(silent, "decode-beside-prefill")
    assert row.cycles.keys() == {"as compiled", "sequential", "greedy", "dp"}
    assert row.right
    assert row.gain == row.cycles["sequential"] / row.cycles["dp"]


@pytest.mark.slow
def test_memory_that_is_used_again():
    row = memory.glow(silent, "texts")
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
    row = tactics.tensorrt(silent, lambda tell: case, lambda tell: [("error", 30.0)], "tiny")
    assert row.right
    planned = plan_graph(case.graph, resolve_config("tiny"))
    possible = [each for each in planned.rejected if each.cycles is not None]
    assert len(possible) > 2
    assert [*row.cycles] == ["default", "as chosen", *(f"{e.name} {e.value}" for e in possible)]
    assert row.gain == row.cycles["default"] / row.cycles["as chosen"]
    assert "calibrated by error 30.0 dB" in row.work
