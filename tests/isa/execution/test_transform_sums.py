"""Normalizations and residuals on the functional model, against vectors and definitions."""

from typing import Any

import numpy as np
import pytest

from celosia.isa.encoding import ElementType, Function
from celosia.isa.numerics import Affine, layernorm, rmsnorm
from tests.isa.execution.transform_rows import (
    CONFIG,
    STAGED,
    TARGET,
    TARGET2,
    Rows,
    new_device,
    vectors,
)
from tests.support import integer_reference as reference
from tests.support.transforms import blocks_of, put_blocks, scratchpad_row, transform

LAYERNORM = ("layernorm_3x80", "layernorm_4x1024", "layernorm_8x768", "layernorm_16x384")


@pytest.fixture
def device():
    return new_device()


@pytest.mark.parametrize("first", [8, 9, CONFIG.parameter_rows - 4])
@pytest.mark.parametrize("rms", [0, 1])
def test_a_normalization_with_an_epsilon(device, rms, first):
    """The sums are complete where the epsilon counts; LAYERNORM itself does not look at it."""
    q = np.random.default_rng(rms).integers(-300, 900, (3, 16)).astype(np.int16)
    machine, (height, width) = device.machine, q.shape
    machine.parameters[first : first + 4] = np.array([[1 << 12], [7], [1 << 12], [7]])
    put_blocks(machine.scratchpad, TARGET, height, q)
    common: dict[str, Any] = {
        "shape": (height, width),
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "rows": {"source_stride": height, "target_stride": height},
    }
    norm = {"shift": 12, "parameter_row": first, "channels": width}
    counts = norm | {"epsilon": 1 << 22, "rms": rms}
    device.run(transform(Function.MOMENTS, start=1, finish=1, norm=counts, **common))
    device.run(transform(Function.LAYERNORM, type=ElementType.INT16, norm=norm, **common))
    got = blocks_of(machine.scratchpad, TARGET2, height, (height, width), np.int16)
    output = Affine(np.full(width, 1 << 12), np.full(width, 7), 12, np.int16)
    assert got.tolist() == (rmsnorm if rms else layernorm)(q, output, epsilon=1 << 22).tolist()


@pytest.mark.parametrize("width", [1, 7, 8, 9, 21])
def test_a_normalization_of_columns_that_fill_no_block(device, width):
    """Half a row of parameters belongs to a block, and what is behind the last column to none."""
    random, machine, half = np.random.default_rng(width), device.machine, CONFIG.dim // 2
    q = random.integers(-30_000, 30_000, (3, width)).astype(np.int16)
    blocks = -(-width // half)
    gammas = random.integers(-(1 << 15), 1 << 15, blocks * half)
    betas = random.integers(-(1 << 31), 1 << 31, blocks * half)
    for block in range(blocks):
        columns = slice(block * half, (block + 1) * half)
        machine.parameters[40 + 2 * block, :half] = gammas[columns]
        machine.parameters[41 + 2 * block, :half] = betas[columns]
    put_blocks(machine.scratchpad, TARGET, len(q), q)
    common: dict[str, Any] = {
        "shape": q.shape,
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "rows": {"source_stride": len(q), "target_stride": len(q)},
        "norm": {"shift": 18, "parameter_row": 40, "channels": width},
    }
    device.run(transform(Function.MOMENTS, start=1, finish=1, **common))
    device.run(transform(Function.LAYERNORM, type=ElementType.INT16, **common))
    got = blocks_of(machine.scratchpad, TARGET2, len(q), q.shape, np.int16)
    own = gammas[:width].tolist(), betas[:width].tolist()
    assert got.tolist() == [reference.layernorm(row, *own, 18, "int16") for row in q.tolist()]


@pytest.mark.parametrize("name", ["", "term_saturates_"])
def test_residual_of_the_vectors(device, name):
    v = vectors("residual")
    put_blocks(device.machine.scratchpad, STAGED, 16, v["x"])
    rows = Rows(device, v["acc"])
    rows.run(
        Function.RESIDUAL,
        type=ElementType.INT16,
        scale=float(v[f"{name}s_acc"]),
        scale2=float(v["s_x"]),
        rows={"residual": scratchpad_row(STAGED), "residual_stride": 16},
    )
    assert (rows.result(np.int16) == v[f"{name}s16"]).all()


@pytest.mark.parametrize("counted", [0, 1])
def test_a_residual_in_pieces_counts_moments_if_it_is_told(device, counted):
    random, statistics = np.random.default_rng(4), device.machine.statistics
    rows = Rows(device, random.integers(-(2**24), 2**24, (5, 48)))
    put_blocks(device.machine.scratchpad, STAGED, 5, random.integers(-99, 99, (5, 48), np.int16))
    before, parts = statistics.total[:5].tolist(), []
    for first in (0, 16, 32):
        rows.run(
            Function.RESIDUAL,
            first=first,
            last=first + 16,
            type=ElementType.INT16,
            scale=1e-3,
            moments=counted,
            start=int(first == 0),
            finish=int(first == 32),
            norm={"channels": 48},
            rows={"residual": scratchpad_row(STAGED + first * 2 // 16 * 5), "residual_stride": 5},
        )
        parts.append(rows.result(np.int16, 16).astype(int))
    sums = np.hstack(parts)
    assert (statistics.total[:5] == (sums.sum(axis=1) if counted else before)).all()
    if counted:
        assert (statistics.squares[:5] == (sums**2).sum(axis=1)).all()
        assert (np.abs(statistics.mean[:5] - sums.mean(axis=1)) <= 0.5).all()


def test_a_residual_of_int16_has_one_scale_for_each_term(device):
    """Scales of columns are those of sums: here the parameters are never read."""
    machine = device.machine
    x, other = [[100, -32768, 30000]], [[-7, 1, 32767]]
    put_blocks(machine.scratchpad, TARGET, 1, np.array(x, np.int16))
    put_blocks(machine.scratchpad, STAGED, 1, np.array(other, np.int16))
    machine.parameters[:] = -1
    device.run(
        transform(
            Function.RESIDUAL,
            type=ElementType.INT16,
            scale=0.5,
            scale2=-2.0,
            column_scale=1,
            shape=(1, 3),
            source=scratchpad_row(TARGET),
            target=scratchpad_row(TARGET2),
            rows={"residual": scratchpad_row(STAGED)},
        )
    )
    got = blocks_of(machine.scratchpad, TARGET2, 1, (1, 3), np.int16)
    assert got.tolist() == [[50 + 14, -16384 - 2, 15000 - 32768]]


@pytest.mark.parametrize("name", LAYERNORM)
def test_layernorm_with_two_results_of_the_vectors(device, name):
    v = vectors(name)
    height, width = v["q"].shape
    half = CONFIG.dim // 2
    packed = np.zeros((-(-width // half), 2, 2, half), np.int32)
    for kind, key in enumerate(("gamma", "beta")):
        for result, bits in enumerate(("8", "16")):
            packed[:, kind, result].reshape(-1)[:width] = 0
            flat = np.zeros(packed[:, kind, result].size, np.int32)
            flat[:width] = v[key + bits]
            packed[:, kind, result] = flat.reshape(-1, half)
    machine = device.machine
    machine.parameters[8 : 8 + 2 * len(packed)] = packed.reshape(-1, CONFIG.dim)
    put_blocks(machine.scratchpad, TARGET, height, v["q"])
    common = {
        "shape": (height, width),
        "source": scratchpad_row(TARGET),
        "target": scratchpad_row(TARGET2),
        "target2": scratchpad_row(STAGED),
        "rows": {"source_stride": height, "target_stride": height},
        "norm": {
            "two": 1,
            "type2": ElementType.INT16,
            "shift": int(v["e8"]),
            "shift2": int(v["e16"]),
            "target2_stride": height,
            "parameter_row": 8,
            "channels": width,
        },
    }
    device.run(transform(Function.MOMENTS, start=1, finish=1, **common))
    device.run(transform(Function.LAYERNORM, type=ElementType.INT8, **common))
    small = blocks_of(machine.scratchpad, TARGET2, height, (height, width), np.int8)
    wide = blocks_of(machine.scratchpad, STAGED, height, (height, width), np.int16)
    assert (small == v["s8"]).all()
    assert (wide == v["s16"]).all()
