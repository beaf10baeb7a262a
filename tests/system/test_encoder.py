"""A whole encoder on the RTL of the main preset: every tensor, and whose the cycles are."""

from contextlib import closing
from functools import cache

import pytest

from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import TABLES
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_graph
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import ISSUES
from celosia.sw.models.cases import encoder_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape

BASE = PRESETS["base"]
SHAPE = EncoderShape(layers=2, width=64, heads=2, hidden=128)


@cache
def case():
    return encoder_case(random_quantized_encoder(SHAPE, 0), [7, 20], 0)


@pytest.mark.parametrize("issue", ISSUES)
def test_an_encoder_of_two_layers_is_right_on_verilator(issue):
    with closing(open_device("verilator", BASE)) as device:
        measured = checked_graph(
            "encoder", device, compile_graph(case().graph, BASE), case(), issue
        )
    whole, groups = measured.whole, measured.groups
    assert whole.right
    assert len(measured.program.on_chip) == 2 * 2 * 2
    graph = case().graph
    given = {*graph.constants, *graph.inputs, *measured.program.on_chip}
    shapes = [tensor.shape for name, tensor in graph.tensors.items() if name not in given]
    assert whole.elements_checked == sum(rows * cols for rows, cols in shapes)
    timed = [group for group in groups if group.cycles is not None]
    assert [group.name for group in groups if group.cycles is None] == ["norm"]
    assert sum(group.cycles or 0 for group in timed) == whole.counters["cycles"]
    for group in timed:
        for unit in TABLES:
            assert sum(group.counters[owner.name] for owner in unit.owners) == group.cycles
        assert group.counters["array_rows"] > 0
        assert 0 < (group.utilization(BASE) or 0) <= 1
