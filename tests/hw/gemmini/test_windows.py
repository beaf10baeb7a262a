"""`PoolWalker` against the windows that an operation means; `PoolingController`."""

import random
from collections.abc import Iterator

import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.windows import PoolingController, PoolWalker
from celosia.hw.store.controller import StoreController, store_ports
from celosia.isa.presets import PRESETS
from tests.support.streams import offer_cycles, receive, send, simulate, sometimes

CONFIG = PRESETS["gemmini4"]
BASE = 1000
CONSTANT = {"relu": 1, "scale": 77, "bias": 1, "bias_row": 3, "space": Space.ACCUMULATOR}


def random_op(rng: random.Random) -> dict:
    pooling = {
        "size": rng.randint(1, 3),
        "stride": rng.randint(1, 3),
        "top": rng.randrange(4),
        "left": rng.randrange(4),
        "rows": rng.randint(1, 3),
        "cols": rng.randint(1, 3),
        "image_rows": rng.randrange(6),
        "image_cols": rng.randrange(6),
    }
    return {"rows": 9, "cols": 4, "row": BASE, "pools": 1, "pooling": pooling, **CONSTANT}


def positions(op: dict) -> Iterator[dict]:
    p = op["pooling"]
    side = range(p["size"])
    windows = [(r, c) for r in range(p["rows"]) for c in range(p["cols"])]
    for index, (row, col) in enumerate(windows):
        for wr, wc in ((wr, wc) for wr in side for wc in side):
            y = row * p["stride"] + wr - p["top"]
            x = col * p["stride"] + wc - p["left"]
            inside = 0 <= y < p["image_rows"] and 0 <= x < p["image_cols"]
            last = (wr, wc) == (side[-1], side[-1])
            yield CONSTANT | {
                "row": BASE + y * p["image_cols"] + x if inside else None,
                "blank": not inside,
                "first": (wr, wc) == (0, 0),
                "last_in_row": last,
                "last": last and index == len(windows) - 1,
                "pools": 1,
                "full": 0,
                "words_minus_1": 0,
            }


def check(read, wanted: dict) -> None:
    for name, value in wanted.items():
        if value is not None:
            assert read[name] == value, name


@pytest.mark.parametrize("seed", range(4))
def test_walks_every_position_of_every_window_under_stalls(seed):
    rng = random.Random(seed)
    dut, ops = PoolWalker(CONFIG, store_ports(CONFIG)), [random_op(rng) for _ in range(6)]
    wanted = [position for op in ops for position in positions(op)]

    async def producer(ctx):
        await send(ctx, dut.op, ops, sometimes(seed))

    async def consumer(ctx):
        reads = await receive(ctx, dut.reads, len(wanted), sometimes(seed + 1))
        for read, position in zip(reads, wanted, strict=True):
            check(read, position)

    simulate(dut, producer, consumer)


def test_lines_of_the_widest_image_are_as_far_apart_as_windows_may_be():
    pooling = {"size": 2, "stride": 3, "top": 0, "left": 0, "rows": 2, "cols": 1}
    pooling |= {"image_rows": 9, "image_cols": 255}
    op = {"rows": 9, "cols": 4, "row": BASE, "pools": 1, "pooling": pooling, **CONSTANT}
    dut, wanted = PoolWalker(CONFIG, store_ports(CONFIG)), list(positions(op))
    assert wanted[4]["row"] == BASE + 765

    async def producer(ctx):
        await send(ctx, dut.op, [op])

    async def consumer(ctx):
        for read, position in zip(await receive(ctx, dut.reads, 8), wanted, strict=True):
            check(read, position)

    simulate(dut, producer, consumer)


def test_a_position_takes_a_cycle_and_the_first_is_there_a_cycle_after_its_operation():
    rng = random.Random(1)
    dut, ops = PoolWalker(CONFIG, store_ports(CONFIG)), [random_op(rng) for _ in range(3)]
    count = sum(1 for op in ops for _ in positions(op))
    assert offer_cycles(dut, dut.op, ops, dut.reads, count + 3) == [1 + n for n in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_rows_and_windows_take_turns_in_order(seed):
    rng = random.Random(seed)
    dut, ops, wanted = PoolingController(CONFIG, StoreController(CONFIG)), [], []
    for number in range(12):
        if rng.random() < 0.5:
            ops.append(random_op(rng))
            wanted += positions(ops[-1])
        else:
            ops.append({"rows": 2, "cols": 3, "row": number, "block_stride": 4, "pools": 0})
            wanted += [
                {"row": number + row, "pools": 0, "last_in_row": 1, "last": row} for row in (0, 1)
            ]

    async def producer(ctx):
        await send(ctx, dut.op, ops, sometimes(seed))

    async def consumer(ctx):
        reads = await receive(ctx, dut.reads, len(wanted), sometimes(seed + 1))
        for read, position in zip(reads, wanted, strict=True):
            check(read, position)

    simulate(dut, producer, consumer)
