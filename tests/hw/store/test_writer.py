"""`Writer`: order, limits and responses.  `test_store_path` has its data under stalls."""

import random

import pytest

from celosia.hw.store.writer import Writer
from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from tests.hw.store.test_gear import words_of
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, send, simulate, sometimes
from tests.support.write_memory import WriteMemory

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
EVERYTHING = {"base": 0, "limit": (1 << 64) - 1}


def segment(address: int, size: int = 16, tag: int = 0, last: int = 1) -> dict:
    return {"address": address, "bytes": size, "tag": tag, "last": last}


class Bench:
    """Writes segments of random bytes into a `WriteMemory`, and notes what the unit says."""

    def __init__(self, config: AcceleratorConfig, segments: list[dict], cycles=600, **options):
        self.config, self.segments, self.cycles, self.options = config, segments, cycles, options
        seed = options.get("seed")
        rng = random.Random(0)
        self.contents = [rng.randbytes(one["bytes"]) for one in segments]
        self.memory = WriteMemory(
            config, seed=seed, errors=options.get("errors", ()), latency=options.get("latency", 3)
        )
        self.done: list[int] = []
        self.faults: list[tuple] = []
        self.counted = 0
        self.in_flight = -1
        self.ended = 0
        """Operations whose last burst was issued."""
        self.told: list[tuple[int, int, tuple[int, int, int]]] = []
        """For each cycle, how many operations are issued but not all sent, how many are not
        answered, and what the unit says of both and of credit."""
        self._stall = never if seed is None else sometimes(seed)
        self.dut = shared_design(Writer, config)
        simulate(
            self.dut, self._clock, background=[self._segments, self._words], deadline=cycles + 10
        )

    def expected(self, count: int | None = None) -> dict[int, int]:
        """The bytes of the first `count` segments."""
        return {
            one["address"] + n: byte
            for one, content in list(zip(self.segments, self.contents, strict=True))[:count]
            for n, byte in enumerate(content)
        }

    async def _segments(self, ctx) -> None:
        await send(ctx, self.dut.segments, self.segments, self._stall)

    async def _words(self, ctx) -> None:
        await send(ctx, self.dut.words, words_of(self.config, self.contents), self._stall)

    async def _clock(self, ctx) -> None:
        dut, memory = self.dut, self.memory
        ctx.set(dut.limits, self.options.get("limits", EVERYTHING))
        said = [dut.unsent, dut.in_flight, dut.no_credit]
        signals = [dut.done, dut.fault, dut.write_bytes, dut.issued, *said]
        signals += memory.signals(dut.port)
        for cycle in range(self.cycles):
            memory.drive(ctx, dut.port, cycle)
            ctx.set(dut.halt, cycle >= self.options.get("halt_at", self.cycles))
            sampled = await ctx.tick().sample(*signals)
            _, _, done, fault, count, issued, unsent, self.in_flight, no_credit, *rest = sampled
            now = self.ended - memory.written, self.ended - memory.responses
            self.told.append((*now, (unsent, self.in_flight, no_credit)))
            self.ended += issued
            memory.step(cycle, rest)
            self.done += [cycle] * done
            self.counted += count
            if fault.valid:
                self.faults.append((fault.cause, fault.address, fault.tag))


def chain(count: int, size: int = 16, start: int = 0x1000) -> list[dict]:
    """Segments next to each other, each an operation of its own."""
    return [segment(start + n * size, size, tag=100 + n) for n in range(count)]


def test_bytes_responses_and_done():
    segments = chain(8)
    for index in (0, 3, 4):
        segments[index]["last"] = 0
    bench = Bench(TINY, segments, 150)
    assert bench.memory.bytes == bench.expected()
    assert bench.counted == len(bench.memory.bytes)
    assert len(bench.done) == 5
    assert not bench.faults
    assert not bench.in_flight


def test_latency_and_throughput_are_as_documented():
    bench = Bench(BASE, chain(10, size=64), 100)
    bursts = bench.memory.bursts
    beats = [cycle for burst in bursts for cycle in burst.beat_cycles]
    # Its segment is offered in cycle 0 and cut in cycle 1, and its burst issued in cycle 2.
    assert bursts[0].offered == 3
    assert beats == [bursts[0].offered + Writer.DATA_LATENCY + n for n in range(40)]
    assert bench.done[0] == bursts[0].beat_cycles[-1] + 3 + 1  # The memory's latency, and one.


@pytest.mark.parametrize("size", [16, 1])
def test_a_burst_is_issued_per_cycle(size):
    """Of one beat each."""
    bench = Bench(BASE, chain(12, size=size), 100)
    bursts = bench.memory.bursts
    assert [burst.offered for burst in bursts] == [bursts[0].offered + n for n in range(12)]
    start = bursts[0].beat_cycles[0]
    assert [burst.beat_cycles for burst in bursts] == [[start + n] for n in range(12)]


@pytest.mark.parametrize("requests", [2, 8])
def test_bursts_in_flight_are_bounded_and_reach_the_bound(requests):
    config = TINY.with_values({"write_requests": requests})
    bench = Bench(config, chain(20, size=4), 1600 // requests, latency=60)
    assert bench.memory.most_in_flight == requests
    assert bench.memory.bytes == bench.expected()


@pytest.mark.parametrize("requests", [2, 8])
@pytest.mark.parametrize("seed", [None, 1])
def test_what_is_not_sent_or_not_answered_is_told(requests, seed):
    """Operations of one burst each have addresses that wait for nothing but credit."""
    config = TINY.with_values({"write_requests": requests})
    bench = Bench(config, chain(20), 600, latency=30, seed=seed)
    assert bench.ended == 20
    credit = set()
    for unsent, unanswered, told in bench.told:
        assert told[:2] == (unsent > 0, unanswered > 0)
        assert not told[2] or unanswered == requests
        credit.add(told[2])
    assert credit == {0, 1}


@pytest.mark.parametrize(
    ("limits", "fails"),
    [
        ({"base": 0x1020, "limit": 0x105F}, None),
        ({"base": 0x1021, "limit": 0x105F}, 0x1020),
        ({"base": 0x1020, "limit": 0x105E}, 0x1050),
        ({"base": 0x1020, "limit": 0x1050}, 0x1050),
        ({"base": 0x1030, "limit": 0x104F}, 0x1020),
        ({"base": 0x1020, "limit": 0x103F}, 0x1040),
        ({"base": 0x2000, "limit": 0x1000}, 0x1020),
    ],
)
@pytest.mark.parametrize("seed", [None, 1])
def test_a_burst_outside_the_limits_is_not_issued(limits, fails, seed):
    segments = chain(4, start=0x1020)
    bench = Bench(TINY, segments, 150, limits=limits, seed=seed)
    before = 4 if fails is None else (fails - 0x1020) // 16
    assert bench.memory.bytes == bench.expected(before)
    assert len(bench.memory.bursts) == before
    assert bench.faults == ([] if fails is None else [(Cause.WRITE_LIMIT, fails, 100 + before)])
    assert not bench.in_flight


def test_the_second_burst_of_a_segment_may_be_outside():
    bench = Bench(TINY, [segment(0x1FF0, 32, tag=7)], 200, limits={"base": 0, "limit": 0x1FFF})
    assert bench.faults == [(Cause.WRITE_LIMIT, 0x2000, 7)]
    assert sorted(bench.memory.bytes) == list(range(0x1FF0, 0x2000))
    assert not bench.done
    assert not bench.in_flight


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("bad", [0, 2, 5])
def test_an_error_response_stops_the_rest(bad, seed):
    segments = chain(40)
    bench = Bench(TINY, segments, 300, errors={bad, bad + 1}, seed=seed)
    assert bench.faults == [(Cause.WRITE_RESPONSE, segments[bad]["address"], 100 + bad)]
    assert len(bench.done) == bad
    assert bad < len(bench.memory.bursts) < 40
    assert not bench.in_flight
    assert bench.memory.bytes == bench.expected(len(bench.memory.bursts))


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_halt_lets_the_bursts_in_flight_finish(seed):
    bench = Bench(TINY, chain(40), 250, halt_at=60, seed=seed, latency=20)
    bursts = bench.memory.bursts
    assert 2 < len(bursts) < 40
    # Those that were issued in the cycle before, and queued behind a slow AW.
    assert sum(burst.offered > 61 for burst in bursts) <= (0 if seed is None else 2)
    assert bench.memory.bytes == bench.expected(len(bursts))
    assert bench.memory.responses == len(bursts)
    assert not bench.faults
    assert not bench.in_flight


@pytest.mark.parametrize("seed", range(3))
def test_random_segments_under_stalls(seed):
    rng = random.Random(seed)
    segments, address = [], 0x1000
    for tag in range(30):
        size = rng.choice([1, 4, 64, rng.randint(1, 64)])
        if rng.random() < 0.3:
            address = (address // 4096 + 2) * 4096 - rng.randrange(1, 64)
        segments.append(segment(address, size, tag, rng.randrange(2)))
        address += size + rng.randrange(20)
    bench = Bench(TINY, segments, 1500, seed=seed)
    assert bench.memory.bytes == bench.expected()
    assert len(bench.done) == sum(one["last"] for one in segments)
