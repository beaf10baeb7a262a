"""How heads are cut on `base`, by hand: half of its accumulator are 512 rows of 16 sums.

A block has 64 rows at most, a bank 4,096 rows, and half of the slots are for 128 rows.
"""

from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, Graph, Mask, MatMul, Tensor, View
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.head_cuts import HeadCuts, HeadShape, head_shape
from celosia.sw.planning.forms.groups import Head
from celosia.sw.planning.memory_map import FEW_ROWS, REGULAR, MemoryMap

BASE = resolve_config("base")
SHAPE = HeadShape(
    rows=128,
    keys=128,
    depth=64,
    width=64,
    parameters=False,
    onto=False,
    type="int8",
    causal=False,
    first_row=0,
    transposed=False,
    stored=True,
    begins=16,
)


def cuts(choices: Choices = DEFAULT, layout=REGULAR, slots=128, **shape) -> HeadCuts:
    """Heads of that shape but for what is given, cut."""
    wanted = replace(SHAPE, **shape)
    rows, keys = wanted.rows, wanted.keys
    sums, mask = View("sums", 0, 0, rows, 1), Mask(causal=wanted.causal)
    scores = MatMul(
        name="scores",
        out=View("numerators", 0, 0, rows, keys),
        a=View("q", 0, 0, rows, wanted.depth),
        b=View("k", 0, 0, wanted.depth, keys),
        finish=DeferredSoftmax(1.0, sums, mask, stored=wanted.stored),
    )
    context = MatMul(
        name="context",
        out=View("out", 0, 0, rows, wanted.width),
        a=scores.out,
        b=View("v", 0, 0, keys, wanted.width),
        finish=DivideBySums(sums, 1.0),
    )
    found = HeadCuts((Head(scores, context),), wanted, MemoryMap(BASE, choices, layout))
    found.cut(slots)
    return found


@pytest.mark.parametrize(
    ("shape", "rows", "keys"),
    [
        # 8 tiles of keys: 512 / 8 rows, as many as a block has.
        ({}, (64, 64), (128,)),
        # 32 tiles: 16 rows, just the array's.
        ({"keys": 512}, (16,) * 8, (512,)),
        # 33 tiles: 15 rows are too few; scores of 64 rows and 4 tiles are half of the 512.
        ({"keys": 528}, (64, 64), (64,) * 8 + (16,)),
        # Scores that never wait are computed twice only below two thirds of the array's rows: 11.
        ({"keys": 528, "stored": False}, (15,) * 8 + (8,), (528,)),
        ({"keys": 736, "stored": False}, (11,) * 11 + (7,), (736,)),
        ({"keys": 752, "stored": False}, (64, 64), (64,) * 11 + (48,)),
        # Few queries: all of them at once.
        ({"keys": 512, "rows": 8}, (8,), (512,)),
        ({"rows": 16, "keys": 528}, (8, 8), (528,)),
        # What scores begin with has the other half of the half.
        ({"keys": 256, "onto": True}, (16,) * 8, (256,)),
        ({"keys": 272, "onto": True}, (64, 64), (64, 64, 64, 64, 16)),
        # Parts begin at pairs of tiles.
        ({"keys": 544, "begins": 32}, (64, 64), (64,) * 8 + (32,)),
    ],
)
def test_rows_of_blocks_and_keys_of_parts(shape, rows, keys):
    found = cuts(**shape)
    assert sum(rows) == (shape | {"rows": shape.get("rows", 128)})["rows"]
    assert (found.rows, found.keys) == (rows, keys)
    assert found.scores == max(rows) * -(-max(keys) // 16)
    assert found.at_once is (len(keys) == 1 and not shape.get("onto", False))


def test_fewer_slots_make_blocks_lower():
    assert cuts(slots=48).rows == (43, 43, 42)
    assert cuts(Choices(block_tiles=2)).rows == (32,) * 4


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        ({}, True),
        ({"stored": False}, False),
        ({"rows": 64}, False),
        ({"rows": 65}, True),
        ({"width": 256}, True),
        ({"width": 272}, False),
        ({"keys": 512}, False),
        ({"choices": Choices(scores_in_memory=False)}, False),
        ({"layout": FEW_ROWS}, False),
    ],
)
def test_scores_wait_in_memory_where_several_blocks_have_several_parts(more, waits):
    found = cuts(**{"keys": 1024, **more})
    assert found.spilled is waits
    assert ("scores back" in found.spans) is waits
    if waits:
        assert found.spans["scores back"] == (2048, 2048)


def test_whole_scores_can_be_declined():
    found = cuts(Choices(whole_scores=False), stored=False)
    assert (found.rows, found.keys) == ((64, 64), (64, 64))


def test_short_blocks_are_enough_if_that_is_chosen():
    # 1,024 keys are 64 tiles, of which 512 rows of sums hold 8 rows: half of the array's.
    found = cuts(Choices(short_blocks=True), rows=16, keys=1024)
    assert (found.rows, found.keys) == ((8, 8), (1024,))
    assert len(cuts(Choices(short_blocks=True), rows=16, keys=1152).keys) > 1


def test_causal_blocks_that_see_few_keys_have_more_rows():
    # 256 keys are 16 tiles: 32 rows.  The first 64 rows see 4 tiles, the second 8: 512 sums both.
    found = cuts(rows=256, keys=256, causal=True)
    assert (found.rows, found.keys) == ((64, 64, 32, 32, 32, 32), (256,))
    assert found.scores == 512
    assert not found.may_alternate
    # Of 17 tiles there are 30 rows, and causal blocks of less than two tiles are cut by keys.
    assert len(cuts(rows=256, keys=272, causal=True).keys) > 1


def test_numerators_have_half_a_bank_or_more_beside_the_queries():
    spans = cuts().spans
    assert spans["numerators even"] == (4096, 2048)
    assert spans["queries even"] == (6144, 2048)


def test_softmax_of_a_part_and_its_products_take_cycles():
    # 64 rows of 8 tiles: 4 + 4 tiles wide products take 4,096; the lanes 3 x 512 and 2 x 57.
    wide, narrow = cuts(), cuts(depth=16, width=16)
    assert (wide.parts_of_softmax, narrow.parts_of_softmax) == (1, 2)
    assert not wide.may_alternate
    assert narrow.may_alternate
    # Rows below the array's still take its 16 cycles: 8 x 8 x 3 + 114 of 16 x 8 x 2.
    few = cuts(rows=8, depth=16, width=16)
    assert few.parts_of_softmax == 2
    assert few.may_alternate is False


@pytest.mark.parametrize(
    ("shape", "rows", "scores"),
    [
        # 512 / (8 + 1) = 56 rows: 3 tiles, but 8 tiles of rows are 4 blocks of 2.
        ({}, (32,) * 4, 256),
        ({"rows": 96}, (48, 48), 384),
        ({"rows": 112}, (38, 38, 36), 304),
        # 16 tiles of keys: 512 / 17 = 30 rows, less than two tiles; five blocks, nearly alike.
        ({"keys": 256}, (26, 26, 26, 26, 24), 416),
    ],
)
def test_blocks_by_turns_are_alike_if_they_can_be(shape, rows, scores):
    found = cuts(**{"depth": 16, "width": 16, **shape})
    assert found.may_alternate
    assert found.sums_by_turns == (scores, max(rows))
    found.alternate(scores)
    assert (found.rows, found.scores, found.alternates) == (rows, scores, True)


def test_too_few_rows_take_no_turns():
    # 512 / (41 + 1) = 12 rows are three quarters of the array's; 512 / (42 + 1) = 11 are not.
    for tiles, may in ((41, True), (42, False)):
        assert cuts(keys=16 * tiles, depth=16, width=16, stored=False).may_alternate is may


@pytest.mark.parametrize(
    ("keys", "more", "ahead"),
    [
        # 512 rows for scores of 512; of 256, with two in each 2,048 of numerators.
        (128, {}, 0),
        (64, {}, 1),
        # Of 128, four; but statistics of 256 rows are four blocks, one of which is at work.
        (32, {}, 2),
        (32, {"rows": 32}, 6),
        (128, {"onto": True}, 1),
        (1024, {}, 1),
    ],
)
def test_parts_whose_scores_have_room_beside_one(keys, more, ahead):
    assert cuts(keys=keys, **more).most_ahead == ahead


@pytest.mark.parametrize("width", [8192, 8193])
def test_a_head_has_blocks_of_a_row_at_least_even_if_its_sums_do_not_fit(width):
    assert cuts(width=width, rows=2).rows == (1, 1)


def test_wider_contexts_take_more_of_a_half():
    # 512 / (8 + 2) = 51 rows: 3 tiles, of 8 alike 2; contexts of 2 tiles.
    assert cuts(depth=16, width=32).sums_by_turns == (32 * 8, 32 * 2)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_shape_of_a_head(transposed):
    sums, mask = View("sums", 0, 0, 24, 1), Mask(causal=True, first_row=7)
    b = View("k", 0, 0, 40, 32) if transposed else View("k", 0, 0, 32, 40)
    finish = DeferredSoftmax(1.0, sums, mask, stored=True, dithered=True)
    out, q = View("numerators", 0, 0, 24, 40), View("q", 0, 0, 24, 32)
    scores = MatMul(name="s", out=out, a=q, b=b, b_transposed=transposed, finish=finish)
    v, result = View("v", 0, 0, 40, 48), View("out", 0, 0, 24, 48)
    context = MatMul(name="c", out=result, a=out, b=v, finish=DivideBySums(sums, 1.0))
    tensors = {"out": Tensor("out", "int16", 24, 48)}
    graph = Graph(name="g", tensors=tensors, ops=(), inputs=(), outputs=())
    found = head_shape(Head(scores, context), graph, 4)
    wanted = replace(
        SHAPE,
        rows=24,
        keys=40,
        depth=32,
        width=48,
        type="int16",
        causal=True,
        first_row=7,
        transposed=transposed,
        begins=16,
    )
    assert found == wanted
    onto = replace(scores, onto=View("mask", 0, 0, 24, 40), finish=replace(finish, mask=Mask()))
    biased = replace(context, bias=View("bias", 0, 0, 1, 48))
    found = head_shape(Head(onto, biased), graph, 4)
    assert (found.onto, found.parameters, found.causal) == (True, True, False)
