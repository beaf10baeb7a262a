"""The memory model, edge by edge: what it promises about time, bytes and broken rules."""

import ctypes
import re
from collections import Counter

import pytest

from celosia.sim.verilator.harness import binding
from tests.support.memory_bus import BASE, DECERR, SIZE, Bus


@pytest.fixture
def bus():
    return Bus()


def fill(bus):
    for index in range(SIZE):
        bus.contents[index] = index * 7 % 251
    return bytes(bus.contents)


def test_the_structures_are_those_of_the_headers(bus):
    kinds = [getattr(binding, name) for name in (
        "Address", "MasterPins", "MemoryPins", "MemoryConfig", "MemoryCounts", "Fault",
        "LiteSlavePins", "LiteHostPins", "Access", "Command", "BenchConfig", "ChipPins",
        "BenchPins", "Status",
    )]  # fmt: skip
    sizes = (ctypes.c_uint32 * len(kinds))()
    bus.library.celosia_sizes(sizes)
    assert list(sizes) == [ctypes.sizeof(kind) for kind in kinds]


@pytest.mark.parametrize("latency", [1, 2, 40])
@pytest.mark.parametrize("bus_bytes", [4, 16, 64])
def test_the_first_beat_comes_exactly_after_the_latency(latency, bus_bytes):
    bus = Bus(bus_bytes, latency)
    contents = fill(bus)
    taken = bus.send("ar", BASE + 256, beats=3)
    beats = bus.read_beats(3)
    assert [beat[0] - taken for beat in beats] == [latency, latency + 1, latency + 2]
    assert b"".join(beat[1] for beat in beats) == contents[256 : 256 + 3 * bus_bytes]
    assert [beat[3] for beat in beats] == [0, 0, 1]
    assert not any(beat[2] for beat in beats)


@pytest.mark.parametrize("latency", [1, 2, 40])
def test_the_response_comes_exactly_after_the_latency(latency):
    bus = Bus(latency=latency)
    bus.send("aw", BASE, beats=2)
    bus.send_beat(b"a" * 16, last=0)
    last = bus.send_beat(b"b" * 16)
    assert bus.response() == (last + latency, 0)
    assert bytes(bus.contents[:32]) == b"a" * 16 + b"b" * 16


def test_an_unaligned_read_begins_with_the_beat_that_holds_its_address(bus):
    contents = fill(bus)
    bus.send("ar", BASE + 21, beats=2)
    assert b"".join(beat[1] for beat in bus.read_beats(2)) == contents[16:48]


def read_stream(bus, bursts, beats=4):
    """Offer addresses without a pause and take beats without a pause: the edges of the beats."""
    edges, sent = [], 0
    bus.master.r_ready = 1
    while len(edges) < bursts * beats:
        if sent < bursts:
            bus.address("ar", BASE + 64 * sent, beats)
        else:
            bus.master.ar_valid = 0
        sent += sent < bursts and bus.memory.ar_ready
        valid = bus.memory.r_valid
        bus.edge()
        if valid:
            edges.append(bus.now)
    return edges


def test_bursts_follow_each_other_without_a_gap():
    edges = read_stream(Bus(latency=40), 30)
    assert edges[-1] - edges[0] == 30 * 4 - 1


@pytest.mark.parametrize("bytes_per_cycle", [1, 4, 8, 12, 15, 16, 17, 100])
def test_reads_get_exactly_their_bandwidth(bytes_per_cycle):
    edges = read_stream(Bus(bytes_per_cycle=bytes_per_cycle), 40)
    beats = len(edges) - 1
    # The first beat comes from a full bucket; each further one waits for its bytes.
    assert edges[-1] - edges[0] == max(beats, -(-beats * 16 // bytes_per_cycle))


@pytest.mark.parametrize("bytes_per_cycle", [1, 4, 8, 12, 16, 100])
def test_writes_get_exactly_their_bandwidth(bytes_per_cycle):
    bus = Bus(bytes_per_cycle=bytes_per_cycle)
    for burst in range(10):
        bus.send("aw", BASE + 64 * burst, beats=4)
    edges = [bus.send_beat(bytes(16), last=beat % 4 == 3) for beat in range(40)]
    assert edges[-1] - edges[0] == max(39, -(-39 * 16 // bytes_per_cycle))


def test_reads_do_not_take_bandwidth_from_writes():
    bus = Bus(bytes_per_cycle=16)
    for burst in range(10):
        bus.send("ar", BASE + 64 * burst, beats=4)
    bus.send("aw", BASE, beats=4)
    bus.master.r_ready = 1
    edges = [bus.send_beat(bytes(16), last=beat == 3) for beat in range(4)]
    assert edges[-1] - edges[0] == 3


def test_an_offer_stands_unchanged_until_it_is_taken():
    bus = Bus(stalls=(60,) * 5, seed=3)
    fill(bus)
    bus.send("ar", BASE, beats=4)
    for _ in range(200):
        before = bytes(bus.memory)[:68]
        valid = bus.memory.r_valid
        bus.edge()
        if valid:
            assert bus.memory.r_valid
            assert bytes(bus.memory)[:64] == before[:64]
    assert bus.memory.r_valid


@pytest.mark.parametrize("percent", [10, 50, 90])
def test_stalls_come_as_often_as_asked_and_by_seed(percent):
    def pattern(seed):
        bus = Bus(stalls=(percent,) * 5, seed=seed)
        seen = []
        for _ in range(4000):
            bus.edge()
            seen.append((bus.memory.ar_ready, bus.memory.aw_ready))
        return seen

    first = pattern(1)
    assert pattern(1) == first != pattern(2)
    for channel in (0, 1):
        refused = sum(not ready[channel] for ready in first) / len(first)
        assert abs(refused - percent / 100) < 0.04
    # Independent: both refuse about as often as chance has it.
    both = Counter(first)[0, 0] / len(first)
    assert abs(both - (percent / 100) ** 2) < 0.05


@pytest.mark.parametrize("address", [0, BASE - 64, BASE + SIZE, (1 << 64) - 64])
def test_outside_of_memory_reads_and_writes_are_decode_errors(bus, address):
    contents = fill(bus)
    bus.send("ar", address, beats=4)
    beats = bus.read_beats(4)
    assert [beat[2] for beat in beats] == [DECERR] * 4
    assert {beat[1] for beat in beats} == {b"\xde" * 16}
    bus.send("aw", address, beats=2)
    bus.send_beat(b"x" * 16, last=0)
    bus.send_beat(b"x" * 16)
    assert bus.response()[1] == DECERR
    bus.send("ar", BASE)
    assert bus.read_beats(1)[0][2] == 0
    assert bytes(bus.contents) == contents


def test_strobes_choose_the_bytes_and_are_counted(bus):
    bus.send("aw", BASE + 3, beats=2)
    bus.send_beat(b"abcdefghijklmnop", last=0, strobe=0b1010_0000_0000_1000)
    bus.send_beat(b"ABCDEFGHIJKLMNOP", strobe=0b1)
    assert bytes(bus.contents[:17]) == b"\0\0\0d\0\0\0\0\0\0\0\0\0n\0pA"
    counts = bus.counts
    assert (counts.write_beats, counts.write_bytes, counts.bursts_written) == (2, 4, 1)


def test_reads_are_counted(bus):
    bus.send("ar", BASE, beats=3)
    bus.read_beats(3)
    counts = bus.counts
    assert (counts.read_beats, counts.read_bytes, counts.bursts_read) == (3, 48, 1)


def test_256_bursts_may_be_in_flight():
    bus = Bus(latency=1000)
    edges = [bus.send("ar", BASE + 64 * (burst % 64)) for burst in range(256)]
    assert edges[-1] - edges[0] == 255
    assert not bus.memory.ar_ready


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"burst": 0}, "burst type 0 is not INCR"),
        ({"burst": 2}, "burst type 2 is not INCR"),
        ({"size": 3}, r"size 3 is not the bus width \(4\)"),
        ({"address": BASE + 4096 - 16, "beats": 2}, "burst of 2 beats at 0x1ff0 crosses a 4 KiB"),
        ({"address": BASE + 4095, "beats": 2}, "crosses a 4 KiB"),
        ({"id": 16}, "ID 16 has more than 4 bits"),
        ({"lock": 1}, "an exclusive access"),
        ({"cache": 0b0100}, "cache attributes 0x4 are reserved"),
        ({"cache": 0b1101}, "cache attributes 0xd are reserved"),
    ],
)
@pytest.mark.parametrize("channel", ["ar", "aw"])
def test_an_illegal_burst_is_found_when_it_is_offered(bus, channel, change, message):
    bus.address(channel, **{"address": BASE} | change)
    bus.edge()
    assert re.search(rf"^cycle 1: {channel.upper()}: .*{message}", bus.error)


@pytest.mark.parametrize("channel", ["ar", "aw"])
def test_an_address_must_stand_until_it_is_taken(channel):
    for withdrawn, message in ((True, "valid was withdrawn"), (False, "payload changed")):
        bus = Bus()
        bus.address(channel, BASE)
        bus.edge()  # Nothing is ready at the first edge.
        bus.address(channel, BASE + 16)
        if withdrawn:
            setattr(bus.master, f"{channel}_valid", 0)
        bus.edge()
        assert message in bus.error


@pytest.mark.parametrize("change", ["withdraw", "data", "strobe", "last", "none"])
def test_write_data_must_stand_until_they_are_taken(change):
    bus = Bus()
    bus.address("aw", BASE)
    bus.beat(b"a" * 16, last=1)
    bus.edge()  # Nothing is ready at the first edge.
    match change:
        case "withdraw":
            bus.master.w_valid = 0
        case "data":
            bus.master.w_data[15] = 0
        case "strobe":
            bus.master.w_strobe = 1
        case "last":
            bus.master.w_last = 0
    bus.edge()
    expected = {"withdraw": "W: valid was withdrawn", "none": ""}
    assert expected.get(change, "W: the payload changed") in bus.error
    assert bool(bus.error) == (change != "none")


def test_last_must_be_at_the_last_beat():
    for beats, last, message in (
        (2, 1, "last is 1 with 2 beats"),
        (1, 0, "last is 0 with 1 beats"),
    ):
        bus = Bus()
        bus.send("aw", BASE, beats)
        bus.send_beat(bytes(16), last)
        assert message in bus.error


def test_a_strobe_below_the_address_is_found():
    bus = Bus()
    bus.send("aw", BASE + 4)
    bus.send_beat(bytes(16), strobe=0b1000)
    assert "strobe 0x8 covers bytes below the address 0x1004" in bus.error


def test_a_strobe_beyond_the_bus_is_found():
    bus = Bus(bus_bytes=4)
    bus.send("aw", BASE)
    bus.send_beat(bytes(4), strobe=0b10000)
    assert "wider than the bus" in bus.error


def test_after_an_error_nothing_moves(bus):
    bus.address("ar", BASE, burst=0)
    bus.edge()
    error = bus.error
    bus.address("ar", BASE, burst=2)
    for _ in range(20):
        bus.edge()
    assert bus.error == error
    assert not bus.memory.r_valid
