"""Steps of `Lanes` with all that is said of them, and what must come of them, cycle by cycle."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from celosia.hw.vector.modes import Mode
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.latencies import SCALER_LATENCY, lane_latency
from celosia.isa.numerics import (
    INT32_MIN,
    IntArray,
    add_bias,
    requantize_to,
    scale_from_bits,
    wrap32,
)
from tests.support.lanes import KINDS, Golden, Step

__all__ = ["Case", "Model", "Scaling", "mode_begins", "paced", "sum_depth"]

COUNTERS = {Mode.PASS, Mode.EXPONENT, Mode.NUMERATOR, Mode.DITHERED, Mode.ADD}
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
    used: int = 0
    """The row's elements; behind them comes nothing that counts.  0: all of them."""

    def __post_init__(self) -> None:
        self.used = self.used or len(self.step.elements)

    @property
    def has_sums(self) -> bool:
        return self.step.counted and self.step.mode in COUNTERS

    @property
    def visible(self) -> np.ndarray:
        shown = self.step.visible
        return np.ones(len(self.step.elements), bool) if shown is None else shown

    @property
    def scalings(self) -> tuple[bool, bool]:
        """Whether it takes a turn of the scaler before its mode, and one behind it."""
        return self.scale_in.scale is not None, self.result and self.scale_out.scale is not None

    def last_part(self, lanes: int) -> int:
        """The number of its last part."""
        if self.step.mode in {Mode.HEADER, Mode.MAXIMUM}:
            return 0
        return -(-self.used // lanes) - 1

    def fields(self, number: int, config: AcceleratorConfig) -> dict[str, Any]:
        step = self.step
        names = ("mode", "counted", "kind", "kind2", "shift", "shift2")
        row = number % config.parameter_rows
        return {name: getattr(step, name) for name in names} | {
            "result": self.result,
            "biased": self.bias is not None,
            "last_part": self.last_part(config.lanes),
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


def mode_begins(case: Case, cycle: int) -> int:
    """The cycle in which the first part of a step comes to its mode."""
    return cycle + 1 + SCALER_LATENCY * case.scalings[0]


def paced(config: AcceleratorConfig, offers: list[Case | None]) -> list[Case | None]:
    """The same steps, each as early as no part meets or overtakes one of a step before it."""
    cycles: list[Case | None] = []
    turns: set[int] = set()  # Cycles in which the scaler begins with a part.
    mode, result = 0, 0  # The first cycles without a part of a step before.
    for case in offers:
        if case is not None and case.step.mode is not Mode.MAXIMUM:
            parts = case.last_part(config.lanes) + 1
            before, behind = case.scalings
            latency = lane_latency(before + behind)
            while (
                mode_begins(case, len(cycles)) < mode
                or (case.result and len(cycles) + latency < result)
                or (
                    before and not turns.isdisjoint(range(len(cycles) + 1, len(cycles) + 1 + parts))
                )
            ):
                cycles.append(None)
            begins, now = mode_begins(case, len(cycles)), len(cycles)
            mode = begins + parts
            result = now + latency + parts if case.result else result
            second = range(begins + 16, begins + 16 + parts)
            turns.update(second if behind else ())
        cycles.append(case)
        if case is not None:
            cycles += [None] * case.last_part(config.lanes)
    return cycles


def sum_depth(lanes: int) -> int:
    """The base-4 logarithm of the lanes, as their sums count it: at least 2."""
    return max(2, ((lanes - 1).bit_length() + 1) // 2)


class Model:
    """What must come out, and when."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.golden = Golden()
        self.results: dict[int, list[int]] = {}
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
            latency = lane_latency(sum(case.scalings), case.last_part(self.config.lanes) + 1)
            self.results[cycle + latency] = case.scale_out.of(computed)[: case.used].tolist()

    def _take_maximum(self, case: Case, x: IntArray, cycle: int, number: int) -> None:
        found = int(np.where(case.visible, x, INT32_MIN).max())
        begun = INT32_MIN if case.start else case.maximum
        self.largest = max(found, begun if case.first else self.largest)
        if case.last:
            self.maxima[cycle + 2 + (self.config.dim.bit_length() // 2)] = number, self.largest

    def _take_sums(self, case: Case, x: IntArray, cycle: int, number: int) -> None:
        shown = np.where(case.visible, x, 0)
        if case.first:
            self.total, self.squares = (0, 0) if case.start else case.kept
        squared = case.step.mode in {Mode.PASS, Mode.ADD}
        self.total = int(wrap32(self.total + shown.sum()))
        self.squares = int(self.squares + (shown**2).sum()) & SQUARES
        if case.last:
            squares = self.squares if squared else None
            when = mode_begins(case, cycle) + 13 + sum_depth(self.config.lanes)
            self.sums[when + case.last_part(self.config.lanes)] = (
                number,
                case.finish,
                self.total,
                squares,
            )
