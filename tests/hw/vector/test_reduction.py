"""`MaximumReduction` and `SumReduction` against NumPy."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.hw.vector.reduction import MaximumReduction, SumReduction
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import INT32_MIN, wrap32
from tests.support.streams import simulate

SQUARES = (1 << 48) - 1


@dataclass
class Row:
    """A row in steps, and what its slot has before it."""

    elements: np.ndarray
    """Steps times lanes."""
    visible: np.ndarray
    slot: int = 0
    start: bool = True
    last: bool = True
    finish: bool = False
    squared: bool = False
    kept: int = 0
    kept_squares: int = 0


def spans(row: Row) -> list[dict[str, int]]:
    """The span of each step."""
    steps = len(row.elements)
    return [
        {
            "first": step == 0,
            "last": row.last and step == steps - 1,
            "start": row.start,
            "finish": row.finish,
            "slot": row.slot,
        }
        for step in range(steps)
    ]


def mask(visible: np.ndarray) -> int:
    return sum(int(bit) << lane for lane, bit in enumerate(visible))


def schedule(rows: list[Row], gaps: bool) -> list[tuple[Row, int] | None]:
    """A row's step, or nothing, for each cycle."""
    rng = random.Random(2)
    cycles: list[tuple[Row, int] | None] = []
    for row in rows:
        for step in range(len(row.elements)):
            if gaps:
                cycles += [None] * rng.choice((0, 0, 0, 1, 9))
            cycles.append((row, step))
    return cycles


def maxima(rows: list[Row], gaps: bool = False) -> list[tuple[int, int]]:
    """Slots and values that are written; each within the documented latency."""
    dim = rows[0].elements.shape[1]
    dut = MaximumReduction(AcceleratorConfig(dim=dim))
    rng = random.Random(1)
    written: list[tuple[int, int]] = []

    async def bench(ctx):
        due: list[int] = []
        for cycle, now in enumerate(schedule(rows, gaps) + [None] * (dut.latency + 2)):
            ctx.set(dut.start, now is not None)
            ctx.set(dut.kept, rng.getrandbits(31))
            ctx.set(dut.span.as_value(), rng.getrandbits(8))
            for lane in dut.elements:
                ctx.set(lane, rng.getrandbits(31))
            if now is not None:
                row, step = now
                ctx.set(dut.span, spans(row)[step])
                ctx.set(dut.visible, mask(row.visible[step]))
                for lane, element in zip(dut.elements, row.elements[step].tolist(), strict=True):
                    ctx.set(lane, element)
                if step == 0:
                    ctx.set(dut.kept, row.kept)
                if row.last and step == len(row.elements) - 1:
                    due.append(cycle + dut.latency)
            assert ctx.get(dut.write.valid) == (cycle in due)
            if cycle in due:
                written.append((ctx.get(dut.write.slot), ctx.get(dut.write.maximum)))
            await ctx.tick()

    simulate(dut, bench, deadline=100_000)
    return written


def sums(rows: list[Row], gaps: bool = False) -> list[tuple[int, bool, int, int | None]]:
    """What is written: slot, finish, total and, if they count, squares; at the documented time."""
    dim = rows[0].elements.shape[1]
    dut = SumReduction(AcceleratorConfig(dim=dim))
    rng = random.Random(1)
    written: list[tuple[int, bool, int, int | None]] = []

    async def bench(ctx):
        due: list[int] = []
        waiting = [row for row in rows if not row.start]
        reads: list[Row | None] = [None] * LOCAL_READ_LATENCY
        for cycle, now in enumerate(schedule(rows, gaps) + [None] * (dut.latency + 2)):
            ctx.set(dut.start, now is not None)
            ctx.set(dut.span.as_value(), rng.getrandbits(8))
            if now is not None:
                row, step = now
                ctx.set(dut.span, spans(row)[step])
                ctx.set(dut.squared, row.squared)
                ctx.set(dut.visible, mask(row.visible[step]))
                for lane, element in enumerate(row.elements[step].tolist()):
                    ctx.set(dut.elements[lane], element)
                    ctx.set(dut.squares[lane], element**2 if row.squared else rng.getrandbits(31))
                if row.last and step == len(row.elements) - 1:
                    due.append(cycle + dut.latency)
            reads.append(waiting.pop(0) if ctx.get(dut.kept.valid) else None)
            if reads[-1]:
                assert ctx.get(dut.kept.row) == reads[-1].slot
            read = reads.pop(0)
            kept = (read.kept, read.kept_squares) if read else (rng.getrandbits(31), 5)
            ctx.set(dut.kept.data, dict(zip(("total", "squares"), kept, strict=True)))
            write = dut.write
            assert ctx.get(write.valid) == (cycle in due)
            if cycle in due:
                squares = ctx.get(write.sums.squares) if ctx.get(write.squared) else None
                total = ctx.get(write.sums.total)
                written.append((ctx.get(write.slot), bool(ctx.get(write.finish)), total, squares))
            await ctx.tick()
        assert not waiting

    simulate(dut, bench, deadline=100_000)
    return written


def random_row(rng: np.random.Generator, dim: int, low: int, high: int) -> Row:
    steps = int(rng.integers(1, 6))
    elements = rng.integers(low, high, (steps, dim))
    edges = rng.choice([low, high - 1, 0], (steps, dim))
    return Row(
        np.where(rng.integers(0, 5, (steps, dim)) == 0, edges, elements),
        rng.integers(0, 4, (steps, dim)) > int(rng.choice([-1, 0, 1, 4], p=[0.4, 0.3, 0.2, 0.1])),
        slot=int(rng.integers(256)),
        start=bool(rng.integers(2)),
        last=bool(rng.integers(5)),
        finish=bool(rng.integers(2)),
        squared=bool(rng.integers(2)),
        kept=int(rng.integers(-(1 << 31), 1 << 31)) >> int(rng.integers(0, 32)),
        kept_squares=int(rng.integers(1 << 48)),
    )


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dim", [2, 4, 16, 64])
def test_maxima_of_rows(dim, gaps):
    rng = np.random.default_rng(dim)
    rows = [random_row(rng, dim, -(1 << 31), 1 << 31) for _ in range(30)]
    expected = []
    for row in rows:
        largest = np.where(row.visible, row.elements, INT32_MIN).max()
        if row.last:
            expected.append((row.slot, int(max(largest, INT32_MIN if row.start else row.kept))))
    assert maxima(rows, gaps) == expected


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dim", [2, 4, 16, 64])
def test_sums_of_rows(dim, gaps):
    rng = np.random.default_rng(dim)
    rows = []
    for index in range(30):
        squared = index % 3 > 0
        row = random_row(rng, dim, *((-(1 << 15), 1 << 15) if squared else (0, 1 << 16)))
        row.squared = squared
        rows.append(row)
    expected = []
    for row in rows:
        shown = np.where(row.visible, row.elements, 0)
        total = int(wrap32(shown.sum() + (0 if row.start else row.kept)))
        squares = int((shown**2).sum()) + (0 if row.start else row.kept_squares) & SQUARES
        if row.last:
            expected.append((row.slot, row.finish, total, squares if row.squared else None))
    assert sums(rows, gaps) == expected


@pytest.mark.slow
def test_the_longest_row_of_the_smallest_elements():
    everything = np.ones((2048, 2), bool)
    row = Row(np.full((2048, 2), -(1 << 15)), everything, squared=True)
    assert sums([row]) == [(0, False, -(1 << 27), 1 << 42)]


@pytest.mark.parametrize("dim", [2, 16, 64])
def test_latencies_are_as_documented(dim):
    config = AcceleratorConfig(dim=dim)
    depth = {2: 1, 16: 2, 64: 3}[dim]
    assert MaximumReduction(config).latency == 1 + depth
    assert SumReduction(config).latency == 1 + max(2, depth)
