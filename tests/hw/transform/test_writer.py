"""`Placer` against the bytes that a result leaves in local rows."""

import random

import numpy as np
import pytest

from celosia.hw.transform.writer import BUFFER_WORDS, Placer
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.presets import PRESETS
from tests.support.streams import receive, simulate, sometimes

CONFIGS = [
    PRESETS["tiny"],
    AcceleratorConfig(dim=2, accumulator_kib=8),
    AcceleratorConfig(dim=16, accumulator_kib=256),
]
DTYPES = {
    ElementType.INT8: "<i1",
    ElementType.UINT8: "<u1",
    ElementType.INT16: "<i2",
    ElementType.INT32: "<i4",
}


def random_place(config: AcceleratorConfig, rng: random.Random, half: int) -> dict:
    """A place; a result that is half a row wide is one of two halves."""
    narrow = half or rng.randrange(2)
    kinds = [ElementType.INT8, ElementType.UINT8, ElementType.INT16]
    kind = rng.choice(kinds if narrow else [*kinds, ElementType.INT32])
    return {
        "valid": 1,
        "kind": kind,
        "elements": rng.randint(1, config.dim // 2 if narrow else config.dim),
        "upper": narrow and kind != ElementType.INT16 and rng.randrange(2),
        "row": rng.randrange(config.scratchpad_rows // 2),
        "stride": rng.choice([1, 5]),
    }


def expected_words(config: AcceleratorConfig, place: dict, elements: list[int]) -> list[tuple]:
    """Row and bytes, by their place in the row, of each word."""
    kept = np.array(elements, np.int64)[: place["elements"]].astype(DTYPES[place["kind"]])
    data = list(kept.tobytes())
    first = place["upper"] * config.dim // 2
    words = []
    for number, left in enumerate(range(0, len(data), config.dim)):
        part = data[left : left + config.dim]
        row = place["row"] + number * place["stride"]
        words.append((row, {first + n: byte for n, byte in enumerate(part)}))
    return words


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}")
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_cuts_results_into_rows(config, half, seed):
    rng = random.Random(seed)
    results = []
    for _ in range(40):
        place = random_place(config, rng, half)
        results.append((place, [rng.randint(-(2**31), 2**31 - 1) for _ in range(config.dim)]))
    dut = Placer(config, half=half)
    expected = [
        word
        for place, elements in results
        for word in expected_words(config, place, elements[half * config.dim // 2 :])
    ]
    waiting = [0]

    async def lanes(ctx):
        for place, elements in results:
            words = len(expected_words(config, place, elements))
            while waiting[0] + words > BUFFER_WORDS:
                await ctx.tick()
            waiting[0] += words
            for port, element in zip(dut.elements, elements, strict=True):
                ctx.set(port, element)
            ctx.set(dut.place, place)
            ctx.set(dut.valid, 1)
            await ctx.tick()
            ctx.set(dut.valid, 0)
            for _ in range(words - 1 + rng.choice([0, 0, 2])):
                await ctx.tick()

    async def scratchpad(ctx):
        for row, bytes_ in expected:
            (word,) = await receive(ctx, dut.words, 1, sometimes(seed + row))
            waiting[0] -= 1
            assert word.row == row
            assert {n: word.data[n] for n in range(config.dim) if word.mask >> n & 1} == bytes_

    simulate(dut, lanes, scratchpad)


def test_a_word_is_on_offer_two_cycles_after_it_was_cut():
    config = PRESETS["tiny"]
    dut = Placer(config)
    offers = []

    async def lanes(ctx):
        place = {"valid": 1, "kind": ElementType.INT32, "elements": 4, "row": 8, "stride": 1}
        ctx.set(dut.place, place)
        ctx.set(dut.words.ready, 1)
        ctx.set(dut.valid, 1)
        for cycle in range(10):
            if ctx.get(dut.words.valid):
                offers.append(cycle)
            await ctx.tick()
            ctx.set(dut.valid, 0)

    simulate(dut, lanes)
    assert offers == [2, 3, 4, 5]


@pytest.mark.parametrize("more", [0, 1])
def test_a_buffer_may_be_full_and_what_has_no_room_is_noticed(more):
    """By an assertion in the design: nothing holds the lanes."""
    config, words = PRESETS["tiny"], BUFFER_WORDS + 1
    dut = Placer(config)

    async def lanes(ctx):
        ctx.set(dut.valid, 1)
        for row in range(words + more):
            place = {"valid": 1, "kind": ElementType.INT8, "elements": 4, "row": row, "stride": 1}
            ctx.set(dut.place, place)
            await ctx.tick()
        ctx.set(dut.valid, 0)
        await ctx.tick().repeat(3)
        found = await receive(ctx, dut.words, words)
        assert [word.row for word in found] == list(range(words))

    if more:
        with pytest.raises(AssertionError, match="a word without room"):
            simulate(dut, lanes)
    else:
        simulate(dut, lanes)
