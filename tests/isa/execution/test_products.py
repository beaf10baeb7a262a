"""Products one after the other: what stays in the array, and what comes to C."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.execution.products import execute_product
from celosia.isa.operations.operations import Operand, Product, Resident

DIM = 4
CONFIG = AcceleratorConfig(dim=DIM, scratchpad_kib=1, accumulator_kib=1, accumulator_banks=1)
A, W, D, C = 0, 20, 40, 8


@pytest.fixture
def memories() -> LocalMemories:
    return LocalMemories(CONFIG, seed=3)


def place(
    row: int, *, accumulator: bool = False, add: bool = False, rows: int = DIM, cols: int = DIM
) -> Operand:
    local = LocalAddress(row=row, accumulator=accumulator, accumulate=add)
    return Operand(local=local, rows=rows, cols=cols)


def product(**values) -> Product:
    """``A*W + D`` to int32, with what `values` change."""
    whole = Product(
        load_weights=True,
        a=place(A),
        w=place(W),
        d=place(D),
        c=place(C, accumulator=True),
        a_unsigned=False,
        relu=False,
    )
    return replace(whole, **values)


def matrix(memories: LocalMemories, row: int) -> np.ndarray:
    return memories.scratchpad[row : row + DIM].astype(int)


def result(memories: LocalMemories) -> np.ndarray:
    return memories.accumulator[C : C + DIM]


def test_weights_stay_in_the_array_until_others_come(memories):
    a, w, d = (matrix(memories, row) for row in (A, W, D))
    execute_product(product(), memories)
    assert (result(memories) == a @ w + d).all()
    memories.scratchpad[W : W + DIM] = 77
    execute_product(product(load_weights=False, w=None, d=None), memories)
    assert (result(memories) == a @ w).all()
    execute_product(product(w=None, d=None), memories)
    assert not result(memories).any(), "no weights count as zeros"


def test_weights_come_without_a_product_too(memories):
    a, w = matrix(memories, A), matrix(memories, W)
    execute_product(product(c=None), memories)
    execute_product(product(load_weights=False, w=None, d=None), memories)
    assert (result(memories) == a @ w).all()


@pytest.mark.parametrize("d", [None, place(D), place(D, rows=2, cols=3)])
def test_resident_sums_begin_with_d_and_go_on(memories, d):
    a, w = matrix(memories, A), matrix(memories, W)
    first = np.zeros((DIM, DIM), int)
    if d is not None:
        first[: d.rows, : d.cols] = matrix(memories, D)[: d.rows, : d.cols]
    execute_product(product(c=None, d=d, resident=Resident(start=True, shift=0)), memories)
    assert (memories.sums == first + a @ w).all()
    execute_product(product(resident=Resident(start=False, shift=0)), memories)
    assert (memories.sums == first + 2 * (a @ w)).all()
    assert (result(memories) == memories.sums).all()


def test_only_what_leaves_is_shifted_and_cut(memories):
    small = place(C, accumulator=True, rows=2, cols=3)
    before = result(memories).copy()
    execute_product(product(c=small, resident=Resident(start=True, shift=5)), memories)
    sums = matrix(memories, D) + matrix(memories, A) @ matrix(memories, W)
    assert (memories.sums == sums).all()
    before[:2, :3] = np.rint(sums[:2, :3] / 32)
    assert (result(memories) == before).all()


@pytest.mark.parametrize("relu", [False, True])
def test_results_in_the_scratchpad_saturate_and_may_be_rectified(memories, relu):
    sums = matrix(memories, D) + matrix(memories, A) @ matrix(memories, W)
    execute_product(product(c=place(60), relu=relu), memories)
    assert (matrix(memories, 60) == np.clip(sums, 0 if relu else -128, 127)).all()


def test_accumulated_sums_wrap(memories):
    memories.accumulator[C : C + DIM] = (1 << 31) - 1
    memories.scratchpad[[*range(A, A + DIM), *range(W, W + DIM)]] = 100
    c = place(C, accumulator=True, add=True)
    execute_product(product(c=c, d=None), memories)
    assert (result(memories) == DIM * 100 * 100 - 1 - (1 << 31)).all()
