"""Figures whose numbers are counted by hand."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.sim.reporting.page.figures import (
    bank_figure,
    layout,
    roofline,
    stall_bars,
    traffic,
    utilization,
)
from celosia.sim.reporting.page.palette import group_color


def part(name: str, **more: Any) -> dict[str, Any]:
    """An operator of 800 products in 100 cycles, half of which rows entered the array in."""
    return {
        "workload": name,
        "cycles": 100,
        "macs": 800,
        "mac_utilization": 0.5,
        "dram_read_bytes": 100,
        "dram_write_bytes": 40,
        "least_traffic": {"read": 60, "written": 30},
        "counters": {"cycles": 100, "array_rows": 50, "array_weights": 10, "drain": 40},
        **more,
    }


def document(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A run of a 4x4 array with a bus of 4 bytes."""
    return {
        "operators": parts or (part("a"),),
        "mac_utilization": 0.25,
        "config": {"dim": 4, "bus_bits": 32},
        "memory": {"bytes_per_cycle": 16},
        **more,
    }


STILL = {"counters": {}}
"""An operator has these counters if no cycles are known: it is in no figure."""


def test_a_bank_s_time_is_in_percent_of_each_slot():
    activity = {"scratchpad 0": np.array([0, 25, 200]), "reads": np.array([1, 133, 66])}
    profile: Any = SimpleNamespace(activity=activity, slot_cycles=200)
    (heat,) = bank_figure(profile)["data"]
    assert [list(row) for row in heat["z"]] == [[0, 12.5, 100], [0.5, 66.5, 33]]
    assert (heat["zmin"], heat["zmax"]) == (0, 100)
    assert list(heat["y"]) == list(activity)
    assert heat["x"] == [0, 200, 400]  # Where each slot begins.


def test_the_limit_is_that_of_bus_and_array():
    """16 products a cycle, 4 bytes a cycle: they meet at 4 products a byte."""
    found = roofline(document(part("a"), part("b", cycles=50, dram_write_bytes=200)))
    roof, dots = found["data"]
    assert roof["x"] == [1.0, 4.0, 32.0]  # A quarter of the least, and four times the most.
    assert roof["y"] == [4.0, 16, 16]
    assert roof["name"] == "limit: 16 products, 4 bytes per cycle each way"
    # Products over the bytes of the busier way, and over cycles.
    assert (dots["text"], dots["x"], dots["y"]) == (["a", "b"], [8.0, 4.0], [8.0, 16.0])


def test_a_memory_that_is_slower_than_the_bus_is_the_limit():
    roof, _ = roofline(document(memory={"bytes_per_cycle": 2}))["data"]
    assert roof["x"][1] == 8.0


def test_what_moves_nothing_or_has_no_products_is_no_point():
    parts = [
        part("a", macs=0),
        part("b", dram_read_bytes=0, dram_write_bytes=0),
        part("c", **STILL),
    ]
    roof, dots = roofline(document(*parts))["data"]
    assert dots["x"] == []
    assert roof["x"] == [0.25, 4.0, 16.0]


def test_bars_of_use_are_in_percent_and_the_whole_is_the_last():
    parts = [part("a"), part("b", mac_utilization=None), part("c", mac_utilization=0.125)]
    (bar,) = utilization(document(*parts))["data"]
    assert bar["y"] == ["a", "c", "whole run"]
    assert bar["x"] == [50, 12.5, 25]
    assert bar["text"] == ["50.0 %", "12.5 %", "25.0 %"]
    rows, _, whole = bar["marker"]["color"]
    assert rows == group_color("array", "rows") != whole
    (alone,) = utilization(document(part("a")))["data"]
    assert alone["y"] == ["a"]


def test_owners_of_the_array_are_stacked_and_work_can_be_left_out():
    figure = stall_bars(document(part("a"), part("b", **STILL)), "array")
    bars = {each["name"]: each["x"] for each in figure["data"]}
    assert bars == {"rows": [50], "weights": [10], "drain": [40]}
    (menu,) = figure["layout"]["updatemenus"]
    shown = {each["label"]: each["args"] for each in menu["buttons"]}
    assert shown["cycles"] == [
        {"visible": [True] * 3},
        {"barnorm": "", "xaxis.ticksuffix": ""},
    ]
    assert shown["share"] == [
        {"visible": [True] * 3},
        {"barnorm": "percent", "xaxis.ticksuffix": " %"},
    ]
    visible = dict(zip(bars, shown["lost"][0]["visible"], strict=True))
    assert visible["rows"] is False
    assert visible["drain"] is True
    assert figure["layout"]["barmode"] == "stack"


def test_traffic_is_beside_the_least():
    parts = [part("a"), part("b", least_traffic=None, dram_read_bytes=7), part("c", **STILL)]
    bars = {each["name"]: each for each in traffic(document(*parts))["data"]}
    assert {name: each["x"] for name, each in bars.items()} == {
        "read": [100, 7],
        "read, least": [60, None],
        "written": [40, 40],
        "written, least": [30, None],
    }
    colors = [each["marker"]["color"] for each in bars.values()]
    assert colors[0] == colors[1] != colors[2] == colors[3]
    assert bars["read"]["marker"]["opacity"] > bars["read, least"]["marker"]["opacity"]


@pytest.mark.parametrize(("count", "height"), [(1, 178), (2, 178), (5, 250)])
def test_a_bar_has_24_pixels_and_a_figure_two_of_them(count, height):
    parts = [part(f"op{number}") for number in range(count - (count > 1))]
    assert utilization(document(*parts))["layout"]["height"] == height


def test_what_a_figure_says_of_an_axis_is_added_to_what_all_have():
    found = layout(margin={"b": 76}, xaxis={"range": [0, 1]}, height=5)
    assert found["margin"] == {"l": 12, "r": 16, "t": 24, "b": 76}
    assert found["xaxis"]["range"] == [0, 1]
    assert found["xaxis"]["automargin"] is True
    assert "range" not in found["yaxis"]
    assert found["height"] == 5


def test_each_operator_has_room_for_two_bars():
    heights = [
        traffic(document(*[part(f"p{n}") for n in range(count)]))["layout"]["height"]
        for count in (1, 2, 3, 4)
    ]
    rows = [after - before for before, after in pairwise(heights)]
    assert rows == [0, 48, 48]  # Of one operator it is as high as of two.
