"""Accelerators with short scales: right results, and the same SCALE errors on every simulator."""

from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_DRAIN,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TRANSFORM,
    KEEP_SCALE,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    REPEAT,
    TRANSFORM,
    Command,
    ElementType,
    Function,
    float_bits,
)
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import Device, DeviceError, Issue
from tests.support.cramped import CRAMPED
from tests.support.transforms import accumulator_row, scratchpad_row, transform

DIM = CRAMPED.dim
MEMORY_BYTES = 1 << 16
SCALES, OUT = MEMORY_BASE, MEMORY_BASE + 4096
SHORT, LONG = 1.0078125, 1.00390625
"""Eight bits, and nine."""
COLS = DIM + 3


def ran(
    device: Device, commands: Sequence[Command], scales: Sequence[float], issue: Issue
) -> object:
    """What became of `commands`: the cause and the command at fault, or all of memory.

    Parameters come from where memory begins with `scales`.
    """
    device.write(SCALES, np.array(scales, "<f4").tobytes())
    device.write(OUT, bytes(64))
    try:
        device.run(commands, issue)
    except DeviceError as error:
        return error.cause, error.command, device.read(OUT, 64)
    return device.read(MEMORY_BASE, MEMORY_BYTES)


def both(
    commands: Sequence[Command],
    scales: Sequence[float] = (),
    *,
    config: AcceleratorConfig = CRAMPED,
    simulator: str = "verilator",
    issue: Issue = "stream",
) -> object:
    """What became of them on the functional model and on the RTL, which agree."""
    found = []
    for name in ("functional", simulator):
        device = open_device(name, config, MemoryTiming(), MEMORY_BYTES)
        with closing(device):
            found.append(ran(device, commands, scales, issue))
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("command", "legal"),
    [
        (CONFIG_LD.encode(scale=float_bits(SHORT)), True),
        (CONFIG_LD.encode(scale=float_bits(LONG)), False),
        (CONFIG_LD.encode(set=3, scale=float_bits(LONG)), None),
        (CONFIG_ST.encode(scale=float_bits(SHORT)), True),
        (CONFIG_ST.encode(scale=float_bits(LONG)), False),
        (CONFIG_ST.encode(scale=KEEP_SCALE), True),
        (CONFIG_ST.encode(scale=KEEP_SCALE - 1), False),
        (CONFIG_TRANSFORM.encode(scale=float_bits(-SHORT), scale2=float_bits(SHORT)), True),
        (CONFIG_TRANSFORM.encode(scale=float_bits(-LONG)), False),
        (CONFIG_TRANSFORM.encode(scale2=float_bits(LONG)), False),
        (CONFIG_DRAIN.encode(bias_row=0xFFFF), True),
    ],
)
def test_a_command_with_a_long_scale_is_an_error(command, legal):
    result = both([CONFIG_ST.encode(), command, CONFIG_ST.encode()])
    if legal:
        assert isinstance(result, bytes)
    else:
        cause = Cause.UNSUPPORTED if legal is None else Cause.SCALE
        assert result == (cause, 1, bytes(64))


def transformed(function: Function, kind: ElementType) -> list[Command]:
    """Rows of int32 that are transformed with the scales of columns, and stored."""
    return [
        MVIN_PARAM.encode(dram=SCALES, row=0, count=COLS + 1),
        CONFIG_LD.encode(stride=64),
        MVIN.encode(
            dram=MEMORY_BASE + 1024, local=accumulator_row(8), local_cols=DIM, local_rows=4
        ),
        MVIN.encode(
            dram=MEMORY_BASE + 1024, local=scratchpad_row(64), local_cols=DIM, local_rows=8
        ),
        *(
            command
            for known in (Function.MAXIMUM, Function.SUM)
            for command in transform(
                known, shape=(2, DIM), source=accumulator_row(8), start=1, finish=1
            )
        ),
        *transform(
            function,
            shape=(2, COLS),
            source=accumulator_row(8),
            target=scratchpad_row(32),
            type=kind,
            column_scale=1,
            start=1,
            rows={"source_stride": 2, "target_stride": 2, "residual": 64, "residual_stride": 2},
        ),
        CONFIG_ST.encode(stride=16),
        MVOUT.encode(dram=OUT, local=scratchpad_row(32), local_cols=DIM, local_rows=2),
    ]


def last_transform(commands: Sequence[Command]) -> int:
    return max(n for n, each in enumerate(commands) if TRANSFORM.matches(each))


FUNCTIONS = {
    Function.REQUANTIZE: ElementType.INT8,
    Function.GELU: ElementType.UINT8,
    Function.RESIDUAL: ElementType.INT16,
    Function.CONTEXT: ElementType.INT16,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("column", [*range(COLS), None])
def test_a_column_with_a_long_scale_is_an_error(function, column):
    commands = transformed(function, FUNCTIONS[function])
    scales = [LONG if each == column else SHORT for each in range(COLS)]
    result = both(commands, [*scales, LONG])  # The last one is of no column.
    if column is None:
        assert isinstance(result, bytes)
    else:
        assert result == (Cause.SCALE, last_transform(commands), bytes(64))


def test_what_is_not_scaled_may_have_long_scales():
    commands = transformed(Function.REQUANTIZE, ElementType.INT32)
    assert isinstance(both(commands, [LONG] * COLS), bytes)


def test_the_first_of_two_transforms_is_at_fault():
    first = transformed(Function.CONTEXT, ElementType.INT16)
    second = transformed(Function.REQUANTIZE, ElementType.INT8)
    at_fault = (Cause.SCALE, last_transform(first), bytes(64))
    assert both([*first[:-2], *second[-7:]], [LONG] * COLS) == at_fault


@pytest.mark.parametrize("long", [False, True])
def test_an_entry_of_a_ring_and_a_body_of_a_loop_are_no_different(long):
    commands = transformed(Function.GELU, ElementType.UINT8)
    head, body, tail = commands[:-7], commands[-7:-2], commands[-2:]
    looped = [*head, REPEAT.encode(count=3, length=len(body)), *body, *tail]
    result = both(looped, [SHORT] * (COLS - 1) + [LONG if long else SHORT], issue="ring")
    if long:
        # The number counts what the accelerator has executed: the first turn of the loop.
        assert result == (Cause.SCALE, last_transform(commands), bytes(64))
    else:
        assert isinstance(result, bytes)


def test_a_program_behind_a_fault_is_right():
    commands = transformed(Function.RESIDUAL, ElementType.INT16)
    wanted = both(commands, [SHORT] * COLS)
    device = open_device("verilator", CRAMPED, MemoryTiming(), MEMORY_BYTES)
    with closing(device):
        for _ in range(2):
            failed = ran(device, commands, [SHORT] * (COLS - 1) + [LONG], "stream")
            assert failed == (Cause.SCALE, last_transform(commands), bytes(64))
            assert ran(device, commands, [SHORT] * COLS, "stream") == wanted


def test_rows_of_one_part():
    """A long scale is an error in the last column, and is not read behind it."""
    whole = resolve_config("tiny", ["scale_bits=8"])
    commands, found = transformed(Function.CONTEXT, ElementType.INT16), []
    for simulator in ("functional", "amaranth"):
        with closing(open_device(simulator, whole, MemoryTiming(), MEMORY_BYTES)) as device:
            for column in (COLS - 1, COLS):
                scales = [LONG if each == column else SHORT for each in range(COLS + 1)]
                found.append(ran(device, commands, scales, "stream"))
    last, none = found[:2]
    assert found[2:] == [last, none]
    assert last == (Cause.SCALE, last_transform(commands), bytes(64))
    assert isinstance(none, bytes)
