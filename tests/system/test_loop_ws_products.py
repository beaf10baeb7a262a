"""Products of many LOOP_WS, tiled as programs for Gemmini tile them: how busy the array is."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EX, CONFIG_LD, CONFIG_ST, Command, float_bits
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.numerics import requantize
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device

BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS
SCALE = 0.01


def tiles_of(config: AcceleratorConfig, size: int) -> tuple[int, int, int]:
    """Tiles of C's rows and columns and of A's columns in a loop that uses halves well."""
    words = config.accumulator_rows // 2 // config.dim
    rows = config.scratchpad_rows // 2 // config.dim
    square = math.isqrt(words)
    most = size // config.dim
    i = j = min(most, square)
    k = min(most, rows // 2 // square)
    while True:
        before = i, j, k
        j += (i + j + 1) * k <= rows and i * (j + 1) <= words and j < most
        i += (i + j + 1) * k <= rows and (i + 1) * j <= words and i < most
        k += (i + j) * (k + 1) <= rows and k < most
        if before == (i, j, k):
            return i, j, k


def loops(config: AcceleratorConfig, size: int, at: dict[str, int]) -> Iterator[Command]:
    """C = A*B + D, square."""
    dim, all_tiles = config.dim, size // config.dim
    ti, tj, tk = tiles_of(config, size)
    yield CONFIG_EX.encode()
    for number, bytes_ in enumerate((1, 1, 4)):
        yield CONFIG_LD.encode(set=number, stride=bytes_ * size, block_stride=dim)
    yield CONFIG_ST.encode(stride=size, scale=float_bits(SCALE))
    for i, j, k in (
        (i, j, k)
        for i in range(0, all_tiles, ti)
        for j in range(0, all_tiles, tj)
        for k in range(0, all_tiles, tk)
    ):
        counts = (min(t, all_tiles - x) for t, x in ((ti, i), (tj, j), (tk, k)))
        i_j, biased = (i * size + j) * dim, "d" in at
        yield BOUNDS.encode(**dict(zip("ijk", counts, strict=True)))
        yield ADDRESSES_AB.encode(
            a=at["a"] + (i * size + k) * dim, b=at["b"] + (k * size + j) * dim
        )
        yield ADDRESSES_DC.encode(
            d=at["d"] + 4 * i_j if biased and not k else 0,
            c=at["c"] + i_j if k + tk >= all_tiles else 0,
        )
        yield STRIDES_AB.encode(a_stride=size, b_stride=size)
        yield STRIDES_DC.encode(d_stride=size, c_stride=size)
        yield LOOP_WS.encode(accumulate=k != 0 or biased)


def utilization(preset: str, size: int, *, biased: bool) -> float:
    config, rng = PRESETS[preset], np.random.default_rng(size)
    a, b = (rng.integers(-128, 128, (size, size), np.int8) for _ in range(2))
    d = rng.integers(-1000, 1000, (size, size)).astype(np.int32)
    bytes_ = size * size
    at = {"a": MEMORY_BASE, "b": MEMORY_BASE + bytes_, "c": MEMORY_BASE + 2 * bytes_}
    at |= {"d": MEMORY_BASE + 3 * bytes_} if biased else {}
    device = open_device("verilator", config, memory_bytes=8 * bytes_)
    device.write(at["a"], a.tobytes() + b.tobytes() + bytes(bytes_) + d.tobytes())
    cycles = device.run(list(loops(config, size, at))).cycles
    got = np.frombuffer(device.read(at["c"], bytes_), np.int8).reshape(size, size)
    device.close()
    sums = a.astype(np.int32) @ b.astype(np.int32) + biased * d
    assert np.array_equal(got, requantize(sums, SCALE))
    assert cycles is not None
    return size**3 / config.macs_per_cycle / cycles


@pytest.mark.slow
@pytest.mark.parametrize(("biased", "least"), [(False, 0.92), (True, 0.90)])
def test_a_small_array_is_busy(biased, least):
    assert utilization("gemmini4", 64, biased=biased) >= least


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("size", "biased", "least"),
    [(128, False, 0.875), (256, False, 0.93), (256, True, 0.90), (512, True, 0.96)],
)
def test_an_array_of_usual_size_is_busy(size, biased, least):
    assert utilization("gemmini", size, biased=biased) >= least
