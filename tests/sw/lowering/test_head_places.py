"""Heads of any shape have their places, apart from each other, and are cut where it is best."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.lowering.choices import DEFAULT
from celosia.sw.lowering.cuts import tiles
from celosia.sw.lowering.head_places import HeadPlaces, HeadShape, head_places
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.rings import RING_SHARES
from tests.support.levels import CONFIGS, configured
from tests.support.regions import check_apart, spans


def of(config: str, rows: int, keys: int, width: int = 64, **choices: bool) -> HeadPlaces:
    shape = HeadShape(rows=rows, keys=keys, depth=width, width=width)
    return head_places(Places(configured(config), replace(DEFAULT, **choices)), shape)


@given(
    st.sampled_from(sorted(CONFIGS)),
    st.booleans(),
    *(st.integers(1, 4096) for _ in range(2)),
    *(st.integers(1, 200) for _ in range(2)),
)
def test_places_are_apart_and_large_enough(name, whole_scores, rows, keys, depth, width):
    config = CONFIGS[name]
    places = Places(config, replace(DEFAULT, whole_scores=whole_scores))
    half, dim = config.accumulator_rows // 2, config.dim
    width = min(width, half * dim)
    found = head_places(places, HeadShape(rows=rows, keys=keys, depth=depth, width=width))
    block, wide = found.block_rows, tiles(min(keys, found.block_keys), dim)
    size, context = block * wide, block * tiles(width, dim)
    assert 1 <= block <= min(places.block_rows, config.statistics_rows // 2)
    regions = [(first, first + size) for first in found.numerators]
    rings = (*found.queries, found.results, *dict.fromkeys((found.keys, found.values)))
    check_apart(spans(*rings) + regions, config.scratchpad_rows)
    queries = min(tiles(depth, dim), RING_SHARES * places.piece_tiles)
    assert all(ring.rows >= block * queries for ring in found.queries)
    # Scores of two parts by turns, or of all keys in one place.
    assert found.at_once or found.scores[0] + size <= found.scores[1]
    assert found.scores[1] + size <= half <= min(found.contexts)
    assert max(found.contexts) + context <= 2 * half


@pytest.mark.parametrize(
    ("config", "keys", "rows", "at_once", "streams"),
    [
        ("base", 128, 64, True, False),
        ("base", 512, 16, True, False),
        ("base", 1024, 64, False, True),
        ("rebalanced", 128, 64, True, False),
        ("rebalanced", 512, 28, True, True),
        ("rebalanced", 1024, 15, True, True),
        ("rebalanced", 2048, 64, False, True),
    ],
)
def test_how_heads_of_64_are_cut(config, keys, rows, at_once, streams):
    found = of(config, keys, keys)
    assert (found.block_rows, found.at_once, found.streams) == (rows, at_once, streams)


def test_a_few_queries_meet_all_keys_at_once_if_they_fit():
    assert of("base", 3, 1024).block_keys == 1024
    assert of("base", 3, 4096).block_keys < 4096


def test_what_is_said_of_them():
    assert str(of("rebalanced", 512, 512)) == (
        "blocks of up to 28 rows; all scores of a block at once; keys and values are streamed for"
        " each block"
    )
    assert "; scores of 64 keys at a time, for the maximum and once again;" in str(
        of("base", 1024, 1024)
    )


def test_keys_block_by_block_by_choice():
    found = of("base", 128, 128, whole_scores=False)
    assert found.block_keys == 64
    assert not found.streams


def test_a_context_that_does_not_fit_is_refused():
    most = CONFIGS["tiny"].accumulator_rows // 2 * CONFIGS["tiny"].dim
    of("tiny", 3, 3, most)
    with pytest.raises(ValueError, match=f"a head is {most + 1} wide, more than the {most} that"):
        of("tiny", 3, 3, most + 1)
