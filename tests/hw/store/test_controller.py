"""`StoreController` against the rows that an operation means."""

import random

import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.store.controller import StoreController
from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS
from tests.support.registers import reset_registers
from tests.support.streams import offer_cycles, receive, send, simulate, sometimes

CONFIGS = [
    PRESETS["tiny"],
    AcceleratorConfig(dim=2, accumulator_kib=8),
    AcceleratorConfig(dim=64, accumulator_kib=256),
    AcceleratorConfig(dim=4, accumulator_kib=8, bert=True),
]


def random_op(config: AcceleratorConfig, rng: random.Random) -> dict:
    space, full = rng.choice([Space.SCRATCHPAD, Space.ACCUMULATOR]), rng.randrange(2)
    int16 = space == Space.ACCUMULATOR and not full and rng.randrange(2)
    blocks = config.blocks_of(size_of(full, int16, space))
    return {
        "address": rng.getrandbits(64),
        "stride": rng.getrandbits(32),
        "rows": rng.choice([1, 1, 2, 5]),
        "cols": rng.choice([1, config.dim, rng.randint(1, config.dim * blocks)]),
        "space": space,
        "row": rng.randrange(40),
        "block_stride": rng.choice([1, config.dim]),
        "full": full,
        "int16": int16,
        "relu": rng.randrange(2),
        "scale": rng.getrandbits(32),
        "bias": rng.randrange(2),
        "bias_row": rng.randrange(20),
        "tag": rng.getrandbits(32),
    }


def size_of(full: int, int16: int, space: Space) -> int:
    return 4 if full and space == Space.ACCUMULATOR else 1 + int16


def expected_reads(config: AcceleratorConfig, op: dict) -> list[dict]:
    blocks = -(-op["cols"] // config.dim)
    size = size_of(op["full"], op["int16"], op["space"])
    reads = []
    for r in range(op["rows"]):
        for b in range(blocks):
            cols = min(config.dim, op["cols"] - b * config.dim)
            reads.append({
                "space": op["space"],
                "row": op["row"] + r + b * op["block_stride"],
                "bias": op["bias"],
                "bias_row": op["bias_row"] + b,
                "full": size == 4,
                "int16": op["int16"],
                "relu": op["relu"],
                "scale": op["scale"],
                "words_minus_1": -(-cols * size // config.dim) - 1,
                "last_in_row": b == blocks - 1,
                "last": b == blocks - 1 and r == op["rows"] - 1,
                **({"elements": cols} if config.bert else {}),
            })
    return reads


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"dim{c.dim}" + "-bert" * c.bert)
@pytest.mark.parametrize("seed", range(3))
def test_walks_every_block_of_every_row_under_stalls(config, seed):
    rng = random.Random(seed)
    dut, ops = StoreController(config), [random_op(config, rng) for _ in range(8)]
    expected = [read for op in ops for read in expected_reads(config, op)]

    async def producer(ctx):
        await send(ctx, dut.op, ops, sometimes(seed))

    async def consumer(ctx):
        reads = await receive(ctx, dut.reads, len(expected), sometimes(seed + 1))
        assert [{name: read[name] for name in expected[0]} for read in reads] == expected

    simulate(dut, producer, consumer)


def test_takes_the_next_operation_with_the_last_row():
    config = PRESETS["tiny"]
    rng = random.Random(1)
    dut, ops = StoreController(config), [random_op(config, rng) for _ in range(4)]
    ops[1] |= {"rows": 1, "cols": 1}
    count = sum(len(expected_reads(config, op)) for op in ops)
    assert offer_cycles(dut, dut.op, ops, dut.reads, count + 3) == [1 + n for n in range(count)]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_reset_sets_only_that_nothing_is_walked(config):
    """Nobody looks at the rest before it was written."""
    assert {*reset_registers(StoreController(config))} == {"active"}
