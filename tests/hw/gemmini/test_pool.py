"""`Pool`: the maximum of the rows of a window."""

import random

import pytest

from celosia.hw.gemmini.pool import Pool
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate


@pytest.mark.parametrize("dim", [2, 16])
@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_is_there_with_the_last_row_and_stands(dim, seed):
    rng = random.Random(seed)
    dut = Pool(AcceleratorConfig(dim=dim))
    rows, wanted = [], []
    while len(rows) < 60:
        if rng.random() < 0.3:
            row = [rng.randint(-128, 127) for _ in range(dim)]
            rows.append((row, {"pools": 0, "last": 1}))
            wanted.append(row)
            continue
        best, count = None, rng.choice([1, 4, 9])
        for number in range(count):
            row = [rng.choice([-128, 127, rng.randint(-128, 127), -5]) for _ in range(dim)]
            blank = rng.random() < 0.2
            last = number == count - 1
            rows.append((
                row,
                {"pools": 1, "first": number == 0, "blank": blank, "last": last},
            ))
            counts = [0] * dim if blank else row
            best = counts if best is None else list(map(max, best, counts))
            wanted.append(best if last else None)

    async def testbench(ctx):
        for (row, marks), result in zip(rows, wanted, strict=True):
            ctx.set(dut.next_arrives, 1)
            ctx.set(dut.next_row, {"first": 0, "blank": 0} | marks)
            assert ctx.get(dut.next_leaves) == (result is not None)
            await ctx.tick()
            ctx.set(dut.row, row)
            ctx.set(dut.next_arrives, 0)
            for _ in range(rng.choice([0, 0, 2])):
                ctx.set(dut.next_row, {"pools": 1, "first": 1, "blank": 1, "last": 0})
                assert result is None or list(ctx.get(dut.result)) == result
                await ctx.tick()
            assert result is None or list(ctx.get(dut.result)) == result

    simulate(dut, testbench)


def test_a_row_without_a_window_leaves_the_maximum_of_one_alone():
    dut = Pool(AcceleratorConfig(dim=2))
    window = {"pools": 1, "first": 0, "blank": 0, "last": 0}
    alone = dict.fromkeys(window, 0)

    async def testbench(ctx):
        for row, marks, result in (
            ([3, -9], window | {"first": 1}, [3, -9]),
            ([100, 100], alone, [100, 100]),
            ([-4, -7], window | {"last": 1}, [3, -7]),
        ):
            ctx.set(dut.next_arrives, 1)
            ctx.set(dut.next_row, marks)
            await ctx.tick()
            ctx.set(dut.row, row)
            ctx.set(dut.next_arrives, 0)
            assert list(ctx.get(dut.result)) == result
            await ctx.tick()

    simulate(dut, testbench)
