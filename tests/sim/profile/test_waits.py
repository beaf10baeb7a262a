"""Waits of the array, of a log that is written down here."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import FLUSH
from celosia.sim.command.report_commands import waits_table
from celosia.sim.profile.log import NEVER, Spans
from celosia.sim.profile.resources import ARRAY, RESOURCES
from celosia.sim.profile.waits import waits
from tests.sim.profile.test_instructions import CYCLES, operations, profile_of

NUMBERS = {owner.name: number for number, owner in enumerate(RESOURCES[ARRAY].owners)}


def logged(*spans):
    """A run of three products, of two operators, with these owners from these cycles on."""
    starts, names = zip(*spans, strict=True)
    owners = [NUMBERS.get(name, NEVER) for name in names]
    products = operations(
        # command, entered, started, began, read, done
        (0, 0, 3, 4, 9, 14),
        (1, 1, 13, 14, 19, 24),
        (2, 1, 20, 20, 25, 27),
    )
    return replace(
        profile_of(execute=products),
        commands=(FLUSH.encode(),) * 3,
        operators=("first", "second"),
        operator=np.array([0, 1, 1]),
        owners={ARRAY: Spans(np.array(starts), np.array(owners))},
    )


@pytest.fixture
def profile():
    return logged(
        (0, "wait_command"),
        (2, "wait_load_latency"),
        (5, "array_rows"),
        (10, "wait_bank_store"),
        (11, "wait_gelu"),
        (13, "wait_bank_store"),
        (15, "array_weights"),
        (18, "array_rows"),
        (26, "drain"),
        (28, "none"),
    )


def test_neighbors_are_one_wait_with_the_operator_of_the_next_product(profile):
    found = [(each.start, each.cycles, each.operator, dict(each.owners)) for each in waits(profile)]
    assert found == [
        (0, 5, "first", {"wait_load_latency": 3, "wait_command": 2}),
        (10, 5, "second", {"wait_bank_store": 3, "wait_gelu": 2}),
        (26, 2, "", {"drain": 2}),
    ]
    assert list(next(waits(profile)).owners) == ["wait_load_latency", "wait_command"]


def test_a_wait_ends_with_the_run():
    (wait,) = waits(logged((0, "array_rows"), (21, "wait_fence")))
    assert (wait.start, wait.cycles) == (21, CYCLES - 21)


def test_a_run_without_waits_has_none():
    assert not list(waits(logged((0, "array_rows"), (9, "none"))))


def test_the_table_has_those_that_are_longer_and_what_they_are_of_all(profile):
    table = waits_table(profile, 4)
    cells = list(zip(*(column.cells for column in table.columns), strict=True))
    assert cells == [
        ("0", "5", "first", "wait_load_latency 3, wait_command 2"),
        ("10", "5", "second", "wait_bank_store 3, wait_gelu 2"),
    ]
    assert table.title == "Waits of the array above 4 cycles: 2 of 3, 10 of 12 cycles"
    assert not waits_table(profile, 5).row_count


@pytest.mark.parametrize("move", ["array_rows", "array_padding", "array_weights", "array_d"])
def test_whatever_moves_through_the_array_ends_a_wait(move):
    found = waits(logged((0, "wait_command"), (3, move), (5, "wait_issue"), (9, move)))
    assert [(each.start, each.cycles) for each in found] == [(0, 3), (5, 4)]
