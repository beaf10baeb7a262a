"""Rules that stages have in common, at their very edges: what just fits is legal."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.rules.common import StageRules

MACHINE = SimpleNamespace(dim=4, max_blocks=3)
RINGS = {
    "one": RingPlan(space="scratchpad", spans=((0, 24),)),
    "two": RingPlan(space="scratchpad", spans=((24, 8), (32, 12))),
    "steps": RingPlan(space="scratchpad", spans=((50, 12),), step=8),
    "sums": RingPlan(space="accumulator", spans=((0, 24),)),
}
PLAN: Any = SimpleNamespace(machine=MACHINE, rings=RINGS)
GRAPH: Any = SimpleNamespace(tensors={"t": SimpleNamespace(element_bytes=2, type="int16")})
RULES = StageRules(PLAN, GRAPH, None)  # type: ignore[arg-type]


def broken(rules) -> str:
    """The first rule that does not hold; empty if all do."""
    return next((name for name, holds, _ in rules if not holds), "")


@pytest.mark.parametrize(
    ("ring", "rows", "more", "legal"),
    [
        ("one", 24, {}, True),
        ("one", 25, {}, False),
        # Two pieces in one span, and two that take a third of it each.
        ("one", 12, {"pieces": 2}, True),
        ("one", 13, {"pieces": 2}, False),
        ("one", 8, {"pieces": 2, "shares": 3}, True),
        ("one", 9, {"pieces": 2, "shares": 3}, False),
        # A span for each piece; a third piece shares one.
        ("two", 8, {"pieces": 2, "shares": 3}, True),
        ("two", 9, {"pieces": 2, "shares": 3}, False),
        ("two", 2, {"pieces": 3}, True),
        ("two", 3, {"pieces": 3}, False),
        # Places are eight rows apart, but no more than the span has.
        ("steps", 12, {}, True),
        ("steps", 4, {"pieces": 2}, False),
    ],
)
def test_pieces_fit_a_ring_up_to_its_last_row(ring, rows, more, legal):
    found = broken(RULES.fits("fits", ring, "scratchpad", rows, **more))
    assert found == ("" if legal else "fits")


def test_a_ring_is_there_and_in_the_right_memory():
    assert broken(RULES.fits("fits", "sums", "scratchpad", 1)) == "ring-space"
    assert broken(RULES.fits("fits", "sums", "accumulator", 1)) == ""
    assert next(iter(RULES.fits("fits", "none", "scratchpad", 1)))[:2] == ("ring", False)


@pytest.mark.parametrize(
    ("rows", "whole", "rule"),
    [((4096, 4), 4100, ""), ((4097,), 4097, "rows-most"), ((4, 4), 9, "rows"), ((9, 0), 9, "rows")],
)
def test_blocks_are_a_cut_of_all_rows_and_no_taller_than_a_pitch(rows, whole, rule):
    assert broken(RULES.block_rows(rows, whole)) == rule


def piece(k_tiles=1, columns=1, pieces=1, ring="one") -> Any:
    return SimpleNamespace(k_tiles=k_tiles, columns=columns, pieces=pieces, ring=ring)


@pytest.mark.parametrize(
    ("w", "depth", "transposed", "rule"),
    [
        # 24 rows are six tiles of four: of two tiles of K and three of columns.
        (piece(2, 3), 8, False, ""),
        (piece(2, 4), 8, False, "w-tiles"),
        (piece(3, 3), 12, False, "w-fits"),
        (piece(3, 2), 12, True, ""),
        (piece(4, 1), 16, True, "w-tiles"),
        (piece(pieces=3), 4, False, "w-pieces"),
        # Two pieces of five tiles of K: three and two.
        (piece(3, 1, 2), 20, False, ""),
        (piece(4, 1, 2), 32, False, "w-fits"),
    ],
)
def test_pieces_of_weights_are_as_wide_as_a_load_and_fit_their_ring(w, depth, transposed, rule):
    assert broken(RULES.pieces(w, depth, transposed=transposed)) == rule


@pytest.mark.parametrize(
    ("k_tiles", "pieces", "depth", "nest"),
    [
        (4, 1, 9, (3, 1)),
        (4, 1, 17, (4, 1)),
        (3, 2, 20, (3, 2)),
        (3, 2, 4, (1, 1)),
        (1, 2, 99, (1, 2)),
    ],
)
def test_a_nest_has_no_more_tiles_than_the_product_is_deep(k_tiles, pieces, depth, nest):
    assert RULES.nest(piece(k_tiles, 1, pieces), depth) == nest


def test_rings_are_apart_where_one_ends_in_front_of_the_other():
    assert broken(RULES.apart(("one",), ("two",), ("sums",))) == ""
    meeting = {**RINGS, "two": RingPlan(space="scratchpad", spans=((23, 8),))}
    rules = StageRules(SimpleNamespace(machine=MACHINE, rings=meeting), GRAPH, None)  # type: ignore[arg-type]
    assert broken(rules.apart(("one",), ("two",))) == "ring-apart"
