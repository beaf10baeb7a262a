"""How fast TRANSFORMs are on preset `base`, and on a smaller array with a quarter of its lanes.

The counter of cycles counts from the first command to the last word written or fact derived.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, ElementType, Function
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import Device
from tests.support.levels import configured
from tests.support.transforms import accumulator_row, scratchpad_row, transform

HALF = PRESETS["base"]
QUARTER = configured("small", vector_lanes=2)
"""With a simulator of its own, which only nights have time for."""
BLOCK = 16
"""Rows of a block."""
ROWS = 128
WIDTH, LONG_WIDTH = 32, 48
"""Local rows of int32 of a row, and of one that is normalized."""
SLACK = 1.05
TURNS = 2
"""A part of GELU goes through the scaler before the polynomial, and behind it."""

Program = Callable[[AcceleratorConfig], Iterator[Command]]


def results(config: AcceleratorConfig) -> int:
    """The first row of the scratchpad's last bank."""
    return config.scratchpad_rows - config.scratchpad_bank_rows


def block(
    config: AcceleratorConfig, function: Function, number: int, **settings: Any
) -> list[Command]:
    """Block `number` of a matrix in the accumulator, half of which it takes."""
    words = {ElementType.INT16: 2}.get(settings.get("type", ElementType.INT8), 1)
    rows = {"source_stride": BLOCK, "target_stride": BLOCK, "residual_stride": BLOCK}
    size = words * BLOCK * WIDTH
    half = number % 2 * (config.accumulator_rows // 2)
    places = config.scratchpad_bank_rows // size
    return transform(
        function,
        shape=(BLOCK, WIDTH * config.dim),
        source=accumulator_row(half),
        target=scratchpad_row(results(config) + number % places * size),
        rows=rows | {"residual": scratchpad_row(0)},
        statistics=number % 2 * BLOCK,
        **settings,
    )


def blocks(
    function: Function, kind: ElementType, config: AcceleratorConfig, **settings: Any
) -> Iterator[Command]:
    for number in range(ROWS // BLOCK):
        yield from block(config, function, number, type=kind, **settings)


gelu = partial(blocks, Function.GELU, ElementType.INT8)
residual = partial(blocks, Function.RESIDUAL, ElementType.INT16)


def softmax(config: AcceleratorConfig) -> Iterator[Command]:
    for number in range(ROWS // BLOCK):
        yield from block(config, Function.MAXIMUM, number, start=1)
        kind = ElementType.UINT8
        yield from block(config, Function.EXPONENT, number, start=1, finish=1, type=kind)


def moments(config: AcceleratorConfig, number: int) -> list[Command]:
    channels = LONG_WIDTH * config.dim
    return transform(
        Function.MOMENTS,
        shape=(BLOCK, channels),
        source=scratchpad_row(number * BLOCK * 2 * LONG_WIDTH),
        rows={"source_stride": BLOCK},
        norm={"channels": channels},
        start=1,
        finish=1,
        statistics=number % 2 * BLOCK,
    )


def layernorm(config: AcceleratorConfig) -> Iterator[Command]:
    """The sums of the next block before the results of this one; gamma and beta of half a row."""
    number_of_blocks, channels = ROWS // BLOCK, LONG_WIDTH * config.dim
    size = BLOCK * LONG_WIDTH
    places = config.scratchpad_bank_rows // (size // 2)
    sources = results(config) // (2 * size)
    yield from moments(config, 0)
    for number in range(number_of_blocks):
        if number + 1 < number_of_blocks:
            yield from moments(config, (number + 1) % sources)
        for half in range(2):
            yield from transform(
                Function.LAYERNORM,
                shape=(BLOCK, channels // 2),
                source=scratchpad_row(number % sources * 2 * size + half * size),
                target=scratchpad_row(results(config) + (2 * number + half) % places * size // 2),
                rows={"source_stride": BLOCK, "target_stride": BLOCK},
                norm={"channels": channels, "shift": 18},
                type=ElementType.INT8,
                statistics=number % 2 * BLOCK,
            )


def reciprocals(config: AcceleratorConfig) -> Iterator[Command]:
    """Rows that are short, so that the divider sets the pace."""
    yield from transform(
        Function.SUM,
        shape=(ROWS, config.dim),
        source=accumulator_row(0),
        start=1,
        finish=1,
    )


def roots(config: AcceleratorConfig) -> Iterator[Command]:
    yield from transform(
        Function.MOMENTS,
        shape=(ROWS, config.dim),
        source=scratchpad_row(0),
        norm={"channels": config.dim},
        start=1,
        finish=1,
    )


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(HALF, id="half"),
        pytest.param(QUARTER, id="quarter", marks=pytest.mark.slow),
    ],
)
def device(request) -> Iterator[Device]:
    with closing(open_device("verilator", request.param, MemoryTiming(), 1 << 16)) as opened:
        yield opened


def measured(device: Device, program: Program) -> int:
    return device.run([*program(device.config)], "stream").counters["cycles"]


@pytest.mark.parametrize(
    ("program", "turns", "width"),
    [(layernorm, 2, LONG_WIDTH), (gelu, TURNS, WIDTH), (residual, 2, WIDTH)],
)
def test_each_turn_of_the_lanes_takes_a_cycle(device, program, turns, width):
    """Not slower than promised; and not faster than possible, so that something is measured."""
    cycles = turns * ROWS * width * device.config.row_parts
    assert 0.8 * cycles <= measured(device, program) <= SLACK * cycles


def test_maxima_are_found_of_whole_rows(device):
    cycles = ROWS * WIDTH * (1 + device.config.row_parts)
    assert 0.8 * cycles <= measured(device, softmax) <= SLACK * cycles


@pytest.mark.parametrize(("program", "cycles", "most"), [(reciprocals, 16, SLACK), (roots, 40, 1)])
def test_what_is_computed_in_the_background_sets_the_pace_of_short_rows(
    device, program, cycles, most
):
    assert 0.8 * ROWS * cycles <= measured(device, program) <= most * ROWS * cycles
