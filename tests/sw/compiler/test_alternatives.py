"""Alternatives to what is decided, by predicted cycles."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.compiler import alternatives
from celosia.sw.compiler.alternatives import plan_graph, plan_product
from celosia.sw.compiler.choose import choose
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
SHAPE = EncoderShape(layers=2, width=16, heads=4, hidden=32)


def layer(*lengths):
    return cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), lengths, 0).graph


def test_what_is_chosen_costs_no_more_than_what_was_searched():
    graph = layer(7, 5)
    found = plan_graph(graph, TINY)
    assert not found.scaled
    assert found.choices == choose(graph, TINY)
    for each in found.rejected:
        if each.name in ("piece_tiles", "block_tiles", "overlap") and each.cycles is not None:
            assert found.prediction.cycles <= each.cycles * 1.05


def test_every_alternative_is_listed():
    found = plan_graph(layer(5), TINY)
    listed = {(each.name, each.value) for each in found.rejected}
    assert len(listed) == len(list(found.choices.others())) == 14
    names = {name for name, _ in found.choices.items()}
    assert not found.choices.schedule_loads
    assert {name for name, _ in listed} == names - {"spare_tiles"}  # It would say nothing.


def test_a_better_alternative_says_why_it_was_not_taken(monkeypatch):
    graph, base = layer(5), plan_graph(layer(5), TINY).prediction.cycles
    found = iter([base - 1, base * 99 // 100 - 1, "too large", *[base] * 20])
    monkeypatch.setattr(alternatives, "cycles_or_reason", lambda *_: next(found))
    reasons = [each.reason for each in plan_graph(graph, TINY).rejected]
    assert reasons[:4] == [
        "saves less than 1%",
        "decided by a rule, or on a part of the graph",
        "too large",
        "",
    ]


@pytest.mark.slow
def test_alternatives_of_long_graphs_are_scaled(monkeypatch):
    graph = layer(20, 20)
    full = plan_graph(graph, TINY)
    monkeypatch.setattr(alternatives, "COMPARED_TILES", 0)
    scaled = plan_graph(graph, TINY)
    assert scaled.scaled
    assert scaled.prediction == full.prediction
    for one, other in zip(full.rejected, scaled.rejected, strict=True):
        if one.cycles is not None and other.cycles is not None:
            assert other.cycles == pytest.approx(one.cycles, rel=0.25)


def test_a_product_lists_the_cheapest_plan_with_each_other_value():
    problem = MatMul(m=128, n=128, k=128, scale=0.01, bias=True)
    found = plan_product(graph_of("product", problem), BASE)
    assert found.cycles == pytest.approx(8418, rel=0.01)
    names = {each.name for each in found.rejected}
    assert {"block_rows", "block_tiles", "last_block"} <= names
    assert all(each.cycles is not None and each.cycles > 8000 for each in found.rejected)


def test_cycles_of_a_part_are_scaled_to_the_whole(monkeypatch):
    """A part takes 200 cycles: 300 are half as much again, and 100 are one half."""
    monkeypatch.setattr(alternatives, "COMPARED_TILES", 0)
    monkeypatch.setattr(alternatives, "choose", lambda *_: DEFAULT)
    found = iter([200, 300, 100, "too large", *[200] * 20])
    monkeypatch.setattr(alternatives, "cycles_or_reason", lambda *_: next(found))
    planned = plan_graph(layer(5), TINY)
    assert planned.scaled
    whole = planned.cycles
    first, second, third, fourth, *_ = (each.cycles for each in planned.rejected)
    assert (first, second, third, fourth) == (whole * 3 // 2, whole // 2, None, whole)


def test_what_is_decided_for_a_product_is_read_off_its_stage():
    stage: Any = SimpleNamespace(
        rows=(12, 16, 4),
        tiles=(2, 3),
        outer="cols",
        a=SimpleNamespace(keep=True, first=1, tiles=4),
        w=SimpleNamespace(keep=False),
        parts=(2, 1),
    )
    other = SimpleNamespace(**{**vars(stage), "parts": (), "w": stage.a})
    read = alternatives._PRODUCT_CHOICES
    assert {name: of(stage) for name, of in read.items()} == {
        "block_rows": "16",
        "block_tiles": "3",
        "outer": "cols",
        "a": "kept",
        "b": "streamed",
        "first_a_tiles": "1",
        "last_block": "in parts",
    }
    assert (read["b"](cast("Any", other)), read["last_block"](cast("Any", other))) == (
        "kept",
        "at once",
    )
