"""Random legal loads and stores against their definition, one element at a time.

The references below are the specification's sentences as loops; what is vectorized in the machine
must agree with them also where rows meet.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celosia.isa.address import LocalAddress
from celosia.isa.encoding import (
    CONFIG_DRAIN,
    CONFIG_LD,
    CONFIG_ST,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    float_bits,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import DeviceError
from tests.isa.execution.small_device import (
    BYTES,
    CONFIG,
    DIM,
    FLAGS,
    SEEDS,
    make_device,
    wrapped,
)

CONVOLVING = CONFIG.with_values({"convolution": True})
MIDDLE = MEMORY_BASE + BYTES // 2
SCALES = st.sampled_from([1.0, 0.5, -0.25, 3.0, 0.3, 1e-4, float("nan"), float("inf")])
NEAR_STRIDES = st.sampled_from([0, 1, 3, 4, 5, 16, 64, (1 << 64) - 5, (1 << 64) - 16])


def scaled(x: int, scale: float, bits: int = 8) -> int:
    """Requantization of one number to so many bits."""
    product = np.float32(x) * np.float32(scale)
    if np.isnan(product):
        return 0
    return int(np.clip(np.rint(product), -(1 << bits - 1), (1 << bits - 1) - 1))


def number(device: FunctionalDevice, address: int, size: int) -> int:
    return int.from_bytes(device.read(address % (1 << 64), size), "little", signed=True)


@dataclass(frozen=True)
class Move:
    """What the loads and stores below draw."""

    rows: int
    cols: int
    row: int
    accumulator: bool
    flag: bool
    """Accumulate, or full."""
    stride: int
    pitch: int
    scale: float
    offset: int

    @property
    def address(self) -> int:
        return MIDDLE + self.offset

    @property
    def local(self) -> dict[str, int]:
        return {"local_rows": self.rows, "local_cols": self.cols}


def moves(strides: st.SearchStrategy[int]) -> st.SearchStrategy[Move]:
    return st.builds(
        Move,
        rows=st.integers(1, 6),
        cols=st.integers(1, 16),
        row=st.integers(0, 20),
        accumulator=FLAGS,
        flag=FLAGS,
        stride=strides,
        pitch=st.integers(0, 7),
        scale=SCALES,
        offset=st.integers(0, 7),
    )


@settings(max_examples=300)
@given(move=moves(NEAR_STRIDES), shrunk=FLAGS, zero=FLAGS, seed=SEEDS)
def test_loads(move, shrunk, zero, seed):
    device = make_device(seed)
    wide = move.accumulator and not shrunk
    memory = device.machine.accumulator if move.accumulator else device.machine.scratchpad
    want = memory.copy()
    with np.errstate(all="ignore"):
        for r in range(move.rows):
            for c in range(move.cols):
                address = move.address + r * move.stride + c * (4 if wide else 1)
                x = 0 if zero else number(device, address, 4 if wide else 1)
                x = x if zero or wide else scaled(x, move.scale)
                row = move.row + r + c // DIM * move.pitch
                if move.accumulator and move.flag:
                    x = wrapped(x + int(want[row, c % DIM]))
                want[row, c % DIM] = x
    local = LocalAddress(row=move.row, accumulator=move.accumulator, accumulate=move.flag).encode()
    device.run([
        CONFIG_LD.encode(
            stride=move.stride,
            block_stride=move.pitch,
            shrunk=int(shrunk),
            scale=float_bits(move.scale),
        ),
        MVIN.encode(dram=0 if zero else move.address, local=local, **move.local),
    ])
    np.testing.assert_array_equal(memory, want)


@settings(max_examples=50)
@given(row=st.integers(0, 20), count=st.integers(1, 40), offset=st.integers(0, 7), seed=SEEDS)
def test_loads_of_parameters(row, count, offset, seed):
    device = make_device(seed)
    want = device.machine.parameters.copy()
    for n in range(count):
        want[row + n // DIM, n % DIM] = number(device, MIDDLE + offset + 4 * n, 4)
    device.run([MVIN_PARAM.encode(dram=MIDDLE + offset, row=row, count=count)])
    np.testing.assert_array_equal(device.machine.parameters, want)


@settings(max_examples=300)
@given(
    move=moves(st.sampled_from([0, 1, 3, 4, 5, 16, 64, 99])),
    relu=FLAGS,
    bias=FLAGS,
    bias_row=st.integers(0, 28),
    int16=FLAGS,
    seed=SEEDS,
)
def test_stores(move, relu, bias, bias_row, int16, seed):
    device = make_device(seed)
    machine = device.machine
    machine.accumulator[::2] >>= 22  # Half of the rows small enough not to saturate.
    machine.parameters[::2] >>= 22
    size = (4 if move.flag else 1 + int16) if move.accumulator else 1
    want = bytearray(device.read(MEMORY_BASE, BYTES))
    pitch = move.pitch or DIM
    with np.errstate(all="ignore"):
        for r in range(move.rows):
            for c in range(move.cols):
                row = move.row + r + c // DIM * pitch
                if move.accumulator:
                    x = int(machine.accumulator[row, c % DIM])
                    x += int(machine.parameters[bias_row + c // DIM, c % DIM]) if bias else 0
                    x = wrapped(x)
                    if not move.flag:
                        x = scaled(x, move.scale, bits=8 * size)
                        x = max(x, 0) if relu else x
                else:
                    x = int(machine.scratchpad[row, c % DIM])
                start = move.address - MEMORY_BASE + r * move.stride + c * size
                want[start : start + size] = x.to_bytes(size, "little", signed=True)
    local = LocalAddress(row=move.row, accumulator=move.accumulator, full=move.flag).encode()
    device.run([
        CONFIG_ST.encode(stride=move.stride, activation=int(relu), scale=float_bits(move.scale)),
        CONFIG_DRAIN.encode(
            bias=int(bias), int16=int(int16), bias_row=bias_row, block_stride=move.pitch
        ),
        MVOUT.encode(dram=move.address, local=local, **move.local),
    ])
    assert device.read(MEMORY_BASE, BYTES) == bytes(want)


@settings(max_examples=100)
@given(
    repeats=st.integers(2, DIM),
    cols=st.integers(1, DIM // 2),
    rows=st.integers(1, 6),
    row=st.integers(0, 8) | st.integers(126, 134),
    scale=SCALES,
    seed=SEEDS,
)
def test_copies_of_pixels(repeats, cols, rows, row, scale, seed):
    """Copy q of row r stands q rows higher and q pixels to the right, in its half only."""
    assume(cols * repeats <= DIM)
    device = make_device(seed, CONVOLVING)
    want, half = device.machine.scratchpad.copy(), CONVOLVING.scratchpad_rows // 2
    with np.errstate(all="ignore"):
        for r, q, c in np.ndindex(rows, repeats, cols):
            place = row + r - q
            if place >= (half if row >= half else 0):
                want[place, q * cols + c] = scaled(number(device, MIDDLE + 9 * r + c, 1), scale)
    device.run([
        CONFIG_LD.encode(stride=9, block_stride=1, pixel_repeats=repeats, scale=float_bits(scale)),
        MVIN.encode(
            dram=MIDDLE,
            local=LocalAddress(row=row).encode(),
            local_rows=rows,
            local_cols=cols,
        ),
    ])
    np.testing.assert_array_equal(device.machine.scratchpad, want)


@dataclass(frozen=True)
class Pooled:
    """What the pooled stores below draw, by the names of CONFIG_ST's fields."""

    pool_size: int
    pool_stride: int
    pool_top_pad: int
    pool_left_pad: int
    pool_rows: int
    pool_cols: int
    pool_pitch: int
    image_rows: int
    image_cols: int

    def windows(self) -> Iterator[tuple[int, int, list[int | None]]]:
        """Row and column of each result, and the pixels of its window; None: a zero."""
        for r, c in np.ndindex(self.pool_rows, self.pool_cols):
            window: list[int | None] = []
            for i, j in np.ndindex(self.pool_size, self.pool_size):
                y = r * self.pool_stride + i - self.pool_top_pad
                x = c * self.pool_stride + j - self.pool_left_pad
                inside = 0 <= y < self.image_rows and 0 <= x < self.image_cols
                window.append(y * self.image_cols + x if inside else None)
            yield r, c, window


POOLS = st.builds(
    Pooled,
    pool_size=st.integers(1, 3),
    pool_stride=st.integers(1, 3),
    pool_top_pad=st.integers(0, 3),
    pool_left_pad=st.integers(0, 3),
    pool_rows=st.integers(1, 4),
    pool_cols=st.integers(1, 4),
    pool_pitch=st.integers(0, 5),
    image_rows=st.integers(0, 5),
    image_cols=st.integers(0, 5),
)


@settings(max_examples=200)
@given(
    pooled=POOLS,
    cols=st.integers(1, DIM),
    row=st.integers(0, 20),
    stride=st.sampled_from([0, 1, 3, 4, 7]),
    accumulator=FLAGS,
    relu=FLAGS,
    scale=SCALES,
    seed=SEEDS,
)
def test_pooled_stores(pooled, cols, row, stride, accumulator, relu, scale, seed):
    """The maximum of each window, of what would leave without pooling; the last one stays."""
    device = make_device(seed, CONVOLVING)
    machine = device.machine
    machine.accumulator[::2] >>= 22
    machine.scratchpad[::2] >>= 4

    def leaves(pixel: int | None, c: int) -> int:
        if pixel is None:
            return 0
        if not accumulator:
            return int(machine.scratchpad[row + pixel, c])
        x = scaled(int(machine.accumulator[row + pixel, c]), scale)
        return max(x, 0) if relu else x

    want = bytearray(device.read(MEMORY_BASE, BYTES))
    with np.errstate(all="ignore"):
        for r, c, window in pooled.windows():
            start = MIDDLE - MEMORY_BASE + (r * pooled.pool_pitch + c) * stride
            pixel = [max(leaves(each, channel) for each in window) for channel in range(cols)]
            want[start : start + cols] = np.array(pixel, np.int8).tobytes()
    device.run([
        CONFIG_ST.encode(
            stride=stride, activation=int(relu), scale=float_bits(scale), **asdict(pooled)
        ),
        MVOUT.encode(
            dram=MIDDLE,
            local=LocalAddress(row=row, accumulator=accumulator).encode(),
            local_rows=0,
            local_cols=cols,
        ),
    ])
    assert device.read(MEMORY_BASE, BYTES) == bytes(want)


def test_a_pooled_store_that_leaves_memory_writes_nothing():
    device = make_device(1, CONVOLVING)
    before = device.read(MEMORY_BASE, BYTES)
    pooling = {"pool_stride": 1, "pool_size": 1, "pool_rows": 2, "pool_cols": 1, "pool_pitch": 1}
    beyond = MVOUT.encode(dram=MEMORY_BASE + BYTES - 8, local=0, local_rows=0, local_cols=4)
    with pytest.raises(DeviceError):
        device.run([CONFIG_ST.encode(stride=8, image_rows=2, image_cols=1, **pooling), beyond])
    assert device.read(MEMORY_BASE, BYTES) == before
