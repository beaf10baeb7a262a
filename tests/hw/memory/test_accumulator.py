"""`Accumulator`: exact sums at any distance, priorities, latency."""

import random

import pytest

from celosia.hw.memory.accumulator import Accumulator
from celosia.hw.memory.ports import BankUser
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.config import AcceleratorConfig
from tests.support.memories import read_rows, set_row
from tests.support.streams import simulate

CONFIGS = [
    AcceleratorConfig(dim=2, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, accumulator_banks=1),
]


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.accumulator_banks}banks")
@pytest.mark.parametrize("hot_rows", [1, 2, 5])
def test_writes_from_both_sides_add_up(config, hot_rows):
    """Results and loads in every cycle, to few rows, in different ones of which they meet never."""
    dut, rng, dim = Accumulator(config), random.Random(hot_rows), config.dim
    half = config.accumulator_rows // 2
    rows = [[0] * dim for _ in range(config.accumulator_rows)]

    def write(row: int, accumulate: bool, mask: int, values: list[int]) -> None:
        for lane in range(dim):
            if mask >> lane & 1:
                rows[row][lane] = wrapped(values[lane] + accumulate * rows[row][lane])

    def random_write(first: int) -> tuple[int, bool, int, list[int]]:
        values = [rng.randrange(-(1 << 31), 1 << 31) for _ in range(dim)]
        row = first + rng.randrange(hot_rows) + rng.choice([0, half])
        return row, rng.random() < 0.8, rng.randrange(1 << dim), values

    async def testbench(ctx):
        pending = None
        for _ in range(400):
            result = random_write(0) if rng.random() < 0.8 else None
            load = random_write(hot_rows) if rng.random() < 0.8 else None
            ctx.set(dut.address.valid, result is not None)
            ctx.set(dut.load.valid, load is not None)
            if pending:
                set_row(ctx, dut.elements, pending[3])
            if result:
                row, accumulate, mask, _ = result
                address = {"valid": 1, "row": row, "accumulate": accumulate, "mask": mask}
                ctx.set(dut.address, address)
                write(*result)
            if load:
                row, accumulate, mask, values = load
                payload = {"row": row, "accumulate": accumulate, "mask": mask, "data": values}
                ctx.set(dut.load.payload, payload)
                bank = config.accumulator_bank_rows
                free = not result or result[0] // bank != row // bank
                assert ctx.get(dut.load.ready) == free
                if free:
                    write(*load)
            pending = result
            await ctx.tick()
        if pending:
            set_row(ctx, dut.elements, pending[3])
        ctx.set(dut.address.valid, 0)
        ctx.set(dut.load.valid, 0)
        await ctx.tick().repeat(2)
        assert await read_rows(ctx, dut.store, len(rows)) == rows

    simulate(dut, testbench)


def test_a_store_waits_for_accumulations_in_its_bank_only():
    config = CONFIGS[0]
    dut, bank = Accumulator(config), config.accumulator_bank_rows

    async def testbench(ctx):
        ctx.set(dut.store.valid, 1)
        for accumulate, store_row, granted in (
            (1, 0, 0),
            (1, bank, 1),
            (0, 0, 1),  # Overwriting leaves the read port free.
        ):
            address = {"valid": 1, "row": 3, "accumulate": accumulate, "mask": 0}
            ctx.set(dut.address, address)
            ctx.set(dut.store.row, store_row)
            assert ctx.get(dut.store.ready) == granted
            await ctx.tick()

    simulate(dut, testbench)


def test_a_row_is_there_after_the_documented_latency():
    config = CONFIGS[0]
    dut = Accumulator(config, memory_seed=1)

    async def testbench(ctx):
        rows = await read_rows(ctx, dut.store, 6)
        ctx.set(dut.store.valid, 1)
        for cycle in range(6):  # One row per cycle, from alternating banks or not.
            ctx.set(dut.store.row, min(cycle, 5))
            if cycle >= LOCAL_READ_LATENCY:
                assert list(ctx.get(dut.store.data)) == rows[cycle - LOCAL_READ_LATENCY]
            await ctx.tick()

    simulate(dut, testbench)


@pytest.mark.parametrize("banks", [1, 2])
def test_transforms_read_before_stores_and_whoever_waits_is_told_for_whom(banks):
    values = {"normalization": True, "accumulator_banks": banks}
    config = CONFIGS[0].with_values(values)
    dut, rng = Accumulator(config, memory_seed=1), random.Random(banks)
    bank = config.accumulator_bank_rows

    def random_row() -> int:
        return rng.randrange(banks) * bank + rng.randrange(4)

    async def testbench(ctx):
        rows = await read_rows(ctx, dut.store, config.accumulator_rows)
        due: list[tuple[int, str, list[int]]] = []
        hit = None  # The bank of the results.
        for cycle in range(300):
            users: dict[int, BankUser] = {}  # Of each bank.
            for name, port in (("RESULTS", dut.address), ("LOAD", dut.load)):
                row, accumulate, valid = random_row(), rng.getrandbits(1), rng.random() < 0.4
                write = {"row": row, "accumulate": accumulate, "mask": 0}
                if name == "RESULTS":
                    ctx.set(port, write | {"valid": valid})
                    hit = row // bank if valid else None
                else:
                    ctx.set(port.valid, valid)
                    ctx.set(port.payload, write)
                    valid = valid and row // bank != hit
                if valid and accumulate:
                    users[row // bank] = BankUser[name]
            for name in ("transform", "store"):
                port, row, valid = getattr(dut, name), random_row(), rng.random() < 0.7
                ctx.set(port.valid, valid)
                ctx.set(port.row, row)
                user = users.get(row // bank)
                assert ctx.get(port.ready) == (valid and user is None)
                if valid and user is None:
                    users[row // bank] = BankUser[name.upper()]
                    due.append((cycle + LOCAL_READ_LATENCY, name, rows[row]))
                elif valid:
                    assert ctx.get(getattr(dut, f"{name}_blocker")) == user
            for when, name, wanted in due[-6:]:
                if when == cycle:
                    assert list(ctx.get(getattr(dut, name).data)) == wanted
            await ctx.tick()

    simulate(dut, testbench)
