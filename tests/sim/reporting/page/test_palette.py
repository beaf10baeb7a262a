"""Groups of owners can be told apart."""

import re

import pytest

from celosia.sim.profile.losses import IDLE
from celosia.sim.profile.resources import RESOURCES, groups
from celosia.sim.reporting.page import palette
from celosia.sim.reporting.page.palette import QUEUE_COLORS, group_color, group_pattern


@pytest.mark.parametrize("resource", RESOURCES)
def test_no_two_groups_look_alike(resource):
    names = groups(resource)
    looks = {(group_color(resource, name), group_pattern(resource, name)) for name in names}
    assert len(looks) == len(names)
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color, _ in looks)


@pytest.mark.parametrize("resource", RESOURCES)
def test_work_and_waits_have_colors_of_their_own_and_idling_is_pale(resource):
    work = {group_color(resource, name) for name in RESOURCES[resource].work}
    others = [name for name in groups(resource) if name not in (*RESOURCES[resource].work, IDLE)]
    assert not work & {group_color(resource, name) for name in others}
    assert group_color(resource, IDLE) == "#e6e6e6"


def test_where_colors_run_out_patterns_go_on(monkeypatch):
    """Two colors for all waits of the array: the pattern changes with every second one."""
    monkeypatch.setattr(palette, "_WAITS", ("#000000", "#ffffff"))
    waits = [name for name in groups("array") if name not in RESOURCES["array"].work]
    patterns = [group_pattern("array", name) for name in waits]
    cycle = ["", "", "/", "/", ".", ".", "x", "x"]
    assert patterns == (cycle * len(waits))[: len(waits)]


def test_queues_have_four_colors():
    assert len({*QUEUE_COLORS.values()}) == len(QUEUE_COLORS) == 4
