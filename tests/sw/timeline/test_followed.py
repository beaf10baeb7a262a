"""Transforms that were followed before products were known that come first."""

import pytest

from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.followed import FollowedTransforms
from celosia.sw.timeline.local import LocalTimes
from celosia.sw.timeline.queued import QueuedTransform
from celosia.sw.timeline.units import TransformWork

ROWS, BANK = 64, 1000


def queued(begin=100, source=0, target=0, read=(), count=ROWS):
    work = TransformWork(steps=count, cycles=count, accesses=(count,), rows=count, slots=range(0))
    places = (source, source + ROWS), [(target, target + ROWS)]
    reads = [(row, row + ROWS) for row in read]
    sums = [(source, source + ROWS)]
    return QueuedTransform(begin, work, LocalTimes.of(10), *places, None, (), reads, sums)


@pytest.fixture
def line():
    banks, sums = Banks(BANK, 2), Banks(BANK, 2)
    return banks, sums, FollowedTransforms(banks, sums)


def test_results_wait_for_a_stream_that_is_known_later(line):
    banks, _, found = line
    _, first = found.follow(queued(target=500), 1)
    banks.stream(500, first - 10, first + 300)
    assert found.disturbed(0) == 1
    again, times = found.take_back()
    assert times[1] == first
    _, end = found.follow(again, 1)
    assert end == pytest.approx(first + 300 + 10, abs=1)


def test_a_step_waits_until_there_is_room_for_its_result(line):
    """64 results are on their way or wait: the last of 256 steps follows the 192nd of them."""
    banks, _, found = line
    banks.stream(500, 0, 1000)
    read, end = found.follow(queued(target=500, count=256), 1)
    assert end == pytest.approx(1000 + 256, abs=1)
    assert read == pytest.approx(1000 + 192, abs=3)


def test_few_steps_wait_for_results_of_those_before(line):
    """Its 16 results are on their way beside 48 of those before, the last of which comes late."""
    banks, _, found = line
    banks.stream(500, 0, 1000)
    _, end = found.follow(queued(target=500, count=30), 1)
    assert end > 1000
    read, _ = found.follow(queued(target=500, count=16), 2)
    assert read == pytest.approx(end - 48, abs=1)


def test_rows_wait_for_products_that_add_at_their_bank_of_sums(line):
    _, sums, found = line
    read, _ = found.follow(queued(source=BANK), 1)
    sums.stream(BANK + 500, read - 10, read + 200)
    assert found.disturbed(0) == 1
    again, _ = found.take_back()
    assert found.follow(again, 1)[0] > read + 200


@pytest.mark.parametrize("busy", ["banks", "sums"])
def test_rows_of_both_memories_are_there_with_the_later_one(line, busy):
    """A stream at the bank of one of the two holds up all of it, though the other one is free."""
    banks, sums, found = line
    {"banks": banks, "sums": sums}[busy].stream(0, 0, 500)
    read, end = found.follow(queued(target=BANK, read=[0]), 1)
    free = FollowedTransforms(Banks(BANK, 2), Banks(BANK, 2))
    early, ended = free.follow(queued(target=BANK, read=[0]), 1)
    assert early == pytest.approx(100 + ROWS, abs=3)
    assert read == pytest.approx(500 + ROWS, abs=3)
    assert end - read == pytest.approx(ended - early)


def test_those_behind_are_taken_back_as_well_and_the_unit_goes_on_from_before(line):
    banks, _, found = line
    ends = [found.follow(queued(target=target), n + 1)[1] for n, target in enumerate((0, BANK))]
    banks.stream(0, ends[0] - 10, ends[0] + 5)
    assert found.disturbed(0) == 1
    second, first = found.take_back()[0], found.take_back()[0]
    ahead = FollowedTransforms(Banks(BANK, 2), Banks(BANK, 2))
    assert found.follow(first, 1)[1] > ahead.follow(first, 1)[1] == ends[0]
    assert found.follow(second, 2)[1] > ends[1] - 10


def test_what_a_store_has_read_stays(line):
    banks, _, found = line
    _, end = found.follow(queued(), 1)
    banks.stream(0, end - 10, end + 5)
    assert found.disturbed(1) == 0


@pytest.mark.parametrize("busy", ["banks", "sums"])
def test_what_was_disturbed_is_followed_anew_once(line, busy):
    banks, sums, found = line
    read, _ = found.follow(queued(target=BANK), 1)
    {"banks": banks, "sums": sums}[busy].stream(BANK if busy == "banks" else 0, read - 30, read)
    assert [found.disturbed(0), found.disturbed(0)] == [1, 0]


def test_other_banks_and_later_streams_disturb_nobody(line):
    banks, sums, found = line
    _, end = found.follow(queued(), 1)
    banks.stream(BANK, 0, 1000)
    banks.stream(0, end, end + 100)
    sums.stream(BANK, 0, 1000)
    assert found.disturbed(0) == 0
