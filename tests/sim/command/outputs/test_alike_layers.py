"""Layers that are alike."""

from dataclasses import replace

import pytest

from celosia.sim.command.outputs.alike_layers import by_layer, together
from celosia.sim.run.report import Measurement

NORM = Measurement(name="norm", mismatches=0, elements_checked=12)
QUERY = Measurement(
    name="query",
    macs=100,
    cycles=30,
    predicted_cycles=28,
    mismatches=0,
    elements_checked=5,
    dram_read_bytes=7,
    dram_write_bytes=2,
    commands=3,
    counters={"array_rows": 20},
)
DOWN = Measurement(name="down + norm", macs=50, cycles=10, mismatches=0, elements_checked=6)


def layer(number, **changes):
    return [replace(each, name=f"{number}.{each.name}", **changes) for each in (QUERY, DOWN)]


def flat(sections):
    return [part for section in sections for part in section]


def test_layers_that_are_alike_are_added_up():
    first, (query, down) = together([NORM, *layer(0), *layer(1), *layer(2)])
    assert first == [NORM]
    assert (query.name, down.name) == ("0-2.query x3", "0-2.down + norm x3")
    assert (query.macs, query.cycles, query.predicted_cycles, query.commands) == (300, 90, 84, 9)
    assert (query.dram_read_bytes, query.dram_write_bytes, query.elements_checked) == (21, 6, 15)
    assert query.counters == {"array_rows": 60}
    assert down.predicted_cycles is None


def test_layers_of_any_names_are_added_up():
    names = [f"/encoder/layer.{n}/{what} (Add)" for n in range(9, 12) for what in ("query", "key")]
    found = flat(together([replace(QUERY, name=name) for name in names]))
    assert [part.name for part in found] == [
        "/encoder/layer.9-11/query (Add) x3",
        "/encoder/layer.9-11/key (Add) x3",
    ]


@pytest.mark.parametrize(
    "other",
    [{"macs": 1}, {"mismatches": 1}, {"until_stopped": {"cycles": 3}}],
)
def test_a_layer_that_differs_or_is_wrong_stays_on_its_own(other):
    shown = flat(together([*layer(0), *layer(1), *layer(2, **other), *layer(3)]))
    names = [each.name for each in shown if each.name.endswith(("query", "query x2"))]
    assert names == ["0-1.query x2", "2.query", "3.query"]


def test_what_belongs_to_no_layer_stays_as_it_is():
    parts = [NORM, replace(NORM, name="other"), replace(DOWN, name="text.part")]
    assert together(parts) == [parts]
    assert by_layer([*parts, *layer(4), *layer(5)]) == [parts, layer(4), layer(5)]
