"""Rings and regions: inside their memories, and apart from each other."""

import pytest

from celosia.sw.ir.program import Space
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.rings import RING_SHARES
from tests.support.levels import CONFIGS, configured
from tests.support.regions import check_apart, spans

config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


@config
def test_rings_of_linear_operators_are_apart(config):
    places = Places(config)
    rings = (places.weights, places.bytes, places.activations, places.wide)
    assert {ring.space for ring in (*rings, places.words)} == {Space.SCRATCHPAD}
    check_apart(spans(*rings, places.words), config.scratchpad_rows)


@config
def test_halves_of_the_accumulator(config):
    places = Places(config)
    assert spans(places.halves) == [
        (0, places.accumulator_half),
        (places.accumulator_half, config.accumulator_rows),
    ]


@config
def test_blocks_and_pieces_fit(config):
    places = Places(config)
    assert 1 <= places.block_rows <= 4 * config.dim
    assert places.block_rows <= places.accumulator_half
    assert places.block_rows * 4 <= places.wide.rows
    piece = places.block_rows * places.piece_tiles
    assert piece <= places.activations.rows
    assert RING_SHARES * piece <= places.bank_rows // 2
    assert RING_SHARES * config.dim <= places.weights.rows


@pytest.mark.parametrize("preset", ["tiny", "small", "base", "rebalanced"])
def test_presets_have_room_for_blocks_of_four_tiles(preset):
    config = configured(preset)
    assert Places(config).block_rows == 4 * config.dim


def test_slots_alternate_between_halves():
    places = Places(configured("tiny", statistics_rows=16))
    assert [places.next_slots() for _ in range(4)] == [8, 0, 8, 0]


def test_results_of_a_byte_and_wider_ones_go_apart():
    places = Places(configured("tiny"))
    assert places.results(1) is places.bytes
    assert places.results(2) is places.results(4) is places.wide


def test_a_scratchpad_that_is_too_small_is_refused():
    config = configured("base", dim=64, scratchpad_kib=64)
    with pytest.raises(ValueError, match=r"scratchpad_kib: 64 are 1024 rows, .* 24\*dim = 1536"):
        Places(config)
