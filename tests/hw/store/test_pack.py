"""`Packer`: bursts of every alignment, against the bytes that they hold."""

import random
from itertools import pairwise

import pytest

from celosia.hw.store.pack import Packer
from celosia.isa.config import AcceleratorConfig
from tests.hw.store.test_gear import CONFIGS, words_of
from tests.support.streams import never, receive, send, simulate, sometimes


def bursts_of(config: AcceleratorConfig, address: int, size: int) -> list[tuple[int, int]]:
    """Address and length of the bursts of a segment: cut every 64 bytes and at pages."""
    cuts = {address, address + size, *range(address + 64, address + size, 64)}
    cuts |= {page for page in range(0, 3 * 4096, 4096) if address < page < address + size}
    ends = sorted(cuts)
    return [(start, end - start) for start, end in pairwise(ends)]


def pack(config: AcceleratorConfig, segments: list[tuple[int, bytes]]) -> tuple[list, list]:
    """The requests for `segments`, and the beats that they become: bytes by lane, and last."""
    size, requests, beats = config.bus_bytes, [], []
    for address, content in segments:
        bursts = bursts_of(config, address, len(content))
        for number, (start, count) in enumerate(bursts):
            first, end = start // size, (start + count - 1) // size
            requests.append({
                "origin": address % size,
                "first": start % size,
                "last": (start + count - 1) % size,
                "beats_minus_1": end - first,
                "last_in_segment": number == len(bursts) - 1,
            })
            for beat in range(first, end + 1):
                lanes = range(max(start, beat * size), min(start + count, (beat + 1) * size))
                held = {byte % size: content[byte - address] for byte in lanes}
                beats.append((held, beat == end))
    return requests, beats


def run(config: AcceleratorConfig, segments: list[tuple[int, bytes]], stalls) -> int:
    """Pack `segments` and compare; returns the cycle of the last beat."""
    requests, expected = pack(config, segments)
    dut, last_cycle = Packer(config), 0

    async def clock(ctx):
        nonlocal last_cycle
        beats = 0
        while beats < len(expected):
            _, _, valid, ready = await ctx.tick().sample(dut.beats.valid, dut.beats.ready)
            beats += valid and ready
            last_cycle += 1

    async def requester(ctx):
        await send(ctx, dut.bursts, requests, stalls[0])

    async def producer(ctx):
        words = words_of(config, [content for _, content in segments])
        await send(ctx, dut.words, words, stalls[1])

    async def consumer(ctx):
        for held, last in expected:
            [beat] = await receive(ctx, dut.beats, 1, stalls[2])
            lanes = [lane for lane in range(config.bus_bytes) if beat.strobe >> lane & 1]
            assert {lane: beat.data >> 8 * lane & 255 for lane in lanes} == held
            assert beat.last == last

    simulate(dut, clock, requester, producer, consumer)
    return last_cycle


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}-bus{c.bus_bits}")
@pytest.mark.parametrize("seed", range(3))
def test_random_segments_under_stalls(config, seed):
    rng = random.Random(seed)
    most = max(64, 4 * config.dim)
    segments = [
        (
            4096 + rng.choice([0, -rng.randrange(1, most), rng.randrange(64)]),
            rng.randbytes(rng.choice([1, config.dim, most, rng.randint(1, most)])),
        )
        for _ in range(15)
    ]
    run(config, segments, [sometimes(seed), sometimes(seed + 1), sometimes(seed + 2)])


@pytest.mark.parametrize("size", [1, 15, 16, 17, 64])
def test_every_alignment(size):
    config = AcceleratorConfig()
    content = bytes(range(100, 100 + size))
    run(config, [(offset, content) for offset in range(16)], [never] * 3)


@pytest.mark.parametrize("offset", [0, 5])
def test_a_beat_leaves_in_each_cycle(offset):
    config = AcceleratorConfig()
    segments = [(offset, bytes(range(64)))] * 6
    beats = len(pack(config, segments)[1])
    assert beats == 6 * (4 if offset == 0 else 5)
    # One cycle for the first word and burst to be on offer.
    assert run(config, segments, [never] * 3) == Packer.LATENCY + beats
