"""Rows of Halide, Glow and IOS, on small graphs and products."""

from functools import partial

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.sim.bench.compilers import memory, schedules, stages
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.fuzz.graphs.levels import check_device
from celosia.sim.support.progress import silent
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.branches import branches_case
from celosia.sw.pipeline import predict_graph


def checked(case, compiled, config, timing):
    """The expected cycles of what a functional device computes right."""
    size = compiled.end - MEMORY_BASE
    check_device(case, FunctionalDevice(config, memory_bytes=size), compiled)
    return predict_graph(compiled, config, timing).cycles, True


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module in (memory, stages):
        monkeypatch.setattr(module, "branches_case", partial(branches_case, width=48, heads=2))
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
