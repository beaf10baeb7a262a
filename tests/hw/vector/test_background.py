"""`Background` against the definitions in `celosia.isa.numerics`."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from celosia.hw.vector.background import Background
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import (
    RowSums,
    isqrt,
    reciprocal31,
    reciprocal32,
    row_statistics,
    row_sums,
)
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=2)
WORD, SQUARES = (1 << 32) - 1, (1 << 48) - 1


@dataclass
class Job:
    """The sums of a row, and what becomes of them."""

    total: int
    squares: int | None = None
    mean: int | None = None
    reciprocal: int | None = None

    def facts(self, channels: int, epsilon: int, rms: bool) -> tuple[int | None, int]:
        """As the registers hold them."""
        if self.squares is None:
            return None, int(reciprocal32(max(self.total & WORD, 1))) & WORD
        mean = (2 * self.total + channels) // (2 * channels)
        mean = 0 if rms else (mean + (1 << 16) & (1 << 17) - 1) - (1 << 16)
        distance = self.squares + epsilon - 2 * mean * self.total + channels * mean * mean & SQUARES
        return mean, int(reciprocal31(max(int(isqrt(distance)), 1)))


@dataclass
class Outcome:
    """Cycles: of jobs offered first, and of reciprocals."""

    offered: list[int]
    finished: list[int]


def run(
    jobs: list[Job], channels: int = 1, gaps: bool = False, *, epsilon: int = 0, rms: bool = False
) -> Outcome:
    """Check the facts of each job."""
    dut, rng = shared_design(Background, CONFIG), random.Random(1)
    outcome = Outcome([], [])
    means: dict[int, int] = {}
    reciprocals: dict[int, int] = {}

    def offer(ctx, number: int) -> None:
        offered = jobs[number]
        sums = {"total": offered.total, "squares": offered.squares or 0}
        fields = {"slot": number % 256, "squared": offered.squares is not None, "sums": sums}
        ctx.set(dut.job.p, fields)

    def note(ctx, write: Any, facts: dict[int, int], jobs_of: list[int]) -> bool:
        if ctx.get(write.valid):
            number = next(n for n in jobs_of if n not in facts and n % 256 == ctx.get(write.slot))
            facts[number] = ctx.get(write.fact)
        return bool(ctx.get(write.valid))

    async def bench(ctx):
        ctx.set(dut.norm, {"channels": channels, "epsilon": epsilon, "rms": rms})
        number, pause, cycle = 0, 0, 0
        numbers = list(range(len(jobs)))
        while len(reciprocals) < len(jobs):
            offered = number < len(jobs) and pause == 0
            ctx.set(dut.job.valid, offered)
            if offered:
                offer(ctx, number)
                if len(outcome.offered) == number:
                    outcome.offered.append(cycle)
            else:
                ctx.set(dut.job.p.as_value(), rng.getrandbits(89))
            assert ctx.get(dut.busy) == (len(reciprocals) < number)
            note(ctx, dut.mean, means, numbers)
            if note(ctx, dut.reciprocal, reciprocals, numbers):
                outcome.finished.append(cycle)
            if offered and ctx.get(dut.job.ready):
                number += 1
                pause = rng.choice((0, 0, 0, 5, 50, 90)) if gaps else 0
            elif pause:
                pause -= 1
            await ctx.tick()
            cycle += 1
        assert not ctx.get(dut.busy)

    simulate(dut, bench, deadline=200 * len(jobs) + 200)
    for number, job in enumerate(jobs):
        expected = job.facts(channels, epsilon, rms)
        assert (means.get(number), reciprocals[number]) == expected, job
        for known, found in zip((job.mean, job.reciprocal), expected, strict=True):
            assert known in {None, found}
    return outcome


def random_job(rng: random.Random, squared: bool) -> Job:
    total = (rng.getrandbits(32) - (1 << 31)) >> rng.randrange(32)
    return Job(total, rng.getrandbits(48) >> rng.randrange(48) if squared else None)


@pytest.mark.parametrize("channels", [1, 2, 3, 77, 768, 4096])
def test_any_sums_with_squares(channels):
    rng = random.Random(channels)
    largest = (1 << 31) - 1
    edges = [largest, largest - channels // 2, -largest - 1, -(channels // 2), -(channels // 2) - 1]
    jobs = [Job(total, rng.getrandbits(48)) for total in edges]
    run(jobs + [random_job(rng, True) for _ in range(40)], channels)


@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("epsilon", [0, 1, 12345, (1 << 40) - 1])
def test_any_sums_with_an_epsilon(rms, epsilon):
    """The largest sums wrap: those of rows, up to 43 bits with epsilon, do not."""
    rng = random.Random(epsilon)
    jobs = [random_job(rng, bool(rng.randrange(4))) for _ in range(20)]
    jobs += [Job(0, 0), Job(-(1 << 27), 1 << 42), Job(-1, (1 << 48) - 1)]
    run(jobs, 300, epsilon=epsilon, rms=rms)


def test_any_sums_without_squares():
    rng = random.Random(7)
    edges = [0, 1, 2, 3, 255, -1, -(1 << 31), (1 << 31) - 1]
    run([Job(total) for total in edges] + [random_job(rng, False) for _ in range(100)])


@pytest.mark.parametrize("gaps", [False, True])
def test_jobs_of_both_kinds(gaps):
    rng = random.Random(5)
    run([random_job(rng, bool(rng.getrandbits(1))) for _ in range(80)], 80, gaps)


@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("columns", [1, 3, 80, 768, 4096])
def test_sums_of_rows(columns, rms):
    """Random ones, constant ones and the extremes."""
    rng = np.random.default_rng(columns)
    rows = [rng.integers(-(1 << 15), 1 << 15, columns) >> rng.integers(0, 16) for _ in range(10)]
    rows += [np.full(columns, number) for number in (-(1 << 15), (1 << 15) - 1, 0)]
    rows.append(np.resize([-(1 << 15), (1 << 15) - 1], columns))
    jobs = []
    for row in rows:
        sums = row_sums(row)
        statistics = row_statistics(
            RowSums(sums.total, sums.squares), columns, epsilon=columns, rms=rms
        )
        reciprocal = int(reciprocal31(statistics.root))
        jobs.append(Job(int(sums.total), int(sums.squares), int(statistics.mean), reciprocal))
    run(jobs, columns, epsilon=columns, rms=rms)


@pytest.mark.parametrize("squared", [False, True])
def test_rates_and_latencies_are_as_documented(squared):
    rng = random.Random(3)
    outcome = run([random_job(rng, squared) for _ in range(20)], 768)
    latency = Background.SQUARED_LATENCY if squared else Background.LATENCY
    assert outcome.finished[0] - outcome.offered[0] == latency
    cycles = Background.SQUARED_CYCLES if squared else Background.CYCLES
    assert cycles <= (40 if squared else 16)
    steps = np.diff(outcome.finished)[4:-1]  # The last one meets no other.
    assert (steps == cycles).all()
