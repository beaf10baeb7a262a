"""`Gear`: words of one width become chunks of another, row by row."""

import random
from collections.abc import Container

import pytest

from celosia.hw.store.gear import Gear
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import never, send, simulate, sometimes

CONFIGS = [
    AcceleratorConfig(dim=dim, bus_bits=bus, accumulator_kib=256, scratchpad_kib=256)
    for dim, bus in ((2, 512), (4, 64), (16, 128), (8, 32), (64, 32))
]


def words_of(config: AcceleratorConfig, rows: list[bytes]) -> list[dict]:
    words = []
    for row in rows:
        parts = [row[at : at + config.dim] for at in range(0, len(row), config.dim)]
        words += [{"data": int.from_bytes(part, "little"), "last": 0} for part in parts]
        words[-1]["last"] = 1
    return words


def run(config: AcceleratorConfig, rows: list[bytes], stall, extra: Container[int] = ()) -> int:
    """Take the chunks of `rows` and compare; returns the cycles that it took.

    A row whose number is in `extra` is finished in a cycle of its own, after its last chunk.
    """
    dut, size, cycles = Gear(config), config.bus_bytes, 0

    async def consumer(ctx):
        nonlocal cycles
        for number, row in enumerate(rows):
            for at in range(0, len(row), size):
                for _ in range(stall()):
                    await ctx.tick()
                    cycles += 1
                last = at + size >= len(row)
                ctx.set(dut.chunks.ready, 1)
                while not ctx.get(dut.chunks.valid):
                    await ctx.tick()
                    cycles += 1
                ctx.set(dut.finish, last and number not in extra)
                expected = row[at : at + size]
                chunk = ctx.get(dut.chunks.p).to_bytes(size, "little")
                assert chunk[: len(expected)] == expected
                await ctx.tick()
                cycles += 1
                ctx.set(dut.chunks.ready, 0)
                ctx.set(dut.finish, 0)
            if number in extra:
                ctx.set(dut.finish, 1)
                await ctx.tick()
                ctx.set(dut.finish, 0)

    async def producer(ctx):
        await send(ctx, dut.words, words_of(config, rows), stall)

    simulate(dut, producer, consumer)
    return cycles


def random_rows(config: AcceleratorConfig, count: int, seed: int) -> list[bytes]:
    rng = random.Random(seed)
    sizes = [
        1,
        config.dim,
        config.bus_bytes,
        64,
        rng.randint(1, 64),
        rng.randint(1, 4 * config.dim),
    ]
    return [rng.randbytes(rng.choice(sizes)) for _ in range(count)]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}-bus{c.bus_bits}")
@pytest.mark.parametrize("seed", range(3))
def test_every_row_starts_with_a_word_and_a_chunk(config, seed):
    rows = random_rows(config, 20, seed)
    extra = {number for number in range(20) if random.Random(number + seed).random() < 0.4}
    run(config, rows, sometimes(seed), extra)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}-bus{c.bus_bits}")
def test_a_chunk_or_a_word_moves_in_each_cycle(config):
    rows = [bytes(range(64))] * 4
    cycles = run(config, rows, never)
    # The first word is on offer one cycle after the start.
    assert cycles <= 1 + len(rows) * 64 // min(config.dim, config.bus_bytes)


def test_words_are_taken_up_to_the_one_that_completes_a_chunk():
    """Though nobody takes chunks."""
    dut, words = Gear(CONFIGS[0]), CONFIGS[0].bus_bytes // CONFIGS[0].dim

    async def testbench(ctx):
        ctx.set(dut.words.valid, 1)
        for _ in range(words - 1):
            assert ctx.get(dut.words.ready)
            assert not ctx.get(dut.chunks.valid)
            await ctx.tick()
        assert ctx.get(dut.chunks.valid)
        assert not ctx.get(dut.words.ready)

    simulate(dut, testbench)
