"""`Endings`: room for words, and ends in order."""

import random

import pytest

from celosia.hw.transform.endings import Endings
from celosia.hw.transform.writer import BUFFER_WORDS
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, normalization=True)


@pytest.mark.parametrize("seed", range(3))
def test_an_operation_is_over_when_its_last_word_is_taken(seed):
    rng = random.Random(seed)
    dut = Endings(CONFIG)

    async def testbench(ctx):
        promised, gone, marks = [0, 0], [0, 0], []
        ended = operations = 0
        words, last = [0, 0], False
        await ctx.tick()
        for _ in range(1500):
            ctx.set(dut.words, words)
            ctx.set(dut.last, last)
            room = all(
                not count or promised[port] + count - gone[port] <= BUFFER_WORDS
                for port, count in enumerate(words)
            )
            accepted = bool(ctx.get(dut.fits)) and rng.random() < 0.7
            assert room >= ctx.get(dut.fits)
            assert ctx.get(dut.fits) or not room or (last and len(marks) >= CONFIG.transform_queue)
            taken = [gone[port] < promised[port] and rng.random() < 0.5 for port in range(2)]
            ctx.set(dut.accepted, accepted)
            ctx.set(dut.taken, taken)
            coming = [rng.choice([0, 1, 2, 4]), rng.choice([0, 0, 2])]
            ctx.set(dut.coming, coming)
            ctx.set(dut.moves, accepted)
            before, ends = words, last
            if accepted:
                words, last = coming, rng.random() < 0.1
            await ctx.tick()
            for port in range(2):
                promised[port] += accepted * before[port]
                gone[port] += taken[port]
            if accepted and ends:
                marks.append(list(promised))
                operations += 1
            if ctx.get(dut.done):
                mark = marks.pop(0)
                assert all(gone[port] >= mark[port] for port in range(2))
                ended += 1
        ctx.set(dut.accepted, 0)
        for port in range(2):
            ctx.set(dut.taken[port], 0)
        while gone != promised:
            taken = [gone[port] < promised[port] for port in range(2)]
            ctx.set(dut.taken, taken)
            gone = [count + take for count, take in zip(gone, taken, strict=True)]
            await ctx.tick()
            ended += ctx.get(dut.done)
        ctx.set(dut.taken, [0, 0])
        while not ctx.get(dut.idle):
            await ctx.tick()
            ended += ctx.get(dut.done)
        assert ended == operations
        assert ended > 20

    simulate(dut, testbench)


@pytest.mark.parametrize("words", [0, 2])
def test_done_comes_after_the_last_word(words):
    dut = Endings(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.words, [words, 0])
        ctx.set(dut.last, 1)
        ctx.set(dut.accepted, 1)
        await ctx.tick()
        ctx.set(dut.accepted, 0)
        for _ in range(4 * bool(words)):
            await ctx.tick()
            assert not ctx.get(dut.done)
        ctx.set(dut.taken, [bool(words), 0])
        for _ in range(words or 2):
            assert not ctx.get(dut.done)
            await ctx.tick()
        assert ctx.get(dut.done)

    simulate(dut, testbench)
