"""Products with packed weights on the simulators against NumPy: every transpose, loop and edge."""

from contextlib import closing

import numpy as np
import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_PRODUCTS,
    CONFIG_ST,
    FENCE,
    MVIN,
    MVOUT,
    PRELOAD,
    PRODUCTS,
    Command,
    WeightType,
)
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from tests.support.cramped import CRAMPED

SIZE = 1 << 16
A, W, C = (MEMORY_BASE + (place << 13) for place in range(3))
SIMULATORS = ("functional", "verilator")
CONFIGS = {"tiny": PRESETS["tiny"], "base": PRESETS["base"], "cramped": CRAMPED}
"""The last one takes lines in pairs."""


def packed(lines: np.ndarray) -> np.ndarray:
    """Lines of a tile two by two in bytes: the first half of them below the second one."""
    half = len(lines) // 2
    return ((lines[:half] % 16) + 16 * (lines[half:] % 16)).astype(np.uint8)


def moved(config: AcceleratorConfig, rows: int, out: int) -> list[Command]:
    """A to scratchpad row 0 on, W to the second bank, and nothing in the sums."""
    dim, bank = config.dim, config.scratchpad_bank_rows
    return [
        CONFIG_LD.encode(stride=dim, block_stride=dim),
        CONFIG_ST.encode(stride=4 * dim),
        MVIN.encode(dram=A, local=0, local_cols=dim, local_rows=2 * rows),
        MVIN.encode(dram=W, local=bank, local_cols=dim, local_rows=2 * dim),
        MVIN.encode(
            dram=0,
            local=LocalAddress(row=0, accumulator=True).encode(),
            local_cols=dim,
            local_rows=out,
        ),
    ]


def stored(dim: int, out: int) -> list[Command]:
    local = LocalAddress(row=0, accumulator=True, full=True).encode()
    return [MVOUT.encode(dram=C, local=local, local_cols=dim, local_rows=out), FENCE.encode()]


def run(simulator: str, preset: str, program: list[Command], a, w, shape) -> tuple[np.ndarray, int]:
    """The int32 that `program` leaves, and the cycles that it takes."""
    timing = MemoryTiming(latency=20)
    with closing(open_device(simulator, CONFIGS[preset], timing, SIZE)) as device:
        device.write(A, a.astype(np.int8).tobytes())
        device.write(W, w.tobytes())
        done = device.run(program)
        found = device.read(C, 4 * int(np.prod(shape)))
    return np.frombuffer(found, np.int32).reshape(shape), done.cycles or 0


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("preset", CONFIGS)
@pytest.mark.parametrize("turned", ["", "a_transpose", "b_transpose"])
@pytest.mark.parametrize("edge", [False, True])
def test_a_product_is_that_of_numpy(simulator, preset, turned, edge):
    config, random = CONFIGS[preset], np.random.default_rng(3)
    dim, bank = config.dim, config.scratchpad_bank_rows
    depth, cols = (dim - 1, dim // 2 + 1) if edge else (dim, dim)
    a = random.integers(-128, 128, (dim, dim))
    lines = random.integers(-8, 8, (dim, dim))
    left = a.T if turned == "a_transpose" else a
    right = lines.T if turned == "b_transpose" else lines
    wanted = np.zeros((dim, dim), np.int64)
    wanted[:, :cols] = left[:, :depth] @ right[:depth, :cols]
    settings = {turned: 1} if turned else {}
    c = LocalAddress(row=0, accumulator=True).encode()
    program = [
        *moved(config, dim // 2, dim),
        CONFIG_EX.encode(b_type=WeightType.INT4, **settings),
        PRELOAD.encode(b=bank, b_rows=depth, b_cols=cols, c=c, c_rows=dim, c_cols=cols),
        COMPUTE_PRELOADED.encode(a=0, a_rows=dim, a_cols=depth, d=GARBAGE),
        *stored(dim, dim),
    ]
    found, _ = run(simulator, preset, program, a, packed(lines), (dim, dim))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("preset", CONFIGS)
def test_a_loop_takes_tiles_of_half_the_rows_in_the_same_cycles(simulator, preset):
    """Two tiles along K and two of columns; as many products of int8 take as long.

    With as many rows as an int8 tile takes cycles, pairs of lines gain nothing.
    """
    config, random = CONFIGS[preset], np.random.default_rng(4)
    dim, bank = config.dim, config.scratchpad_bank_rows
    a = random.integers(-128, 128, (2, dim, dim))
    lines = random.integers(-8, 8, (4, dim, dim))
    tiles = np.concatenate([packed(tile) for tile in lines])
    half, cycles = dim // 2, {}
    for kind, step in ((WeightType.INT8, 0), (WeightType.INT4, half)):
        program = [
            *moved(config, dim, 2 * dim),
            CONFIG_EX.encode(b_type=kind),
            CONFIG_PRODUCTS.encode(a_k=dim, w_k=step, w_column=2 * step, c_column=dim),
            PRODUCTS.encode(
                w=bank, rows=dim, k=2, pieces=1, columns=2, last_depth=dim, last_cols=dim
            ),
            *stored(dim, 2 * dim),
        ]
        found, cycles[kind] = run(simulator, preset, program, a, tiles, (2, dim, dim))
    wanted = [a[0] @ lines[2 * j] + a[1] @ lines[2 * j + 1] for j in range(2)]
    np.testing.assert_array_equal(found, wanted)
    assert cycles[WeightType.INT4] == cycles[WeightType.INT8]
