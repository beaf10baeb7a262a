"""Random legal products against their definition, one element at a time.

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
from celosia.isa.encoding import COMPUTE_ACCUMULATED, COMPUTE_PRELOADED, CONFIG_EX, PRELOAD
from celosia.isa.operations.semantics import check
from celosia.isa.registers.errors import Cause
from tests.isa.execution.small_device import CONFIG, DIM, FLAGS, SEEDS, make_device, wrapped


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
        int4: bool = False,
    ) -> int:
        """Element (i, j), or 0 outside of the matrix."""
        if self.garbage or i >= self.rows or j >= self.cols:
            return 0
        line, column = (j, i) if swap else (i, j)
        if int4:  # Of four lines, the last two are in the upper halves of the first two.
            half = int(memory[self.row + line % 2, column]) % 256 >> 4 * (line // 2) & 15
            return half - 16 * (half > 7)
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
    int4: bool
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
            total += x * self.w.at(scratchpad, k, j, swap=swap_w, int4=self.int4)
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
    int4=FLAGS,
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
        b_type=int(product.int4),
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
    device = make_device(seed, config)
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
