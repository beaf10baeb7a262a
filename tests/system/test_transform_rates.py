"""How fast TRANSFORMs are on preset `base`.

The counter of cycles counts from the first command to the last word written or fact derived.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from celosia.isa.encoding import Command, ElementType, Function
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from tests.support.transforms import accumulator_row, scratchpad_row, transform

CONFIG = PRESETS["base"]
BLOCK = 16
"""Rows of a block."""
ROWS = 128
BANK = CONFIG.scratchpad_bank_rows
RESULTS = 3 * BANK
SLACK = 1.05
LANES = CONFIG.lanes
TURNS = 2
"""A part of GELU goes through the scaler before the polynomial, and behind it."""


def block(function: Function, number: int, cols: int, **settings: Any) -> list[Command]:
    """Block `number` of a matrix of so many columns in the accumulator, half of which it takes."""
    words = {ElementType.INT16: 2}.get(settings.get("type", ElementType.INT8), 1)
    rows = {"source_stride": BLOCK, "target_stride": BLOCK, "residual_stride": BLOCK}
    size = words * BLOCK * (cols // CONFIG.dim)
    half = number % 2 * (CONFIG.accumulator_rows // 2)
    return transform(
        function,
        shape=(BLOCK, cols),
        source=accumulator_row(half),
        target=scratchpad_row(RESULTS + number % (BANK // size) * size),
        rows=rows | {"residual": scratchpad_row(0)},
        statistics=number % 2 * BLOCK,
        **settings,
    )


def softmax() -> Iterator[Command]:
    for number in range(ROWS // BLOCK):
        yield from block(Function.MAXIMUM, number, 512, start=1)
        kind = ElementType.UINT8
        yield from block(Function.EXPONENT, number, 512, start=1, finish=1, type=kind)


def moments(number: int) -> list[Command]:
    return transform(
        Function.MOMENTS,
        shape=(BLOCK, 768),
        source=scratchpad_row(number * BLOCK * 96),
        rows={"source_stride": BLOCK},
        norm={"channels": 768},
        start=1,
        finish=1,
        statistics=number % 2 * BLOCK,
    )


def layernorm() -> Iterator[Command]:
    """The sums of the next block before the results of this one; gamma and beta of half a row."""
    blocks = ROWS // BLOCK
    yield from moments(0)
    for number in range(blocks):
        if number + 1 < blocks:
            yield from moments(number + 1)
        for half in range(2):
            yield from transform(
                Function.LAYERNORM,
                shape=(BLOCK, 384),
                source=scratchpad_row(number * BLOCK * 96 + half * BLOCK * 48),
                target=scratchpad_row(RESULTS + (2 * number + half) % 8 * BLOCK * 24),
                rows={"source_stride": BLOCK, "target_stride": BLOCK},
                norm={"channels": 768, "shift": 18},
                type=ElementType.INT8,
                statistics=number % 2 * BLOCK,
            )


def gelu() -> Iterator[Command]:
    for number in range(ROWS // BLOCK):
        yield from block(Function.GELU, number, 512, type=ElementType.INT8)


def residual() -> Iterator[Command]:
    for number in range(ROWS // BLOCK):
        yield from block(Function.RESIDUAL, number, 512, type=ElementType.INT16)


def reciprocals() -> list[Command]:
    """Rows that are short, so that the divider sets the pace."""
    return transform(
        Function.SUM,
        shape=(ROWS, 16),
        source=accumulator_row(0),
        start=1,
        finish=1,
    )


def roots() -> list[Command]:
    return transform(
        Function.MOMENTS,
        shape=(ROWS, 16),
        source=scratchpad_row(0),
        norm={"channels": 16},
        start=1,
        finish=1,
    )


@pytest.fixture(scope="module")
def device():
    with closing(open_device("verilator", CONFIG, MemoryTiming(), 1 << 16)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("program", "cycles", "most"),
    [
        (softmax, ROWS * (512 // 16 + 512 // LANES), SLACK),
        (layernorm, 2 * ROWS * 768 // 8, SLACK),
        (gelu, TURNS * ROWS * 512 // LANES, SLACK),
        (residual, 2 * ROWS * 512 // LANES, SLACK),
        (reciprocals, ROWS * 16, SLACK),
        (roots, ROWS * 40, 1),
    ],
)
def test_rates(device, program, cycles, most):
    """At least as fast as promised; and not faster than possible, so that something is measured."""
    took = device.run([*program()], "stream").counters["cycles"]
    assert 0.8 * cycles <= took <= most * cycles


@pytest.fixture(scope="module")
def four_lanes():
    config = replace(CONFIG, vector_lanes=4)
    with closing(open_device("verilator", config, MemoryTiming(), 1 << 16)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("program", "cycles"),
    [
        (softmax, ROWS * (512 // 16 + 512 // 4)),
        (layernorm, 2 * ROWS * 768 // 4),
        (gelu, TURNS * ROWS * 512 // 4),
        (residual, 2 * ROWS * 512 // 4),
    ],
)
def test_rates_of_four_lanes(four_lanes, program, cycles):
    """Maxima are found of whole rows; everything else takes a cycle for four elements."""
    took = four_lanes.run([*program()], "stream").counters["cycles"]
    assert 0.8 * cycles <= took <= SLACK * cycles
