"""Scales of columns that are longer than ``scale_bits``, in TRANSFORMs of the functional model."""

import numpy as np
import pytest

from celosia.isa.encoding import ElementType, Function
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import DeviceError
from tests.isa.execution.small_device import BYTES, CONFIG, DIM
from tests.support.transforms import (
    accumulator_row,
    blocks_of,
    put_blocks,
    scratchpad_row,
    transform,
)

SHORT, LONG = 1.0078125, 1.00390625
"""Eight bits, and nine."""
COLS = DIM + 3
SUMS, RESIDUAL, TARGET, SCALES = 8, 64, 32, 5
"""First rows: of sums in the accumulator, of both others in the scratchpad, and of parameters."""
SCALED = [ElementType.INT8, ElementType.UINT8, ElementType.INT16]


def transformed(
    long: int | None, function: Function, kind: ElementType, bits: int = 8, by_column: int = 1
) -> tuple[FunctionalDevice, Cause]:
    """A device behind a TRANSFORM of two rows, and its cause; column `long` has a long scale."""
    device = FunctionalDevice(CONFIG.with_values({"scale_bits": bits}), memory_bytes=BYTES, seed=1)
    memories = device.machine
    put_blocks(memories.accumulator, SUMS, 2, np.full((2, COLS), 64, np.int32))
    put_blocks(memories.scratchpad, RESIDUAL, 2, np.full((2, COLS), 3, np.int16))
    scales = np.full(2 * DIM, SHORT, np.float32)
    if long is not None:
        scales[long] = LONG
    memories.parameters[SCALES : SCALES + 2] = scales.view(np.int32).reshape(2, DIM)
    strides = {"source_stride": 2, "target_stride": 2, "residual_stride": 2}
    source = scratchpad_row(RESIDUAL) if function is Function.MULTIPLY else accumulator_row(SUMS)
    commands = transform(
        function,
        shape=(2, COLS),
        source=source,
        target=scratchpad_row(TARGET),
        type=kind,
        column_scale=by_column,
        start=1,
        rows=strides | {"scale_row": SCALES, "residual": scratchpad_row(RESIDUAL)},
    )
    before = device.machine.scratchpad.copy()
    try:
        device.run(commands)
    except DeviceError as error:
        assert (device.machine.scratchpad == before).all()
        return device, error.cause
    return device, Cause.NONE


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("column", [0, DIM - 1, DIM, COLS - 1])
def test_a_long_scale_of_any_column_is_an_error_and_nothing_is_done(column, kind):
    assert transformed(column, Function.REQUANTIZE, kind)[1] is Cause.SCALE


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("column", [None, COLS])
def test_behind_the_last_column_there_is_no_scale(column, kind):
    assert transformed(column, Function.REQUANTIZE, kind)[1] is Cause.NONE


def test_residual_sums_are_scaled_by_columns_too():
    assert transformed(0, Function.RESIDUAL, ElementType.INT16)[1] is Cause.SCALE


def test_results_of_int32_are_not_scaled():
    device, cause = transformed(0, Function.REQUANTIZE, ElementType.INT32)
    assert cause is Cause.NONE
    result = blocks_of(device.machine.scratchpad, TARGET, 2, (2, COLS), np.dtype(np.int32))
    assert (result == 64).all()


@pytest.mark.parametrize(
    "ignored", [{"function": Function.MULTIPLY}, {"by_column": 0}, {"bits": 9}, {"bits": 24}]
)
def test_who_reads_no_scales_of_columns_or_has_the_bits_does_not_mind(ignored):
    settings = {"function": Function.REQUANTIZE, "kind": ElementType.INT16} | ignored
    assert transformed(0, **settings)[1] is Cause.NONE
