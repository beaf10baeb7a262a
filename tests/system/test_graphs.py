"""Graphs on the RTL, with memories that stall and reorder: loads wait for the stores they need.

A load that did not wait would read poison, or garbage of an earlier run: memory answers reads long
before it has taken the writes.
"""

from collections.abc import Iterator
from contextlib import closing

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.fuzz.graphs.levels import check_device
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import Device
from celosia.sw.ir.graph import Mask
from celosia.sw.models.cases import (
    Case,
    attention_case,
    encoder_case,
    layernorm_case,
    matmul_case,
    random_quantized_encoder,
)
from celosia.sw.reference.encoder import EncoderShape
from tests.support.differences import difference_case
from tests.support.levels import configured
from tests.support.stored_products import stored_case

MEMORY_BYTES = 1 << 19
SLOW_WRITES = MemoryTiming(latency=60, channel_stalls=(("w", 90), ("b", 90), ("ar", 5)), seed=3)
TIMINGS = {
    "steady": MemoryTiming(latency=20),
    "stalls": MemoryTiming(latency=20, stall_percent=40, reorder=True, seed=1),
    "slow writes": SLOW_WRITES,
    "late": MemoryTiming(latency=300, reorder=True, ready_after_valid=True, seed=2),
}
SHAPE = EncoderShape(layers=2, width=24, heads=2, hidden=40)


@pytest.fixture(scope="module")
def encoder() -> Case:
    return encoder_case(random_quantized_encoder(SHAPE, 6), [4, 1, 9], seed=6)


@pytest.fixture(params=TIMINGS)
def timing(request) -> MemoryTiming:
    return TIMINGS[request.param]


@pytest.fixture(params=["tiny", "small"])
def device(request, timing) -> Iterator[Device]:
    opened = open_device("verilator", configured(request.param), timing, MEMORY_BYTES)
    with closing(opened):
        yield opened


@pytest.mark.slow
def test_random_graphs(device):
    for seed in range(30):
        check_device(
            random_case(seed, ops=4 + seed % 5, extent=(9, 20, 40)[seed % 3], combinations=True),
            device,
        )


def test_an_encoder_of_two_layers(encoder):
    timing = TIMINGS["stalls"]
    with closing(open_device("verilator", configured("tiny"), timing, MEMORY_BYTES)) as device:
        check_device(encoder, device)


def test_differences_that_saturate_or_not():
    with closing(open_device("verilator", configured("tiny"), TIMINGS["stalls"], MEMORY_BYTES)) as (
        device
    ):
        check_device(difference_case(9, 21, seed=1), device)
        check_device(difference_case(5, 8, 2, scale=-0.01, residual_scale=0.03), device)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["gemmini4", "small"])
def test_products_without_a_unit(preset):
    opened = open_device("verilator", PRESETS[preset], TIMINGS["stalls"], MEMORY_BYTES)
    with closing(opened) as device:
        for rows in (3, 40):
            check_device(stored_case(rows, 24, seed=rows), device)


@pytest.mark.slow
def test_an_encoder_of_two_layers_on_other_memories(encoder, device):
    check_device(encoder, device)


@pytest.mark.slow
def test_masked_attention(device):
    for mask in (Mask(keys=11), Mask(causal=True), Mask(keys=0)):
        check_device(attention_case(2, 35, 12, seed=3, mask=mask), device)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 7])
def test_rows_longer_than_the_memories(timing, rows):
    config = configured("tiny", accumulator_kib=1, scratchpad_kib=1, parameter_rows=8)
    with closing(open_device("verilator", config, timing, MEMORY_BYTES)) as device:
        check_device(layernorm_case(rows, 500, seed=1), device)


@pytest.mark.slow
def test_graphs_on_the_other_simulator():
    with closing(open_device("amaranth", configured("tiny"), SLOW_WRITES, MEMORY_BYTES)) as device:
        for case in (matmul_case(5, 6, 7, seed=1), random_case(3, ops=4, extent=9)):
            check_device(case, device)
