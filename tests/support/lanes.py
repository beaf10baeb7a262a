"""What the lanes compute of a step, by `celosia.isa.numerics`, and answers to what they read."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.hw.vector.modes import Mode
from celosia.isa.encoding import CONFIG_EXPONENT, CONFIG_GELU, ElementType
from celosia.isa.numerics import (
    EXPONENT,
    GELU,
    Affine,
    ExponentConstants,
    GeluConstants,
    IntArray,
    context,
    exponent,
    normalize_by,
    numerators,
    probabilities,
    raw_gelu,
    round_half_up,
    saturate,
)
from celosia.isa.numerics.activation import raw_hardswish, raw_silu

__all__ = ["KINDS", "Golden", "Reads", "Step", "constants", "int16", "int32", "scores"]

KINDS = {ElementType.INT8: np.int8, ElementType.UINT8: np.uint8, ElementType.INT16: np.int16}


@dataclass
class Step:
    """What a row is asked, with what is read for it."""

    mode: Mode
    elements: np.ndarray
    visible: np.ndarray | None = None
    counted: bool = False
    kind: ElementType = ElementType.INT8
    kind2: ElementType = ElementType.INT16
    shift: int = 0
    shift2: int = 0
    mean: int = 0
    reciprocal: int = 0
    gamma: np.ndarray | None = None
    beta: np.ndarray | None = None
    due: np.ndarray | None = None
    """The result, if it is known from elsewhere."""


@dataclass
class Golden:
    """The state of the lanes."""

    exponents: ExponentConstants = EXPONENT
    gelu: GeluConstants = GELU
    unit: int = EXPONENT.unit
    reference: int = 0
    column: int = 0
    """The column of the next numerators: so many came behind the last HEADER."""
    kept: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    product: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))

    def result(self, step: Step) -> IntArray | None:
        """What comes out; None: nothing that anyone looks at."""
        x = step.elements.astype(np.int64)
        result: IntArray | None = None
        match step.mode:
            case Mode.HEADER:
                self.reference, self.column = int(x[0]), 0
            case Mode.KEEP:
                self.kept = x
            case Mode.PASS:
                result = x
            case Mode.ADD:
                result = saturate(x + self.kept, 16)
            case Mode.CONTEXT:
                result = context(x, np.array(step.reciprocal))
            case Mode.GELU:
                result = raw_gelu(x, self.gelu)
            case Mode.MULTIPLY:
                result = self.product = x * self.kept
            case Mode.SUM:
                result = saturate(round_half_up(self.product + x * self.kept, 15), 16)
            case Mode.DIFFERENCE:
                result = saturate(round_half_up(self.product - x * self.kept, 15), 16)
            case Mode.SILU:
                result = raw_silu(x, self.exponents)
            case Mode.HARDSWISH:
                result = raw_hardswish(x)
            case Mode.NORMALIZE:
                result = self._normalized(step)
            case _:
                result = self._exponential(step)
        return result

    def _exponential(self, step: Step) -> IntArray:
        distances = np.minimum(step.elements.astype(np.int64) - self.reference, 0)
        e = exponent(distances, self.exponents).astype(np.int64)
        e = e if step.visible is None else np.where(step.visible, e, 0)
        if step.mode is Mode.EXPONENT:
            return e
        if step.mode is Mode.NUMERATOR:
            return numerators(e, self.unit)
        if step.mode is Mode.DITHERED:
            before = np.zeros(self.column, np.int64)
            self.column += len(e)
            return numerators(np.concatenate([before, e]), self.unit, dithered=True)[len(before) :]
        return probabilities(e, np.array(step.reciprocal), KINDS[step.kind])

    def _normalized(self, step: Step) -> IntArray:
        assert step.gamma is not None
        assert step.beta is not None
        y = normalize_by(step.elements, step.mean, np.array(step.reciprocal))
        half = len(y) // 2
        lower, upper = slice(0, half), slice(half, None)
        first = Affine(step.gamma[lower], step.beta[lower], step.shift, KINDS[step.kind])
        second = Affine(step.gamma[upper], step.beta[upper], step.shift2, KINDS[step.kind2])
        return np.concatenate([
            np.asarray(affine(y[part]), np.int64)
            for affine, part in ((first, lower), (second, upper))
        ])


def constants(golden: Golden) -> dict[str, dict[str, int]]:
    """As the port wants them."""
    of_exponent = {name.name: getattr(golden.exponents, name.name, 0)
                   for name in CONFIG_EXPONENT.operands}  # fmt: skip
    of_exponent |= {"lowest": -golden.exponents.lowest, "unit": golden.unit}
    of_gelu = {name.name: getattr(golden.gelu, name.name) for name in CONFIG_GELU.operands}
    return {"exponent": of_exponent, "gelu": of_gelu}


class Reads:
    """Answers one of the unit's reads: a row or slot is the number of its step."""

    def __init__(self, port: Any, answers: list[tuple[int, Any]], rows: int):
        self.port = port
        self.answers = answers
        self.rows = rows
        self.under_way: list[Any] = [None] * LOCAL_READ_LATENCY

    def cycle(self, ctx, noise: int) -> None:
        """Look at the request of this cycle, and answer that of some cycles ago."""
        self.under_way.append(None)
        if ctx.get(self.port.valid):
            row, self.under_way[-1] = self.answers.pop(0)
            assert ctx.get(self.port.row) == row % self.rows
        answer = self.under_way.pop(0)
        if answer is None:
            width = len(self.port.data.as_value())
            ctx.set(self.port.data.as_value(), noise & (1 << width) - 1)
        else:
            ctx.set(self.port.data, answer)


def int16(rng: np.random.Generator, dim: int) -> np.ndarray:
    """Random int16 of every magnitude, extremes among them."""
    values = rng.integers(-(1 << 15), 1 << 15, dim) >> rng.integers(0, 16, dim)
    return np.where(rng.integers(0, 9, dim) == 0, rng.choice([-32768, 32767, 0], dim), values)


def scores(rng: np.random.Generator, dim: int) -> np.ndarray:
    """Random scores of every magnitude up to their 24 bits, extremes among them."""
    values = rng.integers(-(1 << 23), 1 << 23, dim) >> rng.integers(0, 24, dim)
    extremes = rng.choice([-(1 << 23), (1 << 23) - 1, 0], dim)
    return np.where(rng.integers(0, 9, dim) == 0, extremes, values)


def int32(rng: np.random.Generator, dim: int) -> np.ndarray:
    """Random int32 of every magnitude."""
    return rng.integers(-(1 << 31), 1 << 31, dim) >> rng.integers(0, 32, dim)
