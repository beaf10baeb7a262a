"""The memory model where it makes trouble: faults, order, late ready, stalls of one channel."""

import itertools
import random
from collections import Counter

import pytest

from celosia.isa.memory import CHANNELS
from celosia.sim.verilator.harness.binding import MemoryPins
from tests.support.memory_bus import BASE, DECERR, SIZE, SLVERR, Bus

GARBAGE = b"\xde" * 16


@pytest.fixture
def bus():
    return Bus()


def write(bus, address, beats=2, byte=b"x"):
    """Write a burst; its response."""
    bus.send("aw", address, beats)
    for beat in range(beats):
        bus.send_beat(byte * 16, last=beat == beats - 1)
    return bus.response()[1]


def test_only_the_beat_at_a_failing_address_fails(bus):
    bus.fail(BASE + 64 + 37, response=SLVERR)
    bus.send("ar", BASE + 64, beats=4)
    beats = bus.read_beats(4)
    assert [beat[2] for beat in beats] == [0, 0, SLVERR, 0]
    assert [beat[1] for beat in beats] == [bytes(16), bytes(16), GARBAGE, bytes(16)]


@pytest.mark.parametrize("address", [BASE + 64 + 37, BASE + 96, BASE + 111])
def test_a_failing_address_is_found_in_every_burst_that_holds_it(bus, address):
    bus.fail(address, response=DECERR)
    for first, beats, fails in ((BASE + 64, 2, 0), (BASE + 64, 3, 1), (BASE + 112, 3, 0)):
        bus.send("ar", first, beats)
        assert any(beat[2] == DECERR for beat in bus.read_beats(beats)) == fails
    assert write(bus, BASE + 64, beats=4) == 0, "only reads fail"


def test_the_numbered_burst_fails_once_and_as_a_whole(bus):
    bus.send("ar", BASE)
    bus.read_beats(1)
    bus.fail(1, by_number=1)
    responses = []
    for _ in range(4):
        bus.send("ar", BASE, beats=2)
        responses.append([beat[2] for beat in bus.read_beats(2)])
    assert responses == [[0, 0], [SLVERR, SLVERR], [0, 0], [0, 0]]


@pytest.mark.parametrize("by_number", [0, 1])
def test_a_write_burst_that_fails_touches_nothing(bus, by_number):
    bus.fail(0 if by_number else BASE + 16, write=1, by_number=by_number, response=DECERR)
    assert write(bus, BASE) == DECERR
    assert bytes(bus.contents[:32]) == bytes(32)
    assert write(bus, BASE + 64) == 0
    assert bytes(bus.contents[64:96]) == b"x" * 32


def test_faults_can_be_forgotten(bus):
    bus.fail(BASE)
    bus.library.memory_forget_faults(bus.handle)
    bus.send("ar", BASE)
    assert bus.read_beats(1)[0][2] == 0


def ids_in_order(bus, ids, beats=4):
    """Read a burst for each of `ids`, all at once: for each beat its ID, its address, `last`."""
    for index in range(SIZE):
        bus.contents[index] = index // 64
    seen, sent = [], 0
    bus.master.r_ready = 1
    for _ in range(5000):
        if sent < len(ids):
            bus.address("ar", BASE + 64 * sent, beats, id=ids[sent])
        else:
            bus.master.ar_valid = 0
        sent += sent < len(ids) and bus.memory.ar_ready
        offered = MemoryPins.from_buffer_copy(bus.memory)
        bus.edge()
        if offered.r_valid:
            seen.append((offered.r_id, offered.r_data[0], offered.r_last))
    assert len(seen) == beats * len(ids)
    return seen


def test_reordered_reads_keep_the_order_within_an_id():
    rng = random.Random(1)
    ids = [rng.randrange(3) for _ in range(60)]
    seen = ids_in_order(Bus(reorder=1, latency=20, seed=4), ids)
    for wanted in range(3):
        bursts = [index for index, number in enumerate(ids) if number == wanted]
        mine = [(byte, last) for number, byte, last in seen if number == wanted]
        assert mine == [(index, beat == 3) for index in bursts for beat in range(4)]
    order = [byte for _, byte, last in seen if last]
    assert order != sorted(order)
    mixed = sum(a[0] != b[0] for a, b in itertools.pairwise(seen) if not a[2])
    assert mixed > 10, "beats of different IDs are mixed"


def test_without_reordering_ids_do_not_matter():
    ids = [index % 3 for index in range(40)]
    assert [byte for _, byte, last in ids_in_order(Bus(), ids) if last] == list(range(40))


def test_reordered_responses_keep_the_order_within_an_id():
    bus = Bus(reorder=1, latency=30, seed=2)
    ids = [index * 7 % 5 for index in range(40)]
    for index, number in enumerate(ids):
        # Only bursts of ID 0 fail, each in its own way.
        bus.send("aw", BASE + 16 * index, id=number)
        bus.send_beat(bytes(16))
    seen = []
    bus.master.b_ready = 1
    for _ in range(3000):
        offered = MemoryPins.from_buffer_copy(bus.memory)
        bus.edge()
        if offered.b_valid:
            seen.append(offered.b_id)
    assert Counter(seen) == Counter(ids)
    assert seen != ids


@pytest.mark.parametrize("channel", ["ar", "aw", "w"])
def test_late_ready_comes_only_after_valid_and_for_one_cycle(channel):
    bus = Bus(ready_after_valid=1)
    for _ in range(10):
        bus.edge()
        assert not any((bus.memory.ar_ready, bus.memory.aw_ready, bus.memory.w_ready))
    if channel == "ar":
        bus.address("ar", BASE)
    else:
        bus.address("aw", BASE)
        bus.beat(bytes(16), last=1)
    if channel == "w":
        while not bus.memory.aw_ready:
            bus.edge()
        bus.edge()
        bus.master.aw_valid = 0
    edges = 0
    while not getattr(bus.memory, f"{channel}_ready"):
        bus.edge()
        edges += 1
    assert edges <= 2
    bus.edge()
    assert not getattr(bus.memory, f"{channel}_ready")
    assert not bus.error


def test_late_ready_of_a_write_address_waits_for_data():
    bus = Bus(ready_after_valid=1)
    bus.address("aw", BASE)
    for _ in range(50):
        bus.edge()
        assert not bus.memory.aw_ready
    bus.beat(bytes(16), last=1)
    bus.edge()
    assert bus.memory.aw_ready


@pytest.mark.parametrize("number", range(5), ids=CHANNELS)
def test_each_channel_can_stall_alone(number):
    bus = Bus(stalls=tuple(90 * (index == number) for index in range(5)), latency=1)
    edges = {}
    start = bus.now
    bus.send("ar", BASE, beats=1)
    edges["ar"] = bus.now - start
    start = bus.now
    bus.read_beats(1)
    edges["r"] = bus.now - start
    start = bus.now
    bus.send("aw", BASE, beats=8)
    edges["aw"] = bus.now - start
    start = bus.now
    for beat in range(8):
        bus.send_beat(bytes(16), last=beat == 7)
    edges["w"] = bus.now - start
    start = bus.now
    bus.response()
    edges["b"] = bus.now - start
    usual = {"ar": 2, "r": 1, "aw": 1, "w": 8, "b": 1}
    slow = [name for name in CHANNELS if edges[name] > usual[name]]
    assert slow == [CHANNELS[number]]


def test_data_before_their_address_are_found(bus):
    bus.beat(bytes(16), last=1)
    bus.edge()
    assert "W: data before their address" in bus.error


def test_data_may_come_with_their_address(bus):
    bus.address("aw", BASE)
    bus.beat(bytes(16), last=1)
    bus.edge()
    assert not bus.error
