"""The host's side of the command ring."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.encoding import Command, pack_ring
from celosia.isa.presets import PRESETS
from celosia.sw.driver.host import Host
from celosia.sw.driver.ring import CommandRing, StoppedError
from tests.support.register_port import RingPort

BASE = 0x8000_0000


def program(count):
    return pack_ring([Command(1, index, ~index & 0xFFFF) for index in range(count)])


def make(entries, rate=1000, lag=0, head=0, completed=0):
    port = RingPort(PRESETS["tiny"], rate, lag)
    port.words |= {"RING_HEAD": head, "RING_TAIL": head, "RING_COMPLETED": completed}
    port.first = completed
    host = Host(port)
    host.begin(ring=True)
    ring = CommandRing(host, port.store, BASE, entries)
    ring.open()
    return port, ring


@given(
    entries=st.integers(2, 40),
    count=st.integers(0, 150),
    rate=st.integers(1, 30),
    lag=st.integers(0, 3),
    head=st.integers(0, 39),
)
def test_every_command_is_taken_once_and_in_order(entries, count, rate, lag, head):
    port, ring = make(entries, rate, lag, head % entries, completed=(1 << 32) - 5)
    image = program(count)
    ring.feed(image)
    ring.finish()
    assert b"".join(port.taken) == image
    assert ring.completed() == count


def test_the_ring_is_described_before_anything_is_fed():
    port, _ = make(10)
    assert port.words["RING_BASE_LO"] == BASE
    assert port.words["RING_SIZE"] == 10
    assert port.words["INTERRUPT_ENABLE"] == 3


def test_a_full_ring_is_not_an_empty_one():
    port, ring = make(8)
    ring.feed(program(7))
    assert port.words["RING_TAIL"] == 7
    assert not port.waits
    assert len(port.memory) == 7 * 24


def test_what_goes_around_the_end_of_the_ring_begins_again_at_its_base():
    port, ring = make(8, head=5)
    image = program(7)
    ring.feed(image)
    entry = len(image) // 7
    held = bytes(port.memory[BASE + at] for at in range(4 * entry))
    behind = bytes(port.memory[BASE + 5 * entry + at] for at in range(3 * entry))
    assert (behind, held) == (image[: 3 * entry], image[3 * entry :])
    assert port.words["RING_TAIL"] == 4
    assert not port.waits


def test_the_doorbell_follows_the_tail():
    port, ring = make(8)
    ring.feed(program(3))
    names = [name for name, _ in port.log]
    assert names[-2:] == ["RING_TAIL", "RING_DOORBELL"]


def test_entries_are_filled_by_quarters_of_the_ring():
    port, ring = make(64, rate=1)
    ring.feed(program(300))
    doorbells = sum(name == "RING_DOORBELL" for name, _ in port.log)
    assert doorbells <= 1 + (300 - 63) // 16 + 1


def test_between_two_looks_at_most_half_of_the_ring_is_used_up():
    port, ring = make(64, rate=16)
    ring.feed(program(300))
    # A command takes two cycles, at least.
    assert set(port.waits) == {64}


def test_an_error_ends_feeding():
    port, ring = make(8, rate=2)
    port.error_after = 4
    with pytest.raises(StoppedError):
        ring.feed(program(20))


def test_an_error_ends_the_wait_for_the_last_ones():
    port, ring = make(8, rate=2, lag=10_000)
    port.error_after = 20
    ring.feed(program(20))
    with pytest.raises(StoppedError):
        ring.finish()


@pytest.mark.parametrize(
    ("base", "entries", "message"),
    [(BASE + 4, 8, "0x80000004 is not a multiple of 8"), (BASE, 1, "1 entries are not in 2..")],
)
def test_a_ring_that_cannot_be_is_refused(base, entries, message):
    host = Host(RingPort(PRESETS["tiny"], 1))
    with pytest.raises(ValueError, match=message):
        CommandRing(host, lambda *_: None, base, entries)
