"""`Lanes` against the definitions in `celosia.isa.numerics`: whole rows of every function."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from celosia.hw.vector.lanes import Lanes
from celosia.hw.vector.modes import Mode
from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import lane_latency
from tests.support.lane_model import Case, Model, Scaling, mode_begins, paced
from tests.support.lane_rows import Functions
from tests.support.lanes import Reads, constants
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate


def reads_of(dut: Lanes, begun: list[tuple[int, Case]]) -> list[Reads]:
    """Answers to each port, and in which order they are asked: of steps and when they begin."""
    cases = [case for _, case in begun]
    lanes, parts = dut.config.lanes, dut.config.row_parts
    rows, slots = dut.config.parameter_rows * parts, dut.config.statistics_rows

    def each_part(case: Case) -> range:
        return range(case.last_part(lanes) + 1)

    def parameters(port: Any, chosen: Callable, answer: Callable, row: int = 0) -> Reads:
        numbered = [
            ((n + row) * parts + part, answer(case)[part * lanes :][:lanes])
            for n, case in enumerate(cases)
            if chosen(case)
            for part in each_part(case)
        ]
        return Reads(port, numbered, rows)

    def by_column(scaling: Scaling) -> bool:
        return isinstance(scaling.scale, np.ndarray)

    def signed(scales: Any) -> list[int]:
        return scales.astype(np.uint32).view(np.int32).tolist()

    def normalizes(case: Case) -> bool:
        return case.step.mode is Mode.NORMALIZE

    with_facts = {Mode.PROBABILITY, Mode.CONTEXT, Mode.NORMALIZE}
    facts = [
        (n, {"mean": case.step.mean, "reciprocal": case.step.reciprocal})
        for n, case in enumerate(cases)
        if case.step.mode in with_facts
        for _ in each_part(case)
    ]
    sums = [
        (n, {"total": case.kept[0], "squares": case.kept[1]})
        for n, case in enumerate(cases)
        if case.has_sums and case.first and not case.start
    ]
    scales: list[tuple[int, int, list[int]]] = []
    for n, (cycle, case) in enumerate(begun):
        turns = (cycle, case.scale_in, case.step.mode is not Mode.MAXIMUM), (
            mode_begins(case, cycle) + 16, case.scale_out, case.result,
        )  # fmt: skip
        scales += [
            (when + part, n * parts + part, signed(scaling.scale)[part * lanes :][:lanes])
            for when, scaling, takes in turns
            if by_column(scaling) and takes
            for part in each_part(case)
        ]
    in_order = sorted(scales, key=lambda turn: turn[0])
    return [
        Reads(dut.scales, [(row, answer) for _, row, answer in in_order], rows),
        parameters(dut.gamma, normalizes, lambda case: case.step.gamma.tolist()),
        parameters(dut.beta, normalizes, lambda case: case.step.beta.tolist(), row=1),
        Reads(dut.facts, facts, slots),
        Reads(dut.sums, sums, slots),
    ]


def run(dim: int, offers: list[Case | None], lanes: int = 0) -> None:
    """Offer a step (or nothing) per cycle; check all that comes out, and when."""
    config = AcceleratorConfig(dim=dim, vector_lanes=lanes)
    dut, model, rng = shared_design(Lanes, config), Model(config), random.Random(0)
    offers = paced(config, offers)
    ports = reads_of(dut, [(cycle, case) for cycle, case in enumerate(offers) if case])

    def words(row: np.ndarray) -> int:
        return int.from_bytes(row.astype(np.int32).tobytes(), "little")

    def drive(ctx, case: Case | None, number: int) -> None:
        noise = rng.getrandbits(32 * dim)
        ctx.set(dut.start, case is not None)
        ctx.set(dut.row.as_value(), noise)
        ctx.set(dut.bias.as_value(), noise)
        ctx.set(dut.maximum, rng.getrandbits(31))
        if case is None:
            ctx.set(dut.step.as_value(), noise)
            return
        ctx.set(dut.step, case.fields(number, config))
        if case.step.mode is not Mode.HEADER:
            ctx.set(dut.row.as_value(), words(case.step.elements))
        if case.bias is not None:
            ctx.set(dut.bias.as_value(), words(case.bias))
        if case.step.mode in {Mode.HEADER, Mode.MAXIMUM}:
            ctx.set(dut.maximum, case.maximum)

    def check(ctx, cycle: int) -> None:
        assert ctx.get(dut.result) == (cycle in model.results)
        if cycle in model.results:
            elements = model.results.pop(cycle)
            assert [ctx.get(lane) for lane in dut.elements[: len(elements)]] == elements
        write = dut.maximum_write
        assert ctx.get(write.valid) == (cycle in model.maxima)
        if cycle in model.maxima:
            number, maximum = model.maxima.pop(cycle)
            assert ctx.get(write.slot) == number % config.statistics_rows
            assert ctx.get(write.maximum) == maximum
        sums = dut.sums_write
        assert ctx.get(sums.valid) == (cycle in model.sums)
        if cycle in model.sums:
            number, finish, total, squares = model.sums.pop(cycle)
            assert ctx.get(sums.slot) == number % config.statistics_rows
            assert ctx.get(sums.finish) == finish
            assert ctx.get(sums.sums.total) == total
            assert ctx.get(sums.squared) == (squares is not None)
            assert squares is None or ctx.get(sums.sums.squares) == squares

    async def bench(ctx):
        ctx.set(dut.busy, 1)
        ctx.set(dut.constants, constants(model.golden))
        number = 0
        for cycle, case in enumerate(offers + [None] * (lane_latency(2, dim) + 2)):
            drive(ctx, case, number)
            if case is not None:
                model.take(case, cycle, number)
                number += 1
            for port in ports:
                port.cycle(ctx, rng.getrandbits(32) * ((1 << 32 * dim) // 0xFFFF_FFFF))
            check(ctx, cycle)
            await ctx.tick()
        assert not model.results
        assert not model.maxima
        assert not model.sums
        assert not any(port.answers for port in ports)

    simulate(dut, bench, deadline=len(offers) + dim + 100)


@pytest.mark.parametrize("more", [1, pytest.param(4, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("dim", "lanes"),
    [
        *[(2, 2), (2, 1), (4, 4), (4, 1), (8, 8), (16, 4)],
        *(pytest.param(*size, marks=pytest.mark.nightly) for size in ((4, 2), (16, 16))),
    ],
)
def test_rows_of_every_function_back_to_back(dim, lanes, more):
    run(dim, [*Functions(dim, dim).mixed(more * (30 + 240 // dim))], lanes)


@pytest.mark.parametrize("lanes", [4, 1])
def test_rows_of_every_function_with_gaps(lanes):
    rng = random.Random(3)
    offers: list[Case | None] = []
    for case in Functions(8, 4).mixed(40):
        offers += [None] * rng.choice((0, 0, 0, 1, 40)) + [case]
    run(4, offers, lanes)


@pytest.mark.parametrize("lanes", [32, pytest.param(64, marks=pytest.mark.nightly)])
def test_many_lanes(lanes):
    """From 32 lanes on, sums take a cycle more."""
    run(lanes, [*Functions(lanes, lanes).mixed(12)], lanes)


@pytest.mark.parametrize("lanes", [4, 1])
def test_a_maximum_leaves_the_rest_alone(lanes):
    """Whatever a step of MAXIMUM says of things that it does not have."""
    functions = Functions(1, 4)
    steps = functions.maximum()
    for case in steps:
        case.step.counted, case.result = True, False
    (other,) = functions.requantize()
    run(4, [other, *steps, *[None] * 50, other, None, *steps], lanes)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(("dim", "lanes", "depth"), [(2, 2, 2), (8, 8, 2), (16, 4, 2), (32, 32, 3)])
def test_reads_and_results_come_in_the_documented_cycles(dim, lanes, depth, scaled):
    config = AcceleratorConfig(dim=dim, vector_lanes=lanes)
    dut, seen = shared_design(Lanes, config), {}
    last = dim // lanes - 1
    scaling = {"by_column": 1, "raw": not scaled}
    step = {"result": 1, "counted": 1, "span": {"first": 1, "last": 1}, "last_part": last}
    step |= {"mode": Mode.NORMALIZE, "scaling": scaling, "scaling2": scaling}
    largest = step | {"mode": Mode.MAXIMUM, "last_part": 0}
    signals = {name: getattr(dut, name).valid for name in (
        "scales", "facts", "gamma", "beta", "sums", "sums_write", "maximum_write",
    )} | {"result": dut.result}  # fmt: skip

    async def bench(ctx):
        ctx.set(dut.busy, 1)
        for cycle in range(80):
            ctx.set(dut.start, cycle in {0, 40})
            ctx.set(dut.step, step if cycle < 40 else largest)
            for name, signal in signals.items():
                if ctx.get(signal):
                    seen.setdefault(name, []).append(cycle)
            await ctx.tick()

    def parts(first: int) -> list[int]:
        return [first + part for part in range(last + 1)]

    simulate(dut, bench)
    begins = 11 if scaled else 1
    assert seen.pop("scales", []) == (parts(2) + parts(begins + 17) if scaled else [])
    assert seen == {
        "facts": parts(begins),
        "gamma": parts(begins + 9),
        "beta": parts(begins + 11),
        "sums": [begins + 10 + depth],
        "sums_write": [begins + 13 + depth + last],
        "result": [lane_latency(2 * scaled, last + 1)],
        "maximum_write": [40 + 2 + dim.bit_length() // 2],
    }
