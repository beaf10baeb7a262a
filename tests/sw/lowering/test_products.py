"""Blocks of products: every element, whatever stays in the rings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import Load, LocalRows, Multiply, Space, Store
from celosia.sw.ir.program_interpret import interpret
from celosia.sw.ir.program_verify import verify
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.products import LocalRowsOfA, MemoryRowsOfA, ProductBlock, multiply
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.writer import ProgramWriter, Written
from tests.support.levels import CONFIGS
from tests.support.nests import apart

EXTENTS = st.one_of(st.integers(1, 9), st.integers(1, 70))
BASE = CONFIGS["base"]


def written(
    config: AcceleratorConfig, a: Tensor, w: Tensor, transposed: bool, columns: int
) -> tuple[tuple[Written, ...], Tensor]:
    """``c = a @ w``, block by block; the places are those of linear operators."""
    cols = w.rows if transposed else w.cols
    c = Tensor("c", "int32", a.rows, cols)
    writer = ProgramWriter(config, {t.name: t for t in (a, w, c)})
    places = Places(config)
    dim, size = config.dim, min(columns * config.dim, cols)
    for row in range(0, a.rows, places.block_rows):
        rows = min(places.block_rows, a.rows - row)
        for col in range(0, cols, size):
            width = min(size, cols - col)
            tiles = -(-width // dim)
            sums = LocalRows(Space.ACCUMULATOR, places.halves.take(tiles * rows), rows, tiles, rows)
            view = w.view().part(row=col, rows=width) if transposed else w.view().part(
                col=col, cols=width)  # fmt: skip
            part = a.view().part(row=row, rows=rows)
            block = ProductBlock(
                a=MemoryRowsOfA(writer, part, places.activations),
                w=view,
                w_transposed=transposed,
                weights=places.weights,
                c=sums,
                piece_tiles=places.piece_tiles,
            )
            multiply(writer, block)
            writer.store(View("c", row, col, rows, width), sums)
    return writer.finish(), c


@given(
    st.sampled_from(list(CONFIGS.values())), EXTENTS, EXTENTS, EXTENTS, st.booleans(), st.booleans()
)
@settings(max_examples=40)
def test_every_shape(config, rows, depth, cols, transposed, unsigned):
    random = np.random.default_rng(rows)
    a = Tensor("a", "uint8" if unsigned else "int8", rows, depth)
    w = Tensor("w", "int8", *((cols, depth) if transposed else (depth, cols)))
    columns = max(1, Places(config).accumulator_half // Places(config).block_rows)
    program, c = written(config, a, w, transposed, min(columns, 5))
    values = {
        "a": random.integers(-128, 128, a.shape).astype(a.type),
        "w": random.integers(-128, 128, w.shape, np.int8),
    }
    ops, tensors = [one.op for one in program], {t.name: t for t in (a, w, c)}
    verify(ops, config, tensors, ["a", "w"])
    upright = values["w"].T if transposed else values["w"]
    expected = values["a"].astype(int) @ upright.astype(int)
    assert (interpret(ops, config, tensors, values)["c"] == expected).all()


@pytest.mark.parametrize("transposed", [False, True])
def test_neighbors_take_a_from_both_banks_by_turns(transposed):
    shape = (256, 256)
    program, _ = written(BASE, Tensor("a", "int8", 64, 256), Tensor("w", "int8", *shape),
                         transposed, 4)  # fmt: skip
    bank = BASE.scratchpad_rows // 4
    order = [op.op.a // bank for op in apart(program, BASE) if isinstance(op.op, Multiply)]
    assert order[:12] == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1]


def test_rows_on_the_chip_need_no_loads():
    a, w = Tensor("a", "int8", 8, 40), Tensor("w", "int8", 40, 20)
    writer = ProgramWriter(BASE, {t.name: t for t in (a, w)})
    place = LocalRows(Space.SCRATCHPAD, 4096, 8, 3, 8)
    block = ProductBlock(
        a=LocalRowsOfA(place, unsigned=True),
        w=w.view(),
        w_transposed=False,
        weights=Ring(Space.SCRATCHPAD, (0, 1024)),
        c=LocalRows(Space.ACCUMULATOR, 0, 8, 2, 8),
        piece_tiles=2,
        accumulate=True,
    )
    multiply(writer, block)
    ops = [one.op for one in apart(writer.finish(), BASE)]
    products = [op for op in ops if isinstance(op, Multiply)]
    assert {op.view.tensor for op in ops if isinstance(op, Load)} == {"w"}
    assert {op.a for op in products} == {4096, 4104, 4112}
    assert all(op.accumulate and op.a_unsigned for op in products)
    assert sorted({(op.depth, op.cols) for op in products}) == [(8, 4), (8, 16), (16, 4), (16, 16)]


def test_what_was_deferred_is_written_between_products():
    a, w = Tensor("a", "int8", 64, 64), Tensor("w", "int8", 64, 256)
    y = Tensor("y", "int8", 4, 4)
    writer = ProgramWriter(BASE, {t.name: t for t in (a, w, y)})
    store = Store(y.view(), LocalRows(Space.SCRATCHPAD, 0, 4, 1, 4))
    writer.defer(lambda: writer.write(store), (y.view(),), delay=0)
    places = Places(BASE)
    block = ProductBlock(
        a=MemoryRowsOfA(writer, a.view(), places.activations),
        w=w.view(),
        w_transposed=False,
        weights=places.weights,
        c=LocalRows(Space.ACCUMULATOR, 0, 64, 16, 64),
        piece_tiles=places.piece_tiles,
    )
    multiply(writer, block)
    steps = [one.op for one in writer.finish() if not isinstance(one.op, Load)]
    assert steps.index(store) == 1, "behind the first four columns"


def test_a_piece_that_the_other_one_overwrites_is_loaded_again():
    config, random = CONFIGS["tiny"], np.random.default_rng(1)
    a, w = Tensor("a", "int8", 4, 8), Tensor("w", "int8", 8, 4)
    other, y, c = Tensor("x", "int8", 8, 4), Tensor("y", "int8", 16, 4), Tensor("c", "int32", 4, 4)
    tensors = {t.name: t for t in (a, w, other, y, c)}
    writer, ring = ProgramWriter(config, tensors), Ring(Space.SCRATCHPAD, (0, 12))
    # Of two pieces of w, the first one is there; the other one comes into its rows.
    upper, lower = (w.view().part(row=row, rows=4) for row in (0, 4))
    others = [other.view().part(row=row, rows=4) for row in (0, 4)]
    for number, view in enumerate((lower, upper, *others)):
        writer.store(View("y", 4 * number, 0, 4, 4), writer.load(view, ring))
    sums = LocalRows(Space.ACCUMULATOR, 0, 4, 1, 4)
    block = ProductBlock(
        a=MemoryRowsOfA(writer, a.view(), Places(config).activations),
        w=w.view(),
        w_transposed=False,
        weights=ring,
        c=sums,
        piece_tiles=1,
    )
    multiply(writer, block)
    writer.store(c.view(), sums)
    ops = [one.op for one in writer.finish()]
    verify(ops, config, tensors, ["a", "w", "x"])
    values = {t.name: random.integers(-128, 128, t.shape, np.int8) for t in (a, w, other)}
    expected = values["a"].astype(int) @ values["w"].astype(int)
    assert (interpret(ops, config, tensors, values)["c"] == expected).all()
    assert sum(isinstance(op, Load) and op.view == upper for op in ops) == 2
