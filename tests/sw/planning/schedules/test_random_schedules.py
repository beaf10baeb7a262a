"""Every plan that random schedules lead to computes the same."""

from collections import Counter
from random import Random

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from tests.sw.planning.schedules.random_schedules import CONFIG, cases, draw


def _check(numbers: range, least: float, spread: float) -> None:
    """Random plans of these seeds: right, with each primitive in some, and of various speeds."""
    kinds, cycles = Counter(), {number: [] for number in range(len(cases()))}
    for seed in numbers:
        drawn = draw(Random(seed))
        case = cases()[drawn.case]
        compiled = compile_graph(case.graph, CONFIG, Decide(drawn.plan))
        device = FunctionalDevice(CONFIG, memory_bytes=compiled.end - MEMORY_BASE)
        check_device(case, device, compiled)
        kinds.update({step.kind for step in drawn.steps})
        cycles[drawn.case].append(compiled.expected(None).cycles)
    assert len(kinds) == 9, kinds
    assert min(kinds.values()) >= least * len(numbers), kinds
    assert max(max(each) / min(each) for each in cycles.values()) >= spread


def test_a_sample_computes_the_same():
    _check(range(25), least=0.04, spread=3)


@pytest.mark.nightly
def test_ten_thousand_compute_the_same():
    _check(range(10_000), least=0.05, spread=3)


@pytest.mark.nightly
def test_two_hundred_compute_the_same_on_the_rtl():
    config = resolve_config("tiny")
    device = open_device("verilator", config, MemoryTiming(), 1 << 20)
    for seed in range(200):
        drawn = draw(Random(f"rtl {seed}"))
        case = cases()[drawn.case]
        check_device(case, device, compile_graph(case.graph, config, Decide(drawn.plan)))
    device.close()
