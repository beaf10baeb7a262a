"""`ArrayPath`: operands are masked, widened and used at the documented time."""

import pytest

from celosia.hw.execute.array import ArrayPath
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=2, scratchpad_kib=1, accumulator_kib=1)
WEIGHTS = [[1, -2], [3, 100]]
A = [200, 0x85]


def bytes_of(values: list[int]) -> list[int]:
    return [value & 0xFF for value in values]


@pytest.mark.parametrize("is_unsigned", [0, 1])
@pytest.mark.parametrize("mask", [0b11, 0b01, 0b10, 0b00])
def test_one_row(is_unsigned, mask):
    dut = ArrayPath(CONFIG)
    widened = [x if is_unsigned or x < 128 else x - 256 for x in A]
    a = [x if mask >> k & 1 else 0 for k, x in enumerate(widened)]
    wanted = [sum(a[k] * WEIGHTS[k][col] for k in range(2)) for col in range(2)]
    row_asked = 2  # Two cycles after row 0 of the weights.

    async def testbench(ctx):
        for cycle in range(row_asked + dut.latency + 1):
            weights = {"start": cycle == 0, "mask": 0b11 if cycle < 2 else 0}
            ctx.set(dut.weight_control, weights)
            rows = {"valid": 1, "swap": 1, "mask": mask, "is_unsigned": is_unsigned}
            ctx.set(dut.row_control, rows if cycle == row_asked else {})
            arrives = cycle - LOCAL_READ_LATENCY
            ctx.set(dut.weights, bytes_of(WEIGHTS[arrives]) if arrives in (0, 1) else [7, 7])
            ctx.set(dut.operands, A if arrives == row_asked else [9, 9])
            if cycle == row_asked + dut.latency:
                assert [ctx.get(x) for x in dut.sums] == wanted
            await ctx.tick()

    simulate(dut, testbench)


@pytest.mark.parametrize("high", [0, 1])
def test_a_row_of_weights_may_have_two_lines(high):
    """Each byte has an element of the first line below one of the second: -8 and 7, 1 and -1."""
    dut, a, row_asked = ArrayPath(CONFIG), [1, 10], 2
    line = [7, -1] if high else [-8, 1]
    asked = {"mask": 0b11, "int4": 1, "high": high}

    async def testbench(ctx):
        for cycle in range(row_asked + dut.latency + 1):
            ctx.set(dut.weight_control, asked | {"start": cycle == 0} if cycle < 2 else {})
            ctx.set(dut.row_control, {"valid": 1, "swap": 1, "mask": 0b11})
            ctx.set(dut.weights, [0x78, 0xF1])
            ctx.set(dut.operands, a)
            await ctx.tick()
        assert [ctx.get(x) for x in dut.sums] == [sum(a) * weight for weight in line]

    simulate(dut, testbench)


@pytest.mark.parametrize("mask", [0b1111, 0b0111])
@pytest.mark.parametrize("lines", [2, 3, 4])
def test_both_lines_of_a_row_may_enter_at_once(mask, lines):
    """A tile of four lines enters in two cycles; what is masked, and lines that are none, are 0."""
    config = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, int4_pairs=True)
    dut, a, row_asked = ArrayPath(config), [1, 10, 100, -128], 2
    weights = [[-8, 7, 1, -1], [2, -3, 4, -5], [5, -6, -7, 3], [-1, 6, -8, 7]]
    rows = [
        [low % 16 + 16 * (high % 16) for low, high in zip(weights[n], weights[n + 2], strict=True)]
        for n in range(2)
    ]
    wanted = [
        sum(a[k] * weights[k][col] for k in range(lines)) * (mask >> col & 1) for col in range(4)
    ]

    async def testbench(ctx):
        for cycle in range(row_asked + dut.latency + 1):
            control = {"mask": mask, "int4": 1, "pair": 1, "second": cycle + 2 < lines}
            ctx.set(dut.weight_control, control | {"start": cycle == 0} if cycle < 2 else {})
            ctx.set(dut.row_control, {"valid": 1, "swap": cycle == row_asked, "mask": 0b1111})
            arrives = cycle - LOCAL_READ_LATENCY
            ctx.set(dut.weights, rows[arrives] if arrives in (0, 1) else [0x77] * 4)
            ctx.set(dut.operands, bytes_of(a))
            await ctx.tick()
        assert [ctx.get(x) for x in dut.sums] == wanted

    simulate(dut, testbench)


def test_a_row_of_d_is_masked():
    dut = ArrayPath(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.row_control, {"d_valid": 1, "d_mask": 0b10})
        for _ in range(LOCAL_READ_LATENCY):
            assert not ctx.get(dut.d_valid)
            await ctx.tick()
        ctx.set(dut.operands, [5, 0xFF])
        assert ctx.get(dut.d_valid)
        assert list(ctx.get(dut.d)) == [0, -1]

    simulate(dut, testbench)


@pytest.mark.parametrize("mask", [0b11, 0b01])
def test_both_operands_may_leave_the_transposer(mask):
    dut = ArrayPath(CONFIG)
    tiles = [[1, 5], [9, 8], [2, 7], [3, 4]]
    weights = [[1, 9], [5, 8]]
    a = [[2, 3], [7, 4] if mask & 0b10 else [0, 0]]
    full = {"shift": 1, "fill_mask": 0b11}
    leaves = {"mask": 0b11, "from_transposer": 1}
    waves = [full, full]
    waves += [leaves | {"shift": 1, "fill_mask": mask, "turn": first} for first in (1, 0)]
    waves[2]["start"] = 1
    rows = [leaves | {"valid": 1, "swap": first, "turn": first} for first in (1, 0)]

    async def testbench(ctx):
        sums = []
        for cycle in range(6 + dut.latency):
            ctx.set(dut.weight_control, waves[cycle] if cycle < 4 else {})
            ctx.set(dut.row_control, rows[cycle - 4] if cycle in (4, 5) else {})
            arrives = cycle - LOCAL_READ_LATENCY
            ctx.set(dut.weights, tiles[arrives] if arrives in range(4) else [6, 6])
            sums.append([ctx.get(x) for x in dut.sums])
            await ctx.tick()
        products = [
            [sum(row[k] * weights[k][col] for k in range(2)) for col in range(2)] for row in a
        ]
        assert sums[4 + dut.latency :] == products

    simulate(dut, testbench)
