"""Products go on along K, wherever their operands come from."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from celosia.isa.encoding import Function
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import View
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.product_verify import ProductChecker
from celosia.sw.ir.program import Load, LocalRows, Products, Space, Transform
from celosia.sw.ir.program_interpret import interpret as interpret_program
from celosia.sw.ir.program_rows import MadeRows
from celosia.sw.models.cases import encoder_case, random_quantized_encoder
from celosia.sw.planning.choices import Choices
from celosia.sw.reference.encoder import EncoderShape
from tests.support.levels import CONFIGS

DIM = 4
TILES = 5
W_ROW = TILES * DIM
"""The first row of W in the scratchpad; A is in those before, and of both tile k is the k-th."""

Fills = Callable[[MadeRows, int], None]
"""Puts tile k of A into its rows."""


def loaded(rows: MadeRows, k: int) -> None:
    to = LocalRows(Space.SCRATCHPAD, k * DIM, DIM, 1, DIM)
    rows.write(Load(View("a", 0, k * DIM, DIM, DIM), to), (to.row, to.end))


def made(rows: MadeRows, k: int) -> None:
    sums = LocalRows(Space.ACCUMULATOR, W_ROW, DIM, 1, DIM)
    to = LocalRows(Space.SCRATCHPAD, k * DIM, DIM, 1, DIM)
    rows.write(Transform(Function.REQUANTIZE, sums, DIM, (to,)), (to.row, to.end))


def nest(first: int, pieces: int, *, accumulate: bool) -> Products:
    """The products of so many tiles along K."""
    return Products(
        a=first * DIM,
        w=W_ROW + first * DIM,
        c=0,
        a_k=DIM,
        w_k=DIM,
        w_column=DIM,
        c_column=DIM,
        a_piece=DIM,
        w_piece=DIM,
        rows=DIM,
        k=1,
        pieces=pieces,
        columns=1,
        last_depth=DIM,
        last_cols=DIM,
        accumulate=accumulate,
    )


def check(a: Sequence[Fills], nests: Sequence[tuple[int, int]], *, w_made: bool = False) -> None:
    """Check nests, each the first tile along K and how many: tiles of A are there, and W is."""
    scratchpad = MadeRows(2 * W_ROW)
    for k, fill in enumerate(a):
        fill(scratchpad, k)
    w = LocalRows(Space.SCRATCHPAD, W_ROW, W_ROW, 1, W_ROW)
    sums = LocalRows(Space.ACCUMULATOR, W_ROW, DIM, 1, DIM)
    load = Load(View("w", 0, 0, W_ROW, DIM), w)
    op = Transform(Function.REQUANTIZE, sums, DIM, (w,)) if w_made else load
    scratchpad.write(op, (w.row, w.end))
    checker = ProductChecker(DIM, scratchpad, MadeRows(W_ROW))
    for number, (first, pieces) in enumerate(nests):
        checker.take(nest(first, pieces, accumulate=number > 0))


ORDERS = [
    [(0, 2), (2, 2), (4, 1)],
    [(3, 2), (1, 2), (0, 1)],
    [(1, 2), (3, 1), (0, 1), (4, 1)],
]
"""To the end of K, from there, and to both ends in turn."""


@pytest.mark.parametrize("nests", ORDERS)
@pytest.mark.parametrize("w_made", [False, True])
@pytest.mark.parametrize("which", range(1 << TILES))
def test_any_tiles_of_a_may_be_made_and_others_loaded(nests, w_made, which):
    a = [made if which >> k & 1 else loaded for k in range(TILES)]
    check(a, nests, w_made=w_made)


def instead(tile: int) -> Fills:
    """Another tile of A than the one that belongs there."""

    def fill(rows: MadeRows, k: int) -> None:
        to = LocalRows(Space.SCRATCHPAD, k * DIM, DIM, 1, DIM)
        rows.write(Load(View("a", 0, tile * DIM, DIM, DIM), to), (to.row, to.end))

    return fill


@pytest.mark.parametrize(
    ("a", "nests"),
    [
        ([instead(1), loaded, made, loaded, loaded], [(3, 2), (1, 2), (0, 1)]),
        ([loaded, made, loaded, loaded, instead(3)], [(0, 2), (2, 2), (4, 1)]),
        # A tile that was made comes between the one at the other end and the wrong one.
        ([instead(2), loaded, loaded, made, loaded], [(1, 2), (3, 1), (0, 1), (4, 1)]),
    ],
)
def test_a_wrong_tile_beside_a_loaded_one_is_found(a, nests):
    with pytest.raises(ValueError, match="goes on with"):
        check(a, nests)


@pytest.mark.parametrize("nests", [[(0, 2), (3, 2)], [(3, 2), (0, 2)], [(1, 2), (1, 2)]])
def test_a_gap_of_w_is_found_where_a_was_made(nests):
    with pytest.raises(ValueError, match="goes on with"):
        check([made] * TILES, nests)


def accepted(ops: Sequence[Products], pitch: int) -> bool:
    """Whether products are well formed where more of A and W is loaded than any of them reads."""
    scratchpad = MadeRows(512)
    for name, row, step in (("a", 0, DIM), ("w", 64, pitch)):
        rows = DIM if name == "a" else 6 * DIM
        to = LocalRows(Space.SCRATCHPAD, row, rows, 6, step)
        ranges = [(first, first + rows) for first in range(row, row + 6 * step, step)]
        scratchpad.write(Load(View(name, 0, 0, rows, 6 * DIM), to), *ranges)
    checker = ProductChecker(DIM, scratchpad, MadeRows(512))
    try:
        for op in ops:
            checker.take(op)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("pitch", [6 * DIM, 8 * DIM])
@pytest.mark.parametrize("offset", [0, 4 * DIM])
def test_a_nest_is_well_formed_if_its_products_are(transposed, pitch, offset):
    """Steps through W are those of its load, or others: then it may be no product, or is as slow.

    Tiles of W behind each other in a block go along one axis, and blocks along the other.
    """
    found = set()
    steps = (DIM, 2 * DIM, pitch - DIM, pitch, pitch + DIM)
    for k, columns, w_k, w_column in product((1, 2, 3), (1, 2, 3), steps, steps):
        op = replace(
            nest(0, 1, accumulate=False),
            **{"w": 64 + offset, "k": k, "columns": columns, "w_k": w_k, "w_column": w_column},
            w_transposed=transposed,
        )
        whole = accepted([op], pitch)
        assert whole == accepted([*op.each(DIM)], pitch), op
        found.add(whole)
    assert found == {False, True}


def test_a_product_whose_rows_are_on_the_chip_in_part():
    """What no longer is, is loaded; the last block of rows goes to and fro along K."""
    shape = EncoderShape(layers=1, width=64, heads=1, hidden=1536)
    case = encoder_case(random_quantized_encoder(shape, seed=0), [23], seed=0)
    base = CONFIGS["base"]
    how = Decide(Choices(fused_norms=False, schedule_loads=True))
    compiled = compile_graph(case.graph, base, how, timing=MemoryTiming())
    ops = [written.op for written in compiled.ops]
    views = {op.view for op in ops if isinstance(op, Load) and op.view.tensor == "0.up.small"}
    assert 0 < sum(view.cols for view in views) < shape.hidden
    tensors, constants = compiled.graph.tensors, compiled.graph.constants
    found = interpret_program(ops, base, tensors, {**constants, **case.inputs})
    wanted = interpret(case.graph, case.inputs)
    for name in case.graph.outputs:
        np.testing.assert_array_equal(found[name], wanted[name])
