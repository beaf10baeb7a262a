"""Masks, parts of sums, and lives of tensors, one by one."""

import pytest

from celosia.isa.encoding import Function, float_bits
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DivideBySums,
    Mask,
    Requantize,
    Sums,
    View,
)
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.scheduling.drains import SumsBlock, _function, mask_settings
from celosia.sw.scheduling.memory.lives import Life
from celosia.sw.timeline.local import LocalTimes, settle, stamp

PROBABILITIES = View("p", 0, 0, 12, 10)


def block(**more):
    """12 rows of 3 tiles of columns on an array of 4, of which the last one has 2 columns."""
    rows = LocalRows(Space.ACCUMULATOR, 100, 12, 3, 12)
    return SumsBlock(rows=rows, out=View("out", 20, 8, 12, 10), **more)


def test_some_columns_of_sums_are_blocks_further():
    whole = block(
        bias=View("bias", 0, 8, 1, 10),
        residual=View("res", 5, 0, 12, 10),
        copies=(View("copy", 1, 2, 1, 10),),
        scale=View("scale", 0, 8, 1, 10),
        slot=3,
    )
    part = whole.part(4, 4, 6)
    assert part.out == View("out", 20, 12, 12, 6)
    assert part.bias == View("bias", 0, 12, 1, 6)
    assert part.residual == View("res", 5, 4, 12, 6)
    assert part.copies == (View("copy", 1, 6, 1, 6),)
    assert part.scale == View("scale", 0, 12, 1, 6)
    assert (part.rows.row, part.rows.blocks, part.slot) == (100 + 12, 2, 3)
    assert (part.first, part.last) == (False, True)
    first = whole.part(4, 0, 4)
    assert (first.rows.row, first.rows.blocks, first.first, first.last) == (100, 1, True, False)
    assert block(scale=0.5).part(4, 0, 4).scale == 0.5
    inner = block(first=False, last=False).part(4, 0, 10)
    assert (inner.first, inner.last) == (False, False)


def test_int16_has_two_blocks_for_each_tile():
    rows = LocalRows(Space.SCRATCHPAD, 100, 12, 6, 12)
    wide = SumsBlock(rows=rows, tile_blocks=2, out=View("out", 0, 0, 12, 10))
    part = wide.part(4, 4, 6)
    assert (part.rows.row, part.rows.blocks) == (100 + 2 * 12, 3)


def test_some_rows_of_sums_have_their_slots():
    copies = tuple(View("copy", row, 0, 1, 10) for row in range(12))
    part = block(residual=View("res", 5, 0, 12, 10), copies=copies, slot=3).rows_part(4, 2)
    assert part.out == View("out", 24, 8, 2, 10)
    assert part.residual == View("res", 9, 0, 2, 10)
    assert part.copies == copies[4:6]
    assert (part.slot, part.rows.rows) == (7, 2)


@pytest.mark.parametrize(
    ("mask", "settings"),
    [
        (Mask(), {"causal": 0, "first_row": 7, "first_key": 9}),
        (Mask(keys=0), {"causal": 0, "first_row": 7, "first_key": 9, "keys": 0}),
        (
            Mask(causal=True, first_row=2, window=3),
            {"causal": 1, "first_row": 9, "first_key": 9, "window": 3},
        ),
    ],
)
def test_a_mask_is_set_for_a_block_of_scores(mask, settings):
    assert mask_settings(mask, 7, 9) == settings


@pytest.mark.parametrize(
    ("how", "counts", "function", "settings"),
    [
        (Sums(), False, Function.REQUANTIZE, {}),
        (Requantize(0.5, 3, True), False, Function.REQUANTIZE, {"zero_point": 3, "relu": 1}),
        (Requantize(0.5), False, Function.REQUANTIZE, {"zero_point": 0, "relu": 0}),
        (
            Activation("gelu", 0.5, 0.25, 4),
            False,
            Function.GELU,
            {"zero_point": 4, "scale2": float_bits(0.25)},
        ),
        (DivideBySums(PROBABILITIES, 0.5), False, Function.CONTEXT, {"statistics": 3}),
        (
            AddResidual(0.5, View("res", 0, 0, 12, 10), 0.25),
            False,
            Function.RESIDUAL,
            {"scale2": float_bits(0.25)},
        ),
        (
            AddResidual(0.5, View("res", 0, 0, 12, 10), 0.25),
            True,
            Function.RESIDUAL,
            {
                "scale2": float_bits(0.25),
                "moments": 1,
                "statistics": 3,
                "start": 1,
                "finish": 0,
            },
        ),
    ],
)
def test_each_finish_is_a_function_with_its_settings(how, counts, function, settings):
    assert _function(how, block(slot=3, last=False), counts=counts) == (function, settings)


def test_lives_that_touch_do_not_meet():
    def life(begin, end):
        return Life(name="t", size=64, begin=begin, end=end)

    assert life(1, 3).meets(life(2, 5))
    assert life(2, 5).meets(life(1, 3))
    assert life(1, 9).meets(life(3, 4))
    assert not life(1, 3).meets(life(3, 5))
    assert not life(3, 5).meets(life(1, 3))


def test_rows_keep_their_times_unless_another_has_come():
    times = LocalTimes.of(5)
    assert times.written == times.read == [0.0] * 5
    stamp(times.read, (1, 4), -7)
    stamp(times.read, (3, 4), -8)
    settle(times.read, (0, 5), -7, 20.5)
    assert times.read == [0.0, 20.5, 20.5, -8, 0.0]
    assert times.written == [0.0] * 5
