"""What a program means: moves, products, and stores that reach memory as late as they may."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import ElementType, Function, float_bits
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Space,
    Store,
    Transform,
)
from celosia.sw.ir.program_interpret import UNWRITTEN, interpret
from tests.support.levels import CONFIGS
from tests.support.nests import product

TINY = CONFIGS["tiny"]
SCRATCHPAD, ACCUMULATOR, PARAMETERS = Space.SCRATCHPAD, Space.ACCUMULATOR, Space.PARAMETERS


def rows(space: Space, row: int, count: int, blocks: int = 1) -> LocalRows:
    return LocalRows(space, row, count, blocks, count)


def run(ops: list[Op], results: list[Tensor], **values: np.ndarray) -> dict[str, np.ndarray]:
    given = {name: Tensor(name, str(v.dtype), *v.shape) for name, v in values.items()}
    return interpret(ops, TINY, given | {t.name: t for t in results}, values)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32"])
@pytest.mark.parametrize("cols", [1, 4, 7])
def test_a_matrix_in_blocks_comes_back(kind, cols):
    random, size = np.random.default_rng(cols), np.dtype(kind).itemsize
    x = random.integers(-100, 100, (3, cols)).astype(kind)
    place = LocalRows(SCRATCHPAD, 5, 3, -(-cols * size // TINY.dim), 9)
    view = View("x", 0, 0, 3, cols)
    ops = [Load(view, place), Store(View("y", 0, 0, 3, cols), place)]
    result = run(ops, [Tensor("y", kind, 3, cols)], x=x)
    assert (result["y"] == x).all()
    assert list(result) == ["y"]


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_add_up(unsigned, transposed):
    random = np.random.default_rng(3)
    a = random.integers(-128, 128, (3, 4)).astype(np.uint8 if unsigned else np.int8)
    w = random.integers(-128, 128, (2, 4) if transposed else (4, 2), np.int8)
    begun = product(0, 8, 2, 3, 4, 2, a_unsigned=unsigned, w_transposed=transposed)
    again = replace(begun, accumulate=True, last_depth=3)
    ops = [
        Load(View("a", 0, 0, 3, 4), rows(SCRATCHPAD, 0, 3)),
        Load(View("w", 0, 0, *w.shape), rows(SCRATCHPAD, 8, w.shape[0])),
        begun,
        again,
        Store(View("c", 0, 0, 3, 2), rows(ACCUMULATOR, 2, 3)),
    ]
    result = run(ops, [Tensor("c", "int32", 3, 2)], a=a, w=w)
    b = w.T.astype(int) if transposed else w.astype(int)
    assert (result["c"] == a.astype(int) @ b + a[:, :3].astype(int) @ b[:3]).all()


def test_sums_wrap():
    limit = np.full((1, 1), (1 << 31) - 1, np.int32)
    ops = [
        Load(View("x", 0, 0, 1, 1), rows(ACCUMULATOR, 0, 1)),
        Load(View("a", 0, 0, 1, 1), rows(SCRATCHPAD, 0, 1)),
        product(0, 0, 0, 1, 1, 1, accumulate=True),
        Store(View("c", 0, 0, 1, 1), rows(ACCUMULATOR, 0, 1)),
    ]
    result = run(ops, [Tensor("c", "int32", 1, 1)], x=limit, a=np.ones((1, 1), np.int8))
    assert result["c"] == -(1 << 31)


def test_parameters_are_a_vector():
    bias = np.arange(7, dtype=np.int32).reshape(1, 7)
    source = rows(ACCUMULATOR, 0, 2, 2)
    target = rows(SCRATCHPAD, 0, 2, 2)
    ops = [
        LoadParameters(View("bias", 0, 1, 1, 6), rows(PARAMETERS, 9, 2)),
        Load(View("x", 0, 0, 2, 6), source),
        Transform(
            Function.REQUANTIZE,
            source,
            6,
            (target,),
            settings={"type": ElementType.INT8, "scale": float_bits(2.0), "bias": 1},
            parameters={"bias_row": 9},
        ),
        Store(View("y", 0, 0, 2, 6), target),
    ]
    x = np.arange(12, dtype=np.int32).reshape(2, 6)
    result = run(ops, [Tensor("y", "int8", 2, 6)], x=x, bias=bias)
    assert (result["y"] == 2 * (x + bias[:, 1:])).all()


def relay(after: int) -> list[Op]:
    """Tensor x goes to y, and y to z."""
    x, y, z = (View(name, 0, 0, 1, 1) for name in "xyz")
    one, other = rows(SCRATCHPAD, 0, 1), rows(SCRATCHPAD, 1, 1)
    return [Load(x, one), Store(y, one), Store(z, one), Load(y, other, after), Store(z, other)]


@pytest.mark.parametrize(("after", "value"), [(0, UNWRITTEN), (1, 5), (2, 5)])
def test_a_load_sees_the_stores_that_it_waits_for_and_no_others(after, value):
    tensors = [Tensor(name, "uint8", 1, 1) for name in "yz"]
    result = run(relay(after), tensors, x=np.full((1, 1), 5, np.uint8))
    assert result["z"] == value
    assert result["y"] == 5


def test_statistics_that_are_not_complete_are_an_error():
    source, target = rows(ACCUMULATOR, 0, 1), rows(SCRATCHPAD, 0, 1)
    load = Load(View("x", 0, 0, 1, 4), source)
    maximum = Transform(Function.MAXIMUM, source, 4, settings={"start": 1})
    counted = Transform(Function.SUM, source, 4, settings={"start": 1})
    last = Transform(Function.PROBABILITY, source, 4, (target,))
    with pytest.raises(ValueError, match="are not complete"):
        run([load, maximum, counted, last], [], x=np.ones((1, 4), np.int32))
