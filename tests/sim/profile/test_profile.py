"""Profiles as JSON, and several programs as one."""

import json

import numpy as np
import pytest

from celosia.isa.encoding import FENCE
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.log import NEVER, Operations, RunLog, Spans
from celosia.sim.profile.packing import pack, unpack
from celosia.sim.profile.profile import Profile, join


@pytest.mark.parametrize("numbers", [[], [0], [-1, 5, 2**31 - 1, -1], [3, 3, 3]])
def test_numbers_are_packed_without_loss(numbers):
    assert unpack(pack(np.array(numbers, np.int64))).tolist() == numbers


def test_what_is_not_packed_is_refused():
    for text in ("AAAA", "!", "x"):
        with pytest.raises(ValueError, match=r".+"):
            unpack(text)


def test_a_profile_survives_its_document(profile):
    document = json.loads(json.dumps(profile.document()))
    again = Profile.from_document(document)
    assert again.document() == profile.document()
    assert list(again.commands) == list(profile.commands)


def test_programs_follow_one_another(report):
    run = report.operators[0].executed
    joined = join([("first", run), ("second", run)])
    one = join([("first", run)])
    cycles, commands = one.cycles, len(one.commands)
    assert joined.cycles == 2 * cycles
    assert [(part.name, part.start, part.first) for part in joined.parts] == [
        ("first", 0, 0),
        ("second", cycles, commands),
    ]
    for name, queue in one.queues.items():
        both = joined.queues[name]
        assert both.command.tolist() == [*queue.command, *(queue.command + commands)]
        later = np.where(queue.began == NEVER, NEVER, queue.began + cycles)
        assert both.began.tolist() == [*queue.began, *later]
    for name, busy in one.activity.items():
        assert joined.activity[name].sum() == 2 * busy.sum()


def run_of(cycles, activity, *, slot=4, spans=((0, 0),), lost=0):
    """A program of two commands that ran so long, with a load in flight at its end."""
    starts, owners = zip(*spans, strict=True)
    moments = [[0, 1], [0, 2], [1, 5], [NEVER, NEVER], [NEVER, NEVER], [6, NEVER]]
    log = RunLog(
        cycles=cycles,
        queues={"load": Operations(*(np.array(each) for each in moments))},
        owners={"array": Spans(np.array(starts), np.array(owners))},
        activity={"bank": np.array(activity)},
        slot_cycles=slot,
        lost=lost,
    )
    return Executed(
        commands=(FENCE.encode(),) * 2, operators=("a", f"of {cycles}"), log=log, schedule="s"
    )


def test_moments_owners_and_activity_of_a_later_program_are_moved():
    """Of 9 and 10 cycles: together 19, which are five slots of 4, the last of 3 cycles."""
    first = run_of(9, [4, 3, 1], spans=((0, 1), (5, 0), (9, 2)), lost=2)
    second = run_of(10, [1, 2, 0], spans=((-1, 7), (0, 1), (8, 0)), lost=1)
    joined = join([("one", first), ("two", second)])
    load = joined.queues["load"]
    assert load.command.tolist() == [0, 1, 2, 3]
    assert load.entered.tolist() == [0, 2, 9, 11]
    assert load.started.tolist() == [1, 5, 10, 14]
    assert load.done.tolist() == [6, NEVER, 15, NEVER]
    # What is outside of a program's own cycles is nobody's.
    spans = joined.owners["array"]
    assert (spans.start.tolist(), spans.owner.tolist()) == ([0, 5, 9, 17], [1, 0, 1, 0])
    # The middles of the second one's slots are at 11, 15 and 19.
    assert joined.activity["bank"].tolist() == [4, 3, 2, 2, 0]
    assert (joined.cycles, joined.lost, joined.slot_cycles) == (19, 3, 4)
    assert joined.operators == ("a", "of 9", "of 10")
    assert joined.operator.tolist() == [0, 1, 0, 2]
    assert [joined.operator_of(command) for command in (1, 3)] == ["of 9", "of 10"]


def test_slots_of_a_joined_profile_are_the_longest_ones():
    joined = join([("one", run_of(9, [4, 3, 1])), ("two", run_of(16, [8, 2], slot=8))])
    assert joined.slot_cycles == 8
    # At 9 + 4 and 9 + 12; those of the first at 2, 6 and 10.
    assert joined.activity["bank"].tolist() == [7, 9, 2, 0]
