"""`BeatWindow`: the two oldest beats, in order, at full rate."""

import random

import pytest

from celosia.hw.bus.window import BeatWindow
from celosia.isa.presets import PRESETS
from tests.support.streams import Stall, never, send, simulate, sometimes

CONFIGS = {"tiny": PRESETS["tiny"], "bus512": PRESETS["tiny"].with_values({"bus_bits": 512})}


def watch(config, beats: list[dict], stalls: tuple[Stall, Stall], need: int) -> list[int]:
    """Take every beat as soon as `need` are seen; returns the cycles in which one was taken."""
    dut, seen, taken = BeatWindow(config), [], []

    async def producer(ctx):
        await send(ctx, dut.beats, beats, stalls[0])

    async def consumer(ctx):
        cycle, wait = 0, stalls[1]()
        while len(seen) < len(beats):
            left = len(beats) - len(seen)
            valid = [ctx.get(dut.head_valid), ctx.get(dut.second_valid)]
            assert valid != [0, 1]
            if valid[1]:
                assert beats[len(seen) + 1] == as_dict(ctx.get(dut.second))
            take = sum(valid) >= min(need, left) and not wait
            if take:
                seen.append(as_dict(ctx.get(dut.head)))
                taken.append(cycle)
            ctx.set(dut.take, take)
            await ctx.tick()
            wait = stalls[1]() if take else max(0, wait - 1)
            cycle += 1

    simulate(dut, producer, consumer)
    assert seen == beats
    return taken


def as_dict(beat) -> dict:
    return {"data": beat.data, "bad": beat.bad}


def random_beats(config, count: int) -> list[dict]:
    rng = random.Random(count)
    return [{"data": rng.getrandbits(config.bus_bits), "bad": n % 5 == 0} for n in range(count)]


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("need", [1, 2])
def test_beats_keep_their_order_under_backpressure(name, need):
    config = CONFIGS[name]
    watch(config, random_beats(config, 40), (sometimes(1), sometimes(2)), need)


@pytest.mark.parametrize("need", [1, 2])
def test_beats_pass_at_one_per_cycle(need):
    taken = watch(PRESETS["tiny"], random_beats(PRESETS["tiny"], 12), (never, never), need)
    assert taken == list(range(need, need + 12))
