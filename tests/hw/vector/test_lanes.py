"""`Lanes` against the definitions in `celosia.isa.numerics`: whole rows of every function."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from celosia.hw.vector.lanes import Lanes
from celosia.hw.vector.steps import Mode
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.numerics import (
    INT32_MIN,
    IntArray,
    add_bias,
    requantize_to,
    scale_from_bits,
    wrap32,
)
from tests.support.lanes import KINDS, Golden, Reads, Step, constants, int16, int32
from tests.support.streams import simulate

COUNTERS = {Mode.PASS, Mode.EXPONENT, Mode.NUMERATOR, Mode.ADD}
SQUARES = (1 << 48) - 1


@dataclass
class Scaling:
    """What a scaler does; nothing, without scale."""

    scale: int | np.ndarray | None = None
    kind: ElementType = ElementType.INT16
    zero_point: int = 0
    relu: bool = False

    def of(self, x: IntArray) -> IntArray:
        if self.scale is None:
            return x
        return requantize_to(
            x,
            scale_from_bits(self.scale),
            KINDS[self.kind],
            zero_point=self.zero_point if self.kind is ElementType.UINT8 else 0,
            rectify=self.relu,
        )

    def fields(self, row: int) -> dict[str, int]:
        by_column = isinstance(self.scale, np.ndarray)
        return {
            "raw": self.scale is None,
            "kind": self.kind,
            "relu": self.relu,
            "zero_point": self.zero_point,
            "by_column": by_column,
            "scale": 0 if by_column or self.scale is None else int(self.scale),
            "scale_row": row,
        }


@dataclass
class Case:
    """A step; `step.elements` are those of the row."""

    step: Step
    bias: np.ndarray | None = None
    scale_in: Scaling = field(default_factory=Scaling)
    scale_out: Scaling = field(default_factory=Scaling)
    maximum: int = 0
    first: bool = False
    last: bool = False
    start: bool = True
    finish: bool = False
    kept: tuple[int, int] = (0, 0)
    """Total and squares of the slot."""
    result: bool = True

    @property
    def has_sums(self) -> bool:
        return self.step.counted and self.step.mode in COUNTERS

    @property
    def visible(self) -> np.ndarray:
        shown = self.step.visible
        return np.ones(len(self.step.elements), bool) if shown is None else shown

    def fields(self, number: int, config: AcceleratorConfig) -> dict[str, Any]:
        step = self.step
        names = ("mode", "counted", "kind", "kind2", "shift", "shift2")
        row = number % config.parameter_rows
        return {name: getattr(step, name) for name in names} | {
            "result": self.result,
            "biased": self.bias is not None,
            "visible": sum(int(bit) << lane for lane, bit in enumerate(self.visible)),
            "span": {
                "first": self.first,
                "last": self.last,
                "start": self.start,
                "finish": self.finish,
                "slot": number % config.statistics_rows,
            },
            "scaling": self.scale_in.fields(row),
            "scaling2": self.scale_out.fields(row),
            "gamma_row": row,
        }


class Model:
    """What must come out, and when."""

    def __init__(self, dim: int):
        self.golden = Golden()
        self.depth = (dim - 1).bit_length()
        self.results: dict[int, tuple[list[int], int, int]] = {}
        self.maxima: dict[int, tuple[int, int]] = {}
        self.sums: dict[int, tuple[int, bool, int, int | None]] = {}
        self.largest = 0
        self.total, self.squares = 0, 0

    def take(self, case: Case, cycle: int, number: int) -> None:
        """Note what comes of a step."""
        x = case.step.elements
        if case.step.mode is Mode.HEADER:
            x = np.full(len(x), case.maximum)
        elif case.bias is not None:
            x = add_bias(x, case.bias)
        if case.step.mode is Mode.MAXIMUM:
            self._take_maximum(case, x, cycle, number)
            return
        computed = self.golden.result(replace(case.step, elements=case.scale_in.of(x)))
        if case.has_sums:
            assert computed is not None
            self._take_sums(case, computed.astype(np.int64), cycle, number)
        if case.result:
            assert computed is not None
            elements = case.scale_out.of(computed).tolist()
            kinds = case.step.kind, case.step.kind2
            self.results[cycle + Lanes.LATENCY] = (elements, *kinds)

    def _take_maximum(self, case: Case, x: IntArray, cycle: int, number: int) -> None:
        found = int(np.where(case.visible, x, INT32_MIN).max())
        begun = INT32_MIN if case.start else case.maximum
        self.largest = max(found, begun if case.first else self.largest)
        if case.last:
            self.maxima[cycle + 3 + self.depth] = number, self.largest

    def _take_sums(self, case: Case, x: IntArray, cycle: int, number: int) -> None:
        shown = np.where(case.visible, x, 0)
        if case.first:
            self.total, self.squares = (0, 0) if case.start else case.kept
        squared = case.step.mode in {Mode.PASS, Mode.ADD}
        self.total = int(wrap32(self.total + shown.sum()))
        self.squares = int(self.squares + (shown**2).sum()) & SQUARES
        if case.last:
            squares = self.squares if squared else None
            when = cycle + 24 + (self.depth + 1) // 2
            self.sums[when] = number, case.finish, self.total, squares


def reads_of(dut: Lanes, cases: list[Case]) -> list[Reads]:
    """Answers to each port, and in which order they are asked."""
    rows, slots = dut.config.parameter_rows, dut.config.statistics_rows

    def reads(port: Any, count: int, chosen: Callable, answer: Callable) -> Reads:
        numbered = [(n, answer(case)) for n, case in enumerate(cases) if chosen(case)]
        return Reads(port, numbered, count)

    def by_column(scaling: Scaling) -> bool:
        return isinstance(scaling.scale, np.ndarray)

    def signed(scales: Any) -> list[int]:
        return scales.astype(np.uint32).view(np.int32).tolist()

    normalizes = lambda case: case.step.mode is Mode.NORMALIZE  # noqa: E731
    with_facts = {Mode.PROBABILITY, Mode.CONTEXT, Mode.NORMALIZE}
    ports = [
        reads(
            dut.scales_in,
            rows,
            lambda case: by_column(case.scale_in) and case.step.mode is not Mode.MAXIMUM,
            lambda case: signed(case.scale_in.scale),
        ),
        reads(
            dut.scales_out,
            rows,
            lambda case: by_column(case.scale_out) and case.result,
            lambda case: signed(case.scale_out.scale),
        ),
        reads(dut.gamma, rows, normalizes, lambda case: case.step.gamma.tolist()),
        reads(dut.beta, rows, normalizes, lambda case: case.step.beta.tolist()),
        reads(
            dut.facts,
            slots,
            lambda case: case.step.mode in with_facts,
            lambda case: {"mean": case.step.mean, "reciprocal": case.step.reciprocal},
        ),
        reads(
            dut.sums,
            slots,
            lambda case: case.has_sums and case.first and not case.start,
            lambda case: {"total": case.kept[0], "squares": case.kept[1]},
        ),
    ]
    ports[3].answers = [(number + 1, answer) for number, answer in ports[3].answers]
    return ports


def run(dim: int, offers: list[Case | None]) -> None:
    """Offer a step (or nothing) per cycle; check all that comes out, and when."""
    config = AcceleratorConfig(dim=dim)
    dut, model, rng = Lanes(config), Model(dim), random.Random(0)
    ports = reads_of(dut, [case for case in offers if case])

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
        assert ctx.get(dut.result.valid) == (cycle in model.results)
        if cycle in model.results:
            elements, kind, kind2 = model.results.pop(cycle)
            assert [ctx.get(lane) for lane in dut.elements] == elements
            assert (ctx.get(dut.result.kind), ctx.get(dut.result.kind2)) == (kind, kind2)
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
        ctx.set(dut.constants, constants(model.golden))
        number = 0
        for cycle, case in enumerate(offers + [None] * (dut.LATENCY + 2)):
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

    simulate(dut, bench, deadline=len(offers) + 100)


class Functions:
    """Steps of random rows, function by function."""

    def __init__(self, seed: int, dim: int):
        self.rng = np.random.default_rng(seed)
        self.dim = dim

    def scale(self, largest: float, *, columns: bool = True) -> int | np.ndarray:
        """Bits of a scale, or of one for each column."""
        count = self.dim if columns and self.rng.integers(2) else 1
        scales = 2.0 ** self.rng.uniform(-24, largest, count)
        bits = scales.astype(np.float32).view(np.uint32).astype(np.int64)
        return bits if count > 1 else int(bits[0])

    def out(self) -> Scaling:
        return Scaling(
            self.scale(2),
            ElementType(self.rng.integers(3)),
            int(self.rng.integers(256)),
            bool(self.rng.integers(2)),
        )

    def bias(self) -> np.ndarray | None:
        return int32(self.rng, self.dim) if self.rng.integers(2) else None

    def accumulated(self, mode: Mode, **options: Any) -> Case:
        """A step on a row of the accumulator."""
        return Case(Step(mode, int32(self.rng, self.dim)), self.bias(), **options)

    def spans(self, cases: list[Case]) -> list[Case]:
        """Steps of one row, for its maximum or sums."""
        start, finish = (bool(bit) for bit in self.rng.integers(0, 2, 2))
        for case in cases:
            case.start, case.finish = start, finish
            case.step.visible = self.rng.integers(0, 4, self.dim) > 0
            case.kept = int(self.rng.integers(-(1 << 31), 1 << 31)), int(self.rng.integers(1 << 48))
            case.maximum = int(int32(self.rng, 1)[0])
        cases[0].first = cases[-1].last = True
        return cases

    def requantize(self) -> list[Case]:
        raw = self.rng.integers(4) == 0
        return [self.accumulated(Mode.PASS, scale_out=Scaling() if raw else self.out())]

    def maximum(self) -> list[Case]:
        return self.spans([self.accumulated(Mode.MAXIMUM, result=False) for _ in range(3)])

    def exponents(self) -> list[Case]:
        """EXPONENT, SUM or PROBABILITY: a header, then blocks of the row."""
        mode = Mode(self.rng.choice([Mode.EXPONENT.value, Mode.NUMERATOR.value, 5]))
        scaling = Scaling(self.scale(0, columns=False))
        cases = [self.accumulated(mode, scale_in=scaling) for _ in range(3)]
        header = self.accumulated(Mode.HEADER, scale_in=scaling, result=False)
        self.spans(cases)
        header.maximum = int(int32(self.rng, 1)[0])
        for case in cases:
            case.step.counted = mode is not Mode.PROBABILITY
            case.result = mode is not Mode.EXPONENT
            case.step.kind = ElementType(self.rng.integers(3))
            case.step.reciprocal = int(self.rng.integers(1 << 17))
        return [header, *cases]

    def context(self) -> list[Case]:
        case = self.accumulated(Mode.CONTEXT, scale_out=self.out())
        case.step.reciprocal = int(self.rng.integers(1 << 32))
        return [case]

    def gelu(self) -> list[Case]:
        out = Scaling(self.scale(-12, columns=False), ElementType(self.rng.integers(3)), 5)
        return [self.accumulated(Mode.GELU, scale_in=Scaling(self.scale(0)), scale_out=out)]

    def residual(self) -> list[Case]:
        counted = bool(self.rng.integers(2))
        steps = []
        for _ in range(2):
            keep = self.accumulated(Mode.KEEP, scale_in=Scaling(self.scale(0)), result=False)
            add = Case(Step(Mode.ADD, int16(self.rng, self.dim), counted=counted))
            add.scale_in = Scaling(self.scale(3, columns=False))
            steps += [keep, add]
        self.spans(steps[1::2])
        return steps

    def moments(self) -> list[Case]:
        return self.spans([
            Case(Step(Mode.PASS, int16(self.rng, self.dim), counted=True), result=False)
            for _ in range(3)
        ])

    def layernorm(self) -> list[Case]:
        kinds = [ElementType(kind) for kind in self.rng.choice([0, 2], 2)]
        step = Step(Mode.NORMALIZE, np.tile(int16(self.rng, self.dim // 2), 2))
        step.kind, step.kind2 = kinds
        step.shift, step.shift2 = (int(shift) for shift in self.rng.integers(0, 32, 2))
        step.mean = int(self.rng.integers(-300, 300))
        step.reciprocal = int(self.rng.integers(1 << 20))
        step.gamma = int16(self.rng, self.dim)
        step.beta = int32(self.rng, self.dim)
        return [Case(step)]

    def mixed(self, count: int) -> list[Case]:
        """Rows of all functions in any order."""
        functions = [
            self.requantize, self.maximum, self.exponents, self.context, self.gelu, self.residual,
            self.moments, self.layernorm,
        ]  # fmt: skip
        chosen = self.rng.integers(0, len(functions), count)
        return [case for index in chosen for case in functions[index]()]


@pytest.mark.parametrize("dim", [2, 4, 16])
def test_rows_of_every_function_back_to_back(dim):
    run(dim, [*Functions(dim, dim).mixed(600 // dim)])


def test_rows_of_every_function_with_gaps():
    rng = random.Random(3)
    offers: list[Case | None] = []
    for case in Functions(8, 4).mixed(70):
        offers += [None] * rng.choice((0, 0, 0, 1, 40)) + [case]
    run(4, offers)


def test_many_lanes():
    run(64, [*Functions(64, 64).mixed(12)])


def test_a_maximum_leaves_the_rest_alone():
    """Whatever a step of MAXIMUM says of things that it does not have."""
    functions = Functions(1, 4)
    steps = functions.maximum()
    for case in steps:
        case.step.counted, case.result = True, False
    (other,) = functions.requantize()
    run(4, [other, *steps, *[None] * 50, other, None, *steps])


@pytest.mark.parametrize("dim", [2, 16])
def test_reads_and_results_come_in_the_documented_cycles(dim):
    config = AcceleratorConfig(dim=dim)
    dut, seen = Lanes(config), {}
    scaling = {"by_column": 1}
    step = {"result": 1, "counted": 1, "span": {"first": 1, "last": 1}}
    step |= {"mode": Mode.NORMALIZE, "scaling": scaling, "scaling2": scaling}
    signals = {name: getattr(dut, name).valid for name in (
        "scales_in", "facts", "gamma", "beta", "sums", "sums_write", "scales_out", "result",
        "maximum_write",
    )}  # fmt: skip

    async def bench(ctx):
        for cycle in range(80):
            ctx.set(dut.start, cycle in {0, 40})
            ctx.set(dut.step, step if cycle < 40 else step | {"mode": Mode.MAXIMUM})
            for name, signal in signals.items():
                if ctx.get(signal):
                    seen.setdefault(name, []).append(cycle)
            await ctx.tick()

    simulate(dut, bench)
    depth = {2: 1, 16: 2}[dim]
    assert seen == {
        "scales_in": [2],
        "facts": [16],
        "gamma": [20],
        "beta": [21],
        "sums": [21 + depth],
        "sums_write": [24 + depth],
        "scales_out": [27],
        "result": [Lanes.LATENCY],
        "maximum_write": [40 + 3 + (dim - 1).bit_length()],
    }
