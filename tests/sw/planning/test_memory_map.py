"""Rings of graphs: inside of their memories, in banks that do not wait for each other."""

from dataclasses import replace
from itertools import combinations

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.decoding.texts import Text
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage
from celosia.sw.planning.memory_map import (
    CACHED,
    FEW_ROWS,
    REGULAR,
    SEVERAL_ROWS,
    SEVERAL_TEXTS,
    MemoryMap,
)
from tests.support.levels import CONFIGS
from tests.sw.models.decoder_runs import model

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
    memory = MemoryMap(BASE, DEFAULT, FEW_ROWS)
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


TOGETHER = ("weights", "wide", "normalized", "words", "bytes", "activations")
"""Rings of both layouts."""


@pytest.mark.parametrize("preset", ["tiny", "rebalanced", "base"])
@pytest.mark.parametrize("layout", [CACHED, SEVERAL_TEXTS])
def test_rings_that_are_used_together_share_no_row(preset, layout):
    found = MemoryMap(resolve_config(preset, ()), DEFAULT, layout)
    names = [*TOGETHER, *(["narrow"] if "narrow" in found.rings else [])]
    for one, other in combinations(names, 2):
        assert not found.rings[one].meets(found.rings[other]), (one, other)
    assert found.rings["bytes"].meets(found.rings["queries"])
    assert all(first >= 0 for first, _ in found.rings["weights"].spans)


def test_products_of_several_texts_read_rows_where_neither_weights_nor_results_are():
    places = MemoryMap(BASE, DEFAULT, SEVERAL_TEXTS)
    bank = {name: set(banks(places, name)) for name in places.rings if name in places.layout.rings}
    assert bank["weights"] == {0, 1, 3}
    assert bank["activations"] == bank["bytes"] == {2}
    # Normalized rows: a piece of them is read from one bank, the next one is written to the other.
    assert banks(places, "narrow") == [3, 2]
    assert places.narrow_norms == "narrow"
    assert bank["weights in two"] == {0, 1} == bank[places.weights("narrow")]
    assert places.weights("activations") == places.weights("bytes") == "weights"
    for name in ("weights", "weights in two"):
        assert places.rings[name].step == places.key_tiles * BASE.max_blocks * BASE.dim
    # Sixteen rows of GPT-2 small: normalized bytes, hidden bytes, and int16.
    assert 2 * places.rows("narrow") >= 16 * 768 // 16
    assert places.rows("bytes") >= 16 * 3072 // 16
    assert places.rows("wide") >= 2 * 16 * 768 // 16


def test_rows_of_several_texts_are_apart_from_the_weights_that_they_meet():
    graph = model("gpt2", layers=1, width=768, heads=12, key_heads=12, whole=False).graph(
        [Text(3)] * 16, 24
    )
    plan = decide_graph(graph, BASE)
    linear = [stage for stage in plan.stages if isinstance(stage, LinearStage)]
    rings = [(stage.a.ring, stage.w.ring) for stage in linear if stage.a and stage.w]
    assert ("narrow", "weights in two") in rings
    assert ("bytes", "weights") in rings


@pytest.mark.parametrize(("rows", "wide"), [(8, 768), (9, 1536)])
def test_streams_choose_the_map(rows, wide):
    graph = model("opt", layers=1, width=768, heads=12, key_heads=12, whole=False).graph(
        [Text(3, rows)], 24
    )
    plan = decide_graph(graph, BASE)
    assert plan.rings["wide"].least == wide


@pytest.mark.parametrize(
    ("context", "tiles"), [(0, 3), (128, 3), (339, 6), (1024, 5), (79, 5), (111, 4)]
)
def test_pieces_of_keys_are_about_alike(context, tiles):
    graph = model("opt", layers=1, width=64, heads=1, key_heads=1, whole=False).graph(
        [Text(context)], 1200
    )
    stages = decide_graph(graph, BASE).stages
    (stage,) = (each for each in stages if isinstance(each, AttentionStage))
    (group,) = stage.groups
    assert (group.k.columns, group.v.k_tiles) == (tiles, tiles)
    assert (group.k.k_tiles, group.v.columns) == (4, 4)


def _rows(parts):
    """Every sixty-fourth of a bank that the parts have, again where several do."""
    return sorted(
        (bank, row) for bank, first, count in parts for row in range(first, first + count)
    )


def _all_but(*free: tuple[int, int, int], banks: tuple[int, ...] = (0, 1, 2, 3)):
    gone = {(bank, row) for bank, first, end in free for row in range(first, end)}
    return [(bank, row) for bank in banks for row in range(64) if (bank, row) not in gone]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (REGULAR, _all_but()),
        (FEW_ROWS, _all_but()),
        (CACHED, _all_but()),
        # Numerators, which are of heads alone, have the ends of two banks.
        (SEVERAL_ROWS, _all_but((1, 60, 64), (2, 60, 64))),
        # What is wide, normalized or of words begins where narrow results of bank 3 end.
        (SEVERAL_TEXTS, _all_but((0, 32, 40), (1, 32, 40))),
    ],
)
def test_rings_fill_their_banks_and_share_no_row(layout, expected):
    rings = {name: parts for name, parts in layout.rings.items() if name != "weights in two"}
    assert _rows(part for parts in rings.values() for part in parts) == expected


def test_where_blocks_are_an_eighth_of_half_a_bank_other_rings_have_parts_of_it():
    """A bank of `base` has 4,096 rows; eight blocks of eight tiles of two bytes take half of it."""
    spans = {
        blocks: {
            name: ring.spans
            for name, ring in MemoryMap(BASE, replace(DEFAULT, block_tiles=blocks)).rings.items()
            if ring.space == "scratchpad"
        }
        for blocks in (8, 9)
    }
    usual = {
        "weights": ((0, 2048), (12288, 2048)),
        "activations": ((4096, 2048), (8192, 2048)),
        "wide": ((6144, 2048),),
        "normalized": ((10240, 2048),),
        "words": ((14336, 2048),),
        "bytes": ((2048, 2048),),
    }
    assert spans[9] == usual
    assert spans[8] == usual | {
        "bytes": ((2048, 1024),),
        "narrow": ((3072, 1024),),
        "residuals": ((14336, 1024),),
        "added": ((15360, 1024),),
    }


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (REGULAR, []),
        (FEW_ROWS, _all_but((2, 36, 56), banks=(2,))),
        (CACHED, _all_but((2, 24, 48), banks=(2,))),
        (SEVERAL_ROWS, _all_but((1, 32, 48), (2, 32, 48), banks=(1, 2))),
        (SEVERAL_TEXTS, _all_but((3, 0, 40), banks=(2, 3))),
    ],
)
def test_what_heads_use_shares_no_row_and_leaves_what_other_rings_keep(layout, expected):
    parts = [part for found in layout.read_by_heads.values() for part in found]
    assert _rows([*parts, *layout.heads.values()]) == expected
