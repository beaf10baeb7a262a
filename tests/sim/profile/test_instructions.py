"""Operations and the cycles of their units, of a log that is written down here."""

import numpy as np

from celosia.sim.profile.instructions import owners_between, unit_operations
from celosia.sim.profile.log import NEVER, Operations, Spans
from celosia.sim.profile.profile import Profile

CYCLES = 30


def operations(*moments):
    """Operations from their moments in order."""
    return Operations(*(np.array(column, np.int64) for column in zip(*moments, strict=True)))


def profile_of(**queues):
    nothing = np.zeros(0, np.int64)
    return Profile(
        cycles=CYCLES,
        commands=(),
        operators=(),
        operator=nothing,
        queues=queues,
        owners={},
        activity={},
        slot_cycles=1,
        lost=0,
        parts=(),
    )


def test_a_load_has_its_unit_from_the_cycle_after_it_was_taken_to_its_last():
    """Taken in cycle 3 and done in 8: 4 to 8.  The second waits for the first; one never ends."""
    load = operations(
        # command, entered, started, began, read, done
        (4, 0, 3, NEVER, NEVER, 8),
        (5, 1, 5, NEVER, NEVER, 11),
        (7, 2, 20, NEVER, NEVER, NEVER),
        (9, 21, NEVER, NEVER, NEVER, NEVER),
    )
    unit = unit_operations(profile_of(load=load))["load"]
    assert unit.command.tolist() == [4, 5, 7]
    assert unit.begin.tolist() == [4, 9, 21]
    assert unit.end.tolist() == [9, 12, CYCLES]
    assert unit.cycles.tolist() == [5, 3, 9]
    assert unit.waited.tolist() == [3, 4, 18]
    assert unit.lost.tolist() == [0, 0, 0]


def test_cycles_of_the_array_before_a_product_are_lost_to_it():
    execute = operations(
        (1, 0, 4, 5, 10, 14),
        (2, 0, 6, 10, 12, 16),
        (3, 1, 9, 16, 20, 25),
        (6, 2, 18, 20, NEVER, NEVER),
        (8, 3, 19, NEVER, NEVER, NEVER),
    )
    unit = unit_operations(profile_of(execute=execute))["execute"]
    assert unit.command.tolist() == [1, 2, 3, 6]
    assert unit.begin.tolist() == [6, 11, 17, 21]
    assert unit.end.tolist() == [11, 13, 21, CYCLES]
    assert unit.lost.tolist() == [6, 0, 4, 0]
    assert unit.waited.tolist() == [4, 6, 8, 16]


def test_an_operation_that_is_taken_in_the_last_cycle_has_none():
    load = operations((0, 0, CYCLES - 1, NEVER, NEVER, NEVER))
    unit = unit_operations(profile_of(load=load))["load"]
    assert (unit.begin.tolist(), unit.end.tolist()) == ([CYCLES], [CYCLES])


def test_a_transform_that_is_taken_while_the_one_before_is_not_done_ends_with_it_at_the_least():
    transform = operations((0, 0, 2, NEVER, NEVER, 20), (1, 0, 4, NEVER, NEVER, 12))
    unit = unit_operations(profile_of(transform=transform))["transform"]
    assert unit.begin.tolist() == [3, 13]
    assert unit.end.tolist() == [21, 13]


def test_owners_of_spans_and_of_their_parts():
    """From cycle 2 on owner 1, from 5 on nobody, from 7 on owner 0, from 10 on owner 1."""
    spans = Spans(np.array([2, 5, 7, 10]), np.array([1, -1, 0, 1]))
    begin, end = np.array([0, 0, 3, 6, 7, 9]), np.array([2, 4, 8, 7, 10, 14])
    found = owners_between(spans, 2, begin, end)
    assert found.tolist() == [[0, 0], [0, 2], [1, 2], [0, 0], [3, 0], [1, 4]]
    nothing = Spans(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert owners_between(nothing, 2, begin, end).tolist() == [[0, 0]] * 6
