"""Profiles as JSON, and several programs as one."""

import json

import numpy as np
import pytest

from celosia.sim.profile.log import NEVER
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
