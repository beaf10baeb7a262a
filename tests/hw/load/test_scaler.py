"""`LoadScaler` against its definition in `celosia.isa.numerics`."""

import random

import numpy as np
import pytest

from celosia.hw.load.scaler import LoadScaler
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.numerics import mvin_scale, scale_from_bits
from celosia.isa.presets import PRESETS
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

WIDE = AcceleratorConfig(dim=64, bus_bits=512, scratchpad_kib=256, accumulator_kib=256)
"""64 lanes: all values of an element in four steps."""

SPECIAL = [
    *(0x0000_0000, 0x0000_0001, 0x007F_FFFF, 0x0080_0000),  # Zero, subnormals, the least normal.
    *(0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF),  # Largest, infinity, NaNs.
    *(float_bits(scale) for scale in (1.0, 0.5, 2.0, 1 / 3, 0.1, 1.5, 127.0, 128.0, 255.0)),
    *(0x3B80_0000 - 1, 0x3B80_0000, 0x3B80_0000 + 1),  # Around 2^-8: 128 becomes one half.
    *(0x4300_0000 - 1, 0x4300_0000),  # Around 2^7.
]


def double_rounding_scales() -> list[int]:
    """Scales with which rounding once, from the exact product, would be wrong for some element."""
    scales = set()
    for x in range(3, 128, 2):
        for half in range(1, 256, 2):  # Scales next to half / 2 / x, whose product is almost a tie.
            near = int(np.float32(half / 2 / x).view(np.uint32))
            for bits in (near - 1, near, near + 1):
                exact = float(scale_from_bits(bits)) * x
                if np.rint(exact) != np.rint(np.float32(exact)):
                    scales.add(bits)
    return sorted(scales)


def scales(count: int, seed: int) -> list[int]:
    """Random scales, most of them between 2^-9 and 2^8, where results differ."""
    rng = random.Random(seed)
    exponents = [rng.choice([rng.randrange(256), rng.randrange(118, 136)]) for _ in range(count)]
    return [rng.getrandbits(1) << 31 | e << 23 | rng.getrandbits(23) for e in exponents]


def check(config: AcceleratorConfig, steps: list[tuple[int, list[int]]], seed: int = 0) -> None:
    """Scale each (scale, elements) of `steps`, while ``advance`` comes and goes."""
    dut, rng = shared_design(LoadScaler, config), random.Random(seed)
    results = []

    async def testbench(ctx):
        idle = [(None, [0] * dut.lanes)] * dut.LATENCY
        for scale, elements in [*steps, *idle]:
            while rng.random() < 0.2:
                ctx.set(dut.advance, 0)
                ctx.set(dut.elements, [rng.randrange(-128, 128) for _ in range(dut.lanes)])
                await ctx.tick()
            results.append([ctx.get(result) for result in dut.results])
            ctx.set(dut.advance, 1)
            ctx.set(dut.enable, scale is not None)
            ctx.set(dut.scale, scale or 0)
            ctx.set(dut.elements, elements)
            await ctx.tick()
        results.append([ctx.get(result) for result in dut.results])

    simulate(dut, testbench, deadline=100_000)
    # The last result is there after the last but one of `LATENCY` idle moves.
    for (scale, elements), result in zip(steps, results[dut.LATENCY :], strict=False):
        expected = mvin_scale(np.array(elements, np.int8), scale_from_bits(scale))
        assert result == expected.tolist(), f"scale {scale:#x}, elements {elements}"


def all_elements(bits: int) -> list[tuple[int, list[int]]]:
    return [(bits, list(range(low, low + 64))) for low in range(-128, 128, 64)]


def test_special_scales():
    check(WIDE, [step for bits in SPECIAL for s in (0, 1 << 31) for step in all_elements(bits | s)])


def test_rounds_to_float32_before_it_rounds_to_an_integer():
    found = double_rounding_scales()
    assert len(found) > 50
    check(WIDE, [step for bits in found[:: len(found) // 50] for step in all_elements(bits)])


def test_random_scales():
    check(WIDE, [step for bits in scales(150, seed=0) for step in all_elements(bits)])


@pytest.mark.parametrize("name", ["tiny", "base"])
def test_other_numbers_of_lanes(name):
    config, rng = PRESETS[name], random.Random(1)
    lanes = LoadScaler(config).lanes
    steps = [(bits, [rng.randrange(-128, 128) for _ in range(lanes)]) for bits in scales(100, 2)]
    check(config, steps)


def test_elements_without_enable_leave_the_lanes_alone():
    dut, results = shared_design(LoadScaler, PRESETS["tiny"]), []

    async def testbench(ctx):
        ctx.set(dut.advance, 1)
        ctx.set(dut.scale, float_bits(2.0))
        for enable in (1, 0, 0, 0):
            ctx.set(dut.enable, enable)
            ctx.set(dut.elements, [3 if enable else 99] * dut.lanes)
            await ctx.tick()
            results.append([ctx.get(result) for result in dut.results])

    simulate(dut, testbench)
    assert results[dut.LATENCY - 1] == [6] * dut.lanes
