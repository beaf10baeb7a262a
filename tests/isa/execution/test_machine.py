"""Random legal operations against their definition, one element at a time.

The references below are the specification's sentences as loops; what is vectorized in the machine
must agree with them also where rows meet.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    float_bits,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.semantics import check
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.functional import FunctionalDevice

CONFIG = AcceleratorConfig(
    dim=4,
    scratchpad_kib=1,
    accumulator_kib=1,
    accumulator_banks=1,
    parameter_rows=32,
    normalization=True,
)
DIM = CONFIG.dim
BYTES = 4096
MIDDLE = MEMORY_BASE + BYTES // 2
SCALES = st.sampled_from([1.0, 0.5, -0.25, 3.0, 0.3, 1e-4, float("nan"), float("inf")])
FLAGS = st.booleans()
NEAR_STRIDES = st.sampled_from([0, 1, 3, 4, 5, 16, 64, (1 << 64) - 5, (1 << 64) - 16])
SEEDS = st.integers(0, 9)


def make_device(seed: int) -> FunctionalDevice:
    made = FunctionalDevice(CONFIG, memory_bytes=BYTES, seed=seed)
    made.write(MEMORY_BASE, np.random.default_rng(seed).bytes(BYTES))
    return made


def scaled(x: int, scale: float, bits: int = 8) -> int:
    """Requantization of one number to so many bits."""
    product = np.float32(x) * np.float32(scale)
    if np.isnan(product):
        return 0
    return int(np.clip(np.rint(product), -(1 << bits - 1), (1 << bits - 1) - 1))


def wrapped(x: int) -> int:
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


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


def near_limits(sums: np.ndarray[Any, Any]) -> None:
    """Move half of some int32 to less than 2**12 from the end of their range: sums then wrap."""
    small = sums[::2] & 0xFFF
    sums[::2] = np.where(sums[::2] < 0, -(1 << 31) + small, (1 << 31) - 1 - small)


@dataclass(frozen=True)
class Matrix:
    """An operand of a product; 1 in 8 is garbage."""

    row: int
    rows: int
    cols: int
    garbage: bool

    def fields(self, name: str, word: int) -> dict[str, int]:
        word = GARBAGE if self.garbage else word
        return {name: word, f"{name}_rows": self.rows, f"{name}_cols": self.cols}

    def at(
        self,
        memory: np.ndarray[Any, Any],
        i: int,
        j: int,
        *,
        stride: int = 1,
        swap: bool = False,
    ) -> int:
        """Element (i, j), or 0 outside of the matrix."""
        if self.garbage or i >= self.rows or j >= self.cols:
            return 0
        line, column = (j, i) if swap else (i, j)
        return int(memory[self.row + line * stride, column])


def matrices(first: int, rows: int = 9) -> st.SearchStrategy[Matrix]:
    return st.builds(
        Matrix,
        row=st.integers(first, first + 5),
        rows=st.integers(0, rows),
        cols=st.integers(0, DIM),
        garbage=st.sampled_from([False] * 7 + [True]),
    )


@dataclass(frozen=True)
class Multiplication:
    """What the products below draw."""

    a: Matrix
    w: Matrix
    d: Matrix
    c: Matrix
    a_stride: int
    c_stride: int
    transpose: str
    unsigned: bool
    relu: bool
    accumulator: bool
    accumulate: bool

    def element(self, scratchpad: np.ndarray[Any, Any], i: int, j: int) -> int:
        """Element (i, j) of ``A*W + D``."""
        swap_a, swap_w = self.transpose == "a_transpose", self.transpose == "b_transpose"
        total = self.d.at(scratchpad, i, j)
        for k in range(DIM):
            x = self.a.at(scratchpad, i, k, stride=self.a_stride, swap=swap_a)
            x = x % 256 if self.unsigned else x
            total += x * self.w.at(scratchpad, k, j, swap=swap_w)
        return total


MULTIPLICATIONS = st.builds(
    Multiplication,
    a=matrices(0),
    w=matrices(60, rows=DIM),
    d=matrices(80),
    c=matrices(30),
    a_stride=st.integers(0, 3),
    c_stride=st.integers(0, 3),
    transpose=st.sampled_from(["", "a_transpose", "b_transpose"]),
    unsigned=FLAGS,
    relu=FLAGS,
    accumulator=FLAGS,
    accumulate=FLAGS,
)


@settings(max_examples=500)
@given(product=MULTIPLICATIONS, seed=SEEDS)
def test_products(product, seed):
    device = make_device(seed)
    machine, c = device.machine, product.c
    memory = machine.accumulator if product.accumulator else machine.scratchpad
    machine.scratchpad[::3] >>= 5  # A third of the rows small enough not to saturate.
    near_limits(machine.accumulator)
    c_word = LocalAddress(
        row=c.row, accumulator=product.accumulator, accumulate=product.accumulate
    ).encode()
    setting = CONFIG_EX.encode(
        activation=int(product.relu),
        a_unsigned=int(product.unsigned),
        a_stride=product.a_stride,
        c_stride=product.c_stride,
        **({product.transpose: 1} if product.transpose else {}),
    )
    preload = PRELOAD.encode(**product.w.fields("b", product.w.row), **c.fields("c", c_word))
    compute = COMPUTE_PRELOADED.encode(
        **product.a.fields("a", product.a.row), **product.d.fields("d", product.d.row)
    )
    device.run([setting, preload])
    assume(check(compute, device.state, CONFIG) is Cause.NONE)
    want = memory.copy()
    for i in range(0 if c.garbage else c.rows):
        for j in range(c.cols):
            x = product.element(machine.scratchpad, i, j)
            row = c.row + i * product.c_stride
            if not product.accumulator:
                x = max(-128, min(x, 127))
                x = max(x, 0) if product.relu else x
            elif product.accumulate:
                x = wrapped(x + int(want[row, j]))
            want[row, j] = x
    device.run([compute])
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("seed", range(4))
def test_sums_that_stay_at_the_array_wrap(seed):
    """A sum of 16 products goes beyond the range at either end, and goes on from the other one."""
    config = CONFIG.with_values({"dataflow": "os"})
    device = FunctionalDevice(config, memory_bytes=BYTES, seed=seed)
    machine, random = device.machine, np.random.default_rng(seed)
    odd = np.arange(DIM) % 2
    machine.scratchpad[:DIM] = random.integers(100, 128, (DIM, DIM))
    # The sums of every other column go up, those of the others down.
    machine.scratchpad[DIM : 2 * DIM] = random.integers(100, 128, (DIM, DIM)) * (2 * odd - 1)
    machine.sums[...] = np.where(odd, (1 << 31) - 9, -(1 << 31) + 9)
    left, right = (machine.scratchpad[row : row + DIM].astype(np.int64) for row in (0, DIM))
    totals = machine.sums + left @ right
    wanted = [[wrapped(int(x)) for x in row] for row in totals]
    full = {"a_rows": DIM, "a_cols": DIM, "d_rows": DIM, "d_cols": DIM}
    device.run([
        CONFIG_EX.encode(weight_stationary=0),
        PRELOAD.encode(b=GARBAGE, c=GARBAGE),
        COMPUTE_ACCUMULATED.encode(a=0, d=DIM, **full),
    ])
    assert machine.sums.tolist() == wanted
    assert (totals != wanted).all()
