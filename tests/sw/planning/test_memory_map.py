"""Rings of graphs: inside of their memories, in banks that do not wait for each other."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.memory_map import FewRowsMap, MemoryMap
from tests.support.levels import CONFIGS

BASE = resolve_config("base")


def banks(memory: MemoryMap, name: str) -> list[int]:
    return [first // memory.bank_rows for first, _ in memory.rings[name].spans]


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_rings_are_inside_and_a_block_fits(config):
    memory = MemoryMap(config, DEFAULT)
    sizes = {
        "scratchpad": config.scratchpad_rows,
        "accumulator": config.accumulator_rows,
        "parameters": config.parameter_rows,
        "statistics": config.statistics_rows,
    }
    for ring in memory.rings.values():
        assert all(0 <= first < first + rows <= sizes[ring.space] for first, rows in ring.spans)
    assert 1 <= memory.block_rows <= memory.rows("halves")
    for size in (1, 2, 4):
        ring = memory.results(size)
        tiles = memory.drain_tiles(ring, memory.block_rows * size)
        assert tiles * memory.block_rows * size <= memory.rows(ring)


def test_pieces_alternate_between_banks():
    memory = MemoryMap(BASE, DEFAULT)
    assert banks(memory, "weights") == [0, 3]
    assert banks(memory, "activations") == [1, 2]


def test_few_rows_leave_three_banks_to_the_weights():
    memory = FewRowsMap(BASE, DEFAULT)
    assert banks(memory, "weights") == [0, 1, 3]
    small = ["bytes", "wide", "normalized", "activations", "words"]
    assert all(banks(memory, name) == [2] for name in small)
    assert sum(memory.rows(name) for name in small) == memory.bank_rows
    for name, (first, rows) in memory.head_spans(16).items():
        assert 2 * memory.bank_rows <= first < first + rows <= 3 * memory.bank_rows, name


def test_a_ring_that_is_just_like_another_one_is_that_one():
    memory = MemoryMap(BASE, DEFAULT)
    one, other = (RingPlan(space="scratchpad", spans=((first, 8),)) for first in (0, 8))
    names = [memory.add("keys", ring) for ring in (one, other, one)]
    assert names == ["keys", "keys 2", "keys"]
    assert memory.rings["keys 2"] == other


def test_a_scratchpad_that_is_too_small_is_refused():
    config = BASE.with_values({"dim": 64, "scratchpad_kib": 32})
    with pytest.raises(ValueError, match=r"scratchpad_kib: 32 are 512 rows, but .* 1536"):
        MemoryMap(config, DEFAULT)
