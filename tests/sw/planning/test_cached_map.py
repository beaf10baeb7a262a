"""Rings of graphs with caches: where they are, and for how many rows there is room."""

from itertools import combinations

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.decoding.texts import Text
from celosia.sw.planning.cached_map import CachedMap, SeveralTextsMap
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import AttentionStage
from tests.sw.models.decoder_runs import model

BASE = resolve_config("base", ())
TOGETHER = ("weights", "wide", "normalized", "words", "bytes", "activations")


@pytest.mark.parametrize("preset", ["tiny", "rebalanced", "base"])
@pytest.mark.parametrize("places", [CachedMap, SeveralTextsMap])
def test_rings_that_are_used_together_share_no_row(preset, places):
    found = places(resolve_config(preset, ()), DEFAULT)
    for one, other in combinations(TOGETHER, 2):
        assert not found.rings[one].meets(found.rings[other]), (one, other)
    assert found.rings["bytes"].meets(found.rings["queries"])
    assert all(first >= 0 for first, _ in found.rings["weights"].spans)


def test_products_of_several_rows_read_one_bank_and_weights_three():
    places = SeveralTextsMap(BASE, DEFAULT)
    spans = {name: places.rings[name].spans for name in TOGETHER}
    bank = {name: {first // places.bank_rows for first, _ in each} for name, each in spans.items()}
    assert bank["weights"] == {0, 1, 3}
    assert bank["activations"] == bank["bytes"] == {2}
    assert places.rings["weights"].step == places.key_tiles * BASE.max_blocks * BASE.dim
    # Sixteen rows of GPT-2 small: normalized bytes, and int16.
    assert places.rows("activations") >= 16 * 768 // 16
    assert places.rows("wide") >= 2 * 16 * 768 // 16


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
