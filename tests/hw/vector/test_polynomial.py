"""`Polynomial` against the definitions in `celosia.isa.numerics`."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth import Elaboratable, Module, Signal

from celosia.hw.vector.modes import Mode
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.steps import LaneStep, polynomial_request
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.numerics import ExponentConstants, GeluConstants, exponent
from tests.support.lanes import KINDS, Golden, Reads, Step, constants, int16, int32, scores
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

VECTORS = Path(__file__).parents[2] / "vectors"
CURVES = (Mode.GELU, Mode.SILU, Mode.HARDSWISH)
NUMERATORS = (Mode.NUMERATOR, Mode.DITHERED)


def request(step: Step | None, number: int, config: AcceleratorConfig) -> dict[str, Any]:
    """The fields of a `LaneStep`."""
    if step is None:
        return {"mode": Mode.HEADER, "counted": 1}
    names = ("mode", "counted", "kind", "kind2", "shift", "shift2")
    return {name: getattr(step, name) for name in names} | {
        "gamma_row": 2 * number % config.parameter_rows,
        "span": {"slot": number % config.statistics_rows},
    }


class Asked(Elaboratable):
    """A unit that is asked with the fields of a step."""

    def __init__(self, config: AcceleratorConfig):
        self.dut, self.asked = Polynomial(config), Signal(LaneStep(config))

    def elaborate(self, platform):
        m = Module()
        m.submodules.dut = self.dut
        m.d.comb += self.dut.request.eq(polynomial_request(self.dut.config, self.asked))
        return m


def run(dim: int, steps: list[Step | None], golden: Golden | None = None) -> list[int]:
    """Offer a step (or nothing) per cycle and check results; returns when they came."""
    golden = golden or Golden()
    config = AcceleratorConfig(dim=dim)
    top = shared_design(Asked, config)
    dut, asked, rng = top.dut, top.asked, random.Random(0)
    offered = [step for step in steps if step is not None]
    expected = [golden.result(step) for step in offered]
    for step, result in zip(offered, expected, strict=True):
        assert step.due is None or step.due.tolist() == np.asarray(result).tolist(), step
    arrivals: list[int] = []

    def reads(port, modes: set[Mode], rows: int, answer) -> Reads:
        answers = [(n, answer(step)) for n, step in enumerate(offered) if step.mode in modes]
        return Reads(port, answers, rows)

    with_facts = {Mode.PROBABILITY, Mode.CONTEXT, Mode.NORMALIZE}
    ports = [
        reads(
            dut.facts,
            with_facts,
            config.statistics_rows,
            lambda step: {"mean": step.mean, "reciprocal": step.reciprocal},
        ),
        reads(dut.gamma, {Mode.NORMALIZE}, config.parameter_rows, lambda s: s.gamma.tolist()),
        reads(dut.beta, {Mode.NORMALIZE}, config.parameter_rows, lambda s: s.beta.tolist()),
    ]
    for index, port in enumerate(ports[1:]):
        port.answers = [(2 * n + index, answer) for n, answer in port.answers]

    def drive(ctx, step: Step | None, number: int) -> None:
        ctx.set(dut.start, step is not None)
        ctx.set(asked, request(step, number, config))
        elements = [rng.getrandbits(16)] * dim if step is None else step.elements.tolist()
        for port, element in zip(dut.row, elements, strict=True):
            ctx.set(port, element)
        shown = rng.getrandbits(dim)
        if step is not None and step.visible is not None:
            shown = int(sum(int(bit) << lane for lane, bit in enumerate(step.visible)))
        elif step is not None and step.mode not in CURVES:
            shown = (1 << dim) - 1
        ctx.set(dut.visible, shown)

    async def bench(ctx):
        ctx.set(dut.constants, constants(golden))
        number, started = 0, []
        for cycle, step in enumerate(steps + [None] * (dut.LATENCY + 2)):
            drive(ctx, step, number)
            if step is not None:
                started.append((cycle, step, expected[number]))
                number += 1
            for port in ports:
                port.cycle(ctx, rng.getrandbits(32) * ((1 << 32 * dim) // 0xFFFF_FFFF))
            for when, counting, result in started:
                if when == cycle - dut.SUM_LATENCY and counting.counted:
                    assert result is not None
                    assert [ctx.get(lane) for lane in dut.counted] == result.tolist(), counting
                    if counting.mode in {Mode.PASS, Mode.ADD}:
                        squares = (result.astype(np.int64) ** 2).tolist()
                        assert [ctx.get(lane) for lane in dut.squares] == squares
            if ctx.get(dut.valid):
                when, ended, result = started.pop(0)
                arrivals.append(cycle)
                assert cycle - when == dut.LATENCY
                if result is not None:
                    assert [ctx.get(lane) for lane in dut.elements] == result.tolist(), ended
            await ctx.tick()
        assert not started
        assert not any(port.answers for port in ports)

    simulate(top, bench, deadline=len(steps) + 100)
    return arrivals


def rows_of(values: np.ndarray, dim: int) -> np.ndarray:
    """`values` in rows of `dim`, the last one filled up."""
    return np.resize(values, (-(-len(values) // dim), dim))


def random_step(rng: np.random.Generator, dim: int) -> Step:
    """A step of any mode with any operands."""
    mode = Mode(rng.choice([mode.value for mode in Mode if mode is not Mode.MAXIMUM]))
    counted = mode in {Mode.PASS, Mode.EXPONENT, *NUMERATORS, Mode.ADD} and rng.integers(2)
    draw = int16
    if mode in {Mode.HEADER, Mode.EXPONENT, *NUMERATORS, Mode.PROBABILITY}:
        draw = scores
    elif mode in {Mode.CONTEXT, Mode.PASS} and not counted:
        draw = int32
    step = Step(mode, draw(rng, dim), counted=bool(counted))
    step.visible = rng.integers(0, 4, dim) > 0
    step.reciprocal = int(rng.integers(1 << 32)) >> int(rng.integers(0, 32))
    step.mean = int(rng.integers(-(1 << 16), 1 << 16)) >> int(rng.integers(0, 16))
    step.kind, step.kind2 = (ElementType(kind) for kind in rng.choice([0, 2], 2))
    if mode is Mode.PROBABILITY:
        step.kind = ElementType(rng.integers(3))
    step.shift, step.shift2 = (int(shift) for shift in rng.integers(0, 32, 2))
    step.gamma = rng.integers(-(1 << 15), 1 << 15, dim) >> rng.integers(0, 16, dim)
    step.beta = int32(rng, dim)
    return step


@pytest.mark.parametrize("more", [1, pytest.param(4, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("dim", [2, 4, 16])
def test_steps_of_every_mode_back_to_back(dim, more):
    rng = np.random.default_rng(dim)
    zeros = np.zeros(dim, np.int64)
    first: list[Step | None] = [Step(Mode.HEADER, zeros), Step(Mode.KEEP, zeros)]
    count = more * (100 + 800 // dim)
    arrivals = run(dim, first + [random_step(rng, dim) for _ in range(count)])
    assert arrivals == [Polynomial.LATENCY + n for n in range(count + 2)]


def test_steps_of_every_mode_with_gaps():
    rng = np.random.default_rng(9)
    zeros = np.zeros(4, np.int64)
    steps: list[Step | None] = [Step(Mode.HEADER, zeros), Step(Mode.KEEP, zeros)]
    for _ in range(200):
        steps += [None] * int(rng.choice([0, 0, 1, 20])) + [random_step(rng, 4)]
    run(4, steps)


SAMPLED = [pytest.param(37, id="sampled"), pytest.param(1, marks=pytest.mark.slow, id="all")]
"""Steps through operands."""


@pytest.mark.parametrize("step", SAMPLED)
@pytest.mark.parametrize("mode", [Mode.EXPONENT, *NUMERATORS])
def test_every_distance(mode, step):
    """From 0 to the lowest one, and beyond; some are above the row's maximum."""
    distances = np.concatenate([np.arange(-22011, 3, step), [-32768, -1, 0, 1, 32767]])
    steps: list[Step | None] = [Step(Mode.HEADER, np.zeros(16, np.int64))]
    run(16, steps + [Step(mode, row, counted=True) for row in rows_of(distances, 16)])


def test_distances_from_every_reference():
    rng = np.random.default_rng(5)
    steps: list[Step | None] = []
    for reference in (-(1 << 23), -32768, -1, 0, 1, 32767, 700, (1 << 23) - 1):
        steps.append(Step(Mode.HEADER, np.full(16, reference)))
        steps += [Step(Mode.EXPONENT, int16(rng, 16)) for _ in range(10)]
        for near in (0, 16, 17, 20, 23):
            row = reference - (1 << near) + int16(rng, 16)
            steps.append(Step(Mode.EXPONENT, np.clip(row, -(1 << 23), (1 << 23) - 1)))
    run(16, steps)


@pytest.mark.parametrize("step", SAMPLED)
@pytest.mark.parametrize("mode", CURVES)
def test_a_curve_of_every_int16(mode, step):
    values = np.append(np.arange(-(1 << 15), 1 << 15, step), (1 << 15) - 1)
    run(16, [Step(mode, row) for row in rows_of(values, 16)])


@pytest.mark.parametrize(
    "golden",
    [
        Golden(
            exponents=ExponentConstants(ln2=1420, inverse_ln2=11815, b=5544, c=11710980, shift=8),
            unit=(255 << 24) // (11710980 >> 8),
        ),
        Golden(exponents=ExponentConstants(ln2=0, inverse_ln2=0, b=0, c=1, shift=0, lowest=0)),
        Golden(exponents=ExponentConstants(ln2=0, inverse_ln2=0, b=0, c=65535, shift=0, lowest=0)),
        Golden(gelu=GeluConstants(b=5124, c=(1 << 24) - 1, shift=10)),
        Golden(gelu=GeluConstants(b=0, c=0, shift=0)),
        Golden(gelu=GeluConstants(b=181, c=32767, shift=0)),
    ],
    ids=lambda golden: f"{golden.exponents.c}-{golden.gelu.c}",
)
def test_other_constants(golden):
    rng = np.random.default_rng(6)
    steps: list[Step | None] = []
    for _ in range(30):
        steps.append(Step(Mode.HEADER, int16(rng, 16)))
        for mode in (Mode.EXPONENT, *NUMERATORS, *CURVES):
            steps.append(Step(mode, int16(rng, 16)))
    run(16, steps, golden)


def test_extremes_of_products():
    """The largest factors of each mode, whether or not any row has them."""
    low, high = np.full(4, -32768), np.full(4, 32767)
    most = (1 << 32) - 1
    steps: list[Step | None] = [Step(Mode.HEADER, low), Step(Mode.KEEP, low)]
    for elements in (low, high, np.zeros(4, np.int64)):
        for kind in KINDS:
            steps.append(Step(Mode.PROBABILITY, elements, kind=kind, reciprocal=most))
        steps += [Step(mode, elements) for mode in (Mode.ADD, Mode.MULTIPLY, *CURVES)]
        steps += [Step(Mode.SUM, elements), Step(Mode.DIFFERENCE, elements)]
        steps.append(Step(Mode.PASS, elements, counted=True))
        for wide in (elements, elements << 16):
            steps.append(Step(Mode.CONTEXT, wide, reciprocal=most))
        for mean in (-(1 << 16), (1 << 16) - 1):
            for shift in (0, 1, 31):
                gamma = np.array([-32768, 32767, -32768, 32767])
                beta = np.array([-(1 << 31), (1 << 31) - 1] * 2)
                step = Step(Mode.NORMALIZE, elements, mean=mean, reciprocal=most, gamma=gamma)
                step.beta, step.shift, step.shift2 = beta, shift, 31 - shift
                steps.append(step)
    run(4, steps)


def test_a_sum_saturates_from_the_first_number_that_is_none_of_int16():
    kept = np.array([1, -1, 0, 16384])
    steps: list[Step | None] = [Step(Mode.KEEP, kept)]
    ends = {
        (32767, -32768, 32767, 16384): (32767, -32768, 32767, 32767),
        (32766, -32767, -32768, 16383): (32767, -32768, -32768, 32767),
        (32765, -32766, 0, -32768): (32766, -32767, 0, -16384),
    }
    for elements, due in ends.items():
        for counted in (False, True):
            step = Step(Mode.ADD, np.array(elements), counted=counted)
            step.due = np.array(due)
            steps.append(step)
    run(4, steps)


def column_pairs(*rows: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """The columns of `rows` two by two; an odd row loses its last one."""
    even = len(rows[0]) // 2 * 2
    return list(zip(*(row[:even].reshape(-1, 2) for row in rows), strict=True))


@pytest.mark.parametrize("name", ["softmax_3x77", "softmax_16x128"])
def test_softmax_vectors(name):
    given = np.load(VECTORS / f"{name}.npz")
    steps: list[Step | None] = []
    names = ("q", "mask", "deferred_masked_p", "u8", "s8", "s16")
    for q, mask, masked, *results in zip(*(given[name][:4] for name in names), strict=True):
        top = q[mask].max(initial=-32768)
        total = int(exponent(q[mask].astype(np.int64) - int(top)).sum())
        reciprocal = (1 << 32) // max(total, 1) % (1 << 32)
        steps.append(Step(Mode.HEADER, np.full(2, top)))
        for x, visible, due in column_pairs(q, mask, masked):
            steps.append(Step(Mode.NUMERATOR, x, visible=visible, due=due))
        for kind, due_row in zip(
            (ElementType.UINT8, ElementType.INT8, ElementType.INT16), results, strict=True
        ):
            for x, seen, due in column_pairs(q, mask, due_row):
                step = Step(Mode.PROBABILITY, x, visible=seen, kind=kind, due=due)
                step.reciprocal = reciprocal
                steps.append(step)
    run(2, steps)


def test_context_vectors():
    given = np.load(VECTORS / "softmax_3x77.npz")
    products = given["deferred_p"].astype(np.int64) @ given["v"].astype(np.int64)
    rows = zip(products, given["deferred_sum"], given["deferred_c"], strict=True)
    run(16, [
        Step(Mode.CONTEXT, row[part], reciprocal=(1 << 32) // int(total), due=due[part])
        for row, total, due in rows
        for part in (slice(0, 16), slice(16, 32))
    ])  # fmt: skip


def test_gelu_vectors():
    given = np.load(VECTORS / "gelu.npz")
    run(16, [
        Step(Mode.GELU, q, due=due)
        for q, due in zip(given["q"].reshape(-1, 16), given["raw"].reshape(-1, 16), strict=True)
    ])  # fmt: skip


def test_layernorm_vectors():
    """Both outputs, of which each has half of the lanes."""
    given = np.load(VECTORS / "layernorm_3x80.npz")
    steps: list[Step | None] = []
    for q, small, wide in zip(given["q"].astype(np.int64), given["s8"], given["s16"], strict=True):
        mean = int(2 * q.sum() + 80) // 160
        root = max(math.isqrt(int(((q - mean) ** 2).sum())), 1)
        for first in range(0, 80, 8):
            part = slice(first, first + 8)
            steps.append(
                Step(
                    Mode.NORMALIZE,
                    np.tile(q[part], 2),
                    mean=mean,
                    reciprocal=(1 << 31) // root,
                    gamma=np.concatenate([given["gamma8"][part], given["gamma16"][part]]),
                    beta=np.concatenate([given["beta8"][part], given["beta16"][part]]),
                    shift=int(given["e8"]),
                    shift2=int(given["e16"]),
                    due=np.concatenate([small[part].astype(np.int64), wide[part]]),
                )
            )
    run(16, steps)
