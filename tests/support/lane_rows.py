"""Random rows of every function of the lanes."""

from typing import Any

import numpy as np

from celosia.hw.vector.modes import Mode
from celosia.isa.encoding import ElementType
from tests.support.lane_model import Case, Scaling
from tests.support.lanes import Step, int16, int32

__all__ = ["Functions"]


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
        """EXPONENT, numerators or PROBABILITY: a header, then blocks of the row."""
        modes = (Mode.EXPONENT, Mode.NUMERATOR, Mode.DITHERED, Mode.PROBABILITY)
        mode = modes[self.rng.integers(len(modes))]
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

    def curve(self) -> list[Case]:
        mode = (Mode.GELU, Mode.SILU, Mode.HARDSWISH)[self.rng.integers(3)]
        out = Scaling(self.scale(-12, columns=False), ElementType(self.rng.integers(3)), 5)
        return [self.accumulated(mode, scale_in=Scaling(self.scale(0)), scale_out=out)]

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

    def product(self) -> list[Case]:
        """Two steps that are not always right behind each other."""
        keep = Case(Step(Mode.KEEP, int16(self.rng, self.dim)), result=False)
        between = self.requantize() if self.rng.integers(2) else []
        out = Scaling(self.scale(-12, columns=False), ElementType(self.rng.integers(3)), 5)
        return [
            keep,
            *between,
            Case(Step(Mode.MULTIPLY, int16(self.rng, self.dim)), scale_out=out),
        ]

    def rotation(self) -> list[Case]:
        """A product that is kept, and another one that is added or taken from it."""
        last = Mode.SUM if self.rng.integers(2) else Mode.DIFFERENCE
        modes = Mode.KEEP, Mode.MULTIPLY, Mode.KEEP, last
        out = Scaling(self.scale(0, columns=False), ElementType(self.rng.integers(3)), 5)
        cases = [Case(Step(mode, int16(self.rng, self.dim)), result=False) for mode in modes]
        cases[-1].result, cases[-1].scale_out = True, out
        return cases

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
            self.requantize, self.maximum, self.exponents, self.context, self.curve, self.residual,
            self.product, self.rotation, self.moments, self.layernorm,
        ]  # fmt: skip
        chosen = self.rng.integers(0, len(functions), count)
        return [case for index in chosen for case in self.shortened(functions[index]())]

    def shortened(self, cases: list[Case]) -> list[Case]:
        """The same steps, of fewer elements or of all; those of two results, of one or of both."""
        least = self.dim // 2 if cases[0].step.mode is Mode.NORMALIZE else 1
        some = int(self.rng.integers(least, self.dim + 1))
        used = (least, some, self.dim)[self.rng.integers(3)]
        if cases[0].step.mode is Mode.NORMALIZE:
            used -= used % least
        # Columns are counted: only the last block of a row that is dithered ends early.
        dithered = cases[-1].step.mode is Mode.DITHERED
        for case in cases[-1:] if dithered else cases:
            case.used = used
            if case.step.visible is not None:
                case.step.visible[used:] = False
        return cases
