"""`BertLanes` against the numerics."""

import random

import numpy as np
import pytest

from celosia.hw.gemmini.norms.lanes import BertLanes, Curve
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import wrap32, wrapped_exponential, wrapped_gelu
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4)
CONSTANTS = [(-40, -1700, 14, 4681), (28, 140, 14, 4681), (-(1 << 31), 7, -5, -9), (0, 0, 1, 1)]


def wanted(curve: Curve, x: np.ndarray, offset: int, constants: tuple[int, ...]) -> list[int]:
    u = wrap32(x.astype(np.int64) - offset)
    match curve:
        case Curve.GELU:
            u = wrapped_gelu(u, *constants[:2])
        case Curve.EXPONENTIAL:
            u = wrapped_exponential(u, *constants)
        case Curve.SQUARE:
            u = wrap32(u.astype(np.int64) ** 2)
    return u.tolist()


@pytest.mark.parametrize("constants", CONSTANTS, ids=str)
@pytest.mark.parametrize("curve", list(Curve))
def test_a_row_leaves_after_the_documented_latency(curve, constants):
    rng = np.random.default_rng(curve.value)
    pick = random.Random(1)
    offset = 0 if curve is Curve.GELU else int(rng.integers(-500, 500))
    rows = []
    for _ in range(12):
        size = pick.choice([64, 2000, 1 << 31])
        rows.append(rng.integers(-size, size, 4).astype(np.int32))
    rows.append(np.array([0, -1, (1 << 31) - 1, -(1 << 31)], np.int32))
    biased = [pick.random() < 0.5 for _ in rows]
    bias = rng.integers(-(1 << 31), 1 << 31, 4)
    dut = BertLanes(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.curve, curve)
        ctx.set(dut.offset, offset)
        names = ("qb", "qc", "ln2", "ln2_inverse")
        ctx.set(
            dut.constants,
            {name: value % (1 << 32) for name, value in zip(names, constants, strict=True)},
        )
        ctx.set(dut.bias, bias.tolist())
        for cycle in range(len(rows) + BertLanes.LATENCY):
            there = cycle < len(rows)
            ctx.set(dut.request.valid, there)
            if there:
                ctx.set(dut.row, rows[cycle].tolist())
                ctx.set(dut.request.biased, biased[cycle])
                ctx.set(dut.request.scale, cycle)
                ctx.set(dut.request.relu, biased[-1 - cycle])
            done = cycle - BertLanes.LATENCY
            assert ctx.get(dut.next_request.valid) == (done >= 0)
            if done >= 0:
                x = wrap32(rows[done].astype(np.int64) + bias * biased[done])
                assert list(ctx.get(dut.next_row)) == wanted(curve, x, offset, constants)
                assert ctx.get(dut.next_request.scale) == done
                assert ctx.get(dut.next_request.relu) == biased[-1 - done]
                assert not ctx.get(dut.next_request.biased)
            await ctx.tick()

    simulate(dut, testbench)


def test_bytes_pass_as_they_are():
    dut = BertLanes(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.request, {"valid": 1, "as_it_is": 1})
        ctx.set(dut.bytes, [255, 128, 0, 127])
        for _ in range(BertLanes.LATENCY):
            await ctx.tick()
        assert list(ctx.get(dut.next_row)) == [-1, -128, 0, 127]
        assert ctx.get(dut.next_request.raw)
        assert not ctx.get(dut.next_request.as_it_is)

    simulate(dut, testbench)
