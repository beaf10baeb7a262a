"""What happens in each cycle, out of what signals say in it."""

import numpy as np
import pytest

from celosia.isa.functions.table import Function
from celosia.isa.presets import resolve_config
from celosia.isa.registers.events import ARRAY_OWNERS, VECTOR_OWNERS
from celosia.sim.export.silicon.area.units import UNITS
from celosia.sim.export.silicon.power.events import GROUPS, OTHERS, SCOPES, counted, happened
from celosia.sim.export.silicon.power.gates import bits_of
from celosia.sim.export.silicon.power.measure import group_of
from celosia.sim.export.silicon.power.waves import Recorded

CONFIG = resolve_config("tiny", ["vector_lanes=2"])
"""An array of 4x4, and two lanes."""


def owner(owners, name: str) -> int:
    return next(number for number, each in enumerate(owners) if each.name == name)


ROWS, PADDING = owner(ARRAY_OWNERS, "array_rows"), owner(ARRAY_OWNERS, "array_padding")
SUM, NONE = owner(VECTOR_OWNERS, "vector_sum"), owner(VECTOR_OWNERS, "vector_none")
COUNTERS = Recorded({
    "events.busy": bits_of([1, 1, 1, 0], 1),
    "events.array": bits_of([ROWS, PADDING, NONE, ROWS], 6),
    "events.vector": bits_of([NONE, SUM, SUM, SUM], 6),
    "events.command": bits_of([0, 1, 0, 0], 1),
    "events.read_bytes": bits_of([0, 4, 0, 4], 6),
    "events.write_bytes": bits_of([3, 2, 0, 0], 6),
})
"""Four cycles; in the last one the accelerator is not busy."""


def test_what_counters_see():
    events = counted(COUNTERS, CONFIG)
    some = {name: counts.tolist() for name, counts in events.items() if counts.any()}
    assert some == {
        "mac": [16, 0, 0, 0],  # A row of padding enters the array, and is no product.
        "array_row": [1, 1, 0, 0],
        "command": [0, 1, 0, 0],
        "moved_byte": [3, 6, 0, 4],
        "transform_step": [0, 1, 1, 0],
        "lane_step_sum": [0, 2, 2, 0],
    }
    assert events.keys() - some == {f"lane_step_{each.name.lower()}" for each in Function} - {
        "lane_step_sum"
    }


def test_what_units_are_asked_for():
    """A start of weights moves all of them, a request or a scaled beat is one row."""
    counters, mesh, requantizer, scaler = SCOPES
    recorded = {
        counters: COUNTERS,
        mesh: Recorded({"weights_start": bits_of([0, 1, 0, 0], 1)}),
        requantizer: Recorded({"request.valid": bits_of([1, 0, 0, 1], 1)}),
        scaler: Recorded({"enable": bits_of([0, 0, 1, 0], 1)}),
    }
    events = happened(recorded, CONFIG)
    assert events["weight_byte"].tolist() == [0, 16, 0, 0]
    assert events["requantized_element"].tolist() == [4, 0, 0, 4]
    assert events["scaled_load_byte"].tolist() == [0, 0, 4, 0]
    assert events["mac"].tolist() == [16, 0, 0, 0]


@pytest.mark.parametrize(
    ("unit", "events", "beside", "stages"),
    [
        ("mesh", ["mac"], ["weight_byte"], 31),
        ("requantizer", ["requantized_element"], [], 10),
        ("load scaler", [], ["scaled_load_byte"], 1),
        ("decoder", ["command"], [], 1),
        ("loops", ["command"], [], 1),
        ("issue and hazards", ["command"], [], 1),
        ("tokens", ["command"], [], 1),
        ("transposer and skew", ["array_row"], [], 1),
        ("execute control", ["array_row"], [], 1),
        ("scratchpad", ["array_row"], [], 1),
        ("accumulator", ["array_row"], [], 1),
        ("lanes: sums", [f"lane_step_{each.name.lower()}" for each in Function], [], 24),
        ("lanes: control", [f"lane_step_{each.name.lower()}" for each in Function], [], 24),
        ("statistics and background", ["transform_step"], [], 12),
        ("transform control, reader, writer", ["transform_step"], [], 12),
        ("DMA reader", ["moved_byte"], [], 1),
        ("DMA writer", ["moved_byte"], [], 1),
        ("counters", ["moved_byte"], [], 1),
        ("parameters", ["moved_byte"], [], 1),
    ],
)
def test_what_each_unit_spends_for(unit, events, beside, stages):
    """A unit in the wrong group is spent for what does not happen in it."""
    place = next(place for place, name in UNITS.items() if name == unit)
    group = group_of(f"celosia_axi.{place}")
    assert [*group.events] == events
    assert [*group.beside] == beside
    assert group.stages == stages


def test_no_unit_is_in_two_groups():
    named = [unit for group in GROUPS for unit in group.units]
    assert len(named) == len({*named})
    assert {*named} <= {*UNITS.values()}
    assert not OTHERS.units


def test_numbers_have_their_lowest_bit_first():
    wide = Recorded({**COUNTERS.signals, "events.read_bytes": bits_of([0, 0, 33, 0], 6)})
    assert np.array_equal(counted(wide, CONFIG)["moved_byte"], [3, 2, 33, 0])
