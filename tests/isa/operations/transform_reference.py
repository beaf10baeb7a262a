"""What the table of `docs/architecture.md` says of a TRANSFORM, in Python's plain words."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import Function
from celosia.isa.functions.types import ElementType
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.transform_state import TransformState

__all__ = ["ACC", "CONFIG", "DIM", "PAIRED", "PLAIN", "SPAD", "Reference", "made"]

CONFIG = AcceleratorConfig(
    dim=4,
    scratchpad_kib=1,
    accumulator_kib=1,
    accumulator_banks=1,
    parameter_rows=16,
    statistics_rows=16,
    normalization=True,
)
DIM, SPAD, ACC = CONFIG.dim, CONFIG.scratchpad_rows, CONFIG.accumulator_rows

NUMERATORS = {Function.EXPONENT, Function.DITHERED_EXPONENT}
SCORES = NUMERATORS | {Function.MAXIMUM, Function.SUM, Function.PROBABILITY}
STAGED = {Function.MOMENTS, Function.LAYERNORM, Function.MULTIPLY, Function.ROTATE}
EITHER = NUMERATORS | {Function.RESIDUAL}
PAIRED = {Function.RESIDUAL, Function.MULTIPLY, Function.ROTATE}
SLOTS = SCORES | {Function.CONTEXT, Function.MOMENTS, Function.LAYERNORM}
NARROW = {ElementType.INT8, ElementType.UINT8, ElementType.INT16}
TYPES = {
    Function.REQUANTIZE: set(ElementType),
    **{function: {ElementType.UINT8} for function in NUMERATORS},
    Function.RESIDUAL: {ElementType.INT16},
    Function.LAYERNORM: {ElementType.INT8, ElementType.INT16},
    **{function: set() for function in (Function.MAXIMUM, Function.SUM, Function.MOMENTS)},
}
BYTES = {ElementType.INT8: 1, ElementType.UINT8: 1, ElementType.INT16: 2, ElementType.INT32: 4}
SETTINGS = {
    "config_transform": (
        "function",
        "type",
        "scale",
        "bias",
        "column_scale",
        "statistics",
        "moments",
        "finish",
    ),
    "config_rows": (
        "source_stride",
        "target_stride",
        "residual_stride",
        "residual",
        "bias_row",
        "scale_row",
    ),
    "config_norm": ("two", "type2", "target2_stride", "parameter_row", "channels"),
}
PLAIN = {
    "function": Function.REQUANTIZE,
    "type": ElementType.INT8,
    "scale": 1,
    "bias": 0,
    "column_scale": 0,
    "statistics": 0,
    "moments": 0,
    "finish": 0,
    "source_stride": 8,
    "target_stride": 8,
    "residual_stride": 8,
    "residual": LocalAddress(row=64).encode(),
    "bias_row": 0,
    "scale_row": 0,
    "two": 0,
    "type2": ElementType.INT8,
    "target2_stride": 8,
    "parameter_row": 0,
    "channels": 1,
    "local": LocalAddress(row=0, accumulator=True),
    "rows": 3,
    "cols": 8,
    "target": LocalAddress(row=128),
    "target2": LocalAddress(row=192),
}
"""A legal TRANSFORM of two blocks whose operands are far from each other."""


def made(**values: Any) -> Transform:
    """`PLAIN` with what `values` change."""
    all_of = PLAIN | values
    reset = TransformState.reset(CONFIG).fields
    own = {name: {key: all_of[key] for key in keys} for name, keys in SETTINGS.items()}
    state = TransformState({name: reset[name] | own.get(name, {}) for name in reset})
    places = {key: all_of[key] for key in ("local", "rows", "cols", "target", "target2")}
    return Transform(state=state, **places)


@dataclass(frozen=True)
class Range:
    """Local rows, from the first to the last one."""

    accumulator: bool
    rows: range

    @classmethod
    def of(cls, local: LocalAddress, stride: int, shape: tuple[int, int], size: int) -> "Range":
        """The rows of a matrix of so many rows and columns, with elements of `size` bytes."""
        rows, cols = shape
        blocks = {col * size // DIM for col in (0, cols - 1)} | {(cols * size - 1) // DIM}
        lines = [local.row + r + block * stride for r in (0, rows - 1) for block in blocks]
        return cls(local.accumulator, range(min(lines), max(lines) + 1))

    @property
    def exists(self) -> bool:
        return self.rows.stop <= (ACC if self.accumulator else SPAD)

    def meets(self, other: "Range") -> bool:
        apart = self.rows.stop <= other.rows.start or other.rows.stop <= self.rows.start
        return not (self.accumulator or other.accumulator or apart)


@dataclass(frozen=True)
class Reference:
    """What the table says of a TRANSFORM of these settings."""

    all: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.all[name]

    @property
    def int16(self) -> bool:
        in_scratchpad = not self.local.accumulator
        return self.function in STAGED or (self.function in EITHER and in_scratchpad)

    def of(self, local: LocalAddress, stride: int, size: int) -> Range:
        return Range.of(local, stride, (self.rows, self.cols), size)

    def sources(self) -> list[Range]:
        source = self.of(self.local, self.source_stride, 2 if self.int16 else 1)
        if self.function not in PAIRED:
            return [source]
        return [source, self.of(LocalAddress.decode(self.residual), self.residual_stride, 2)]

    def results(self) -> list[Range]:
        if not TYPES.get(self.function, NARROW):
            return []
        first = self.of(self.target, self.target_stride, BYTES[self.type])
        if self.function is not Function.LAYERNORM or not self.two:
            return [first]
        return [first, self.of(self.target2, self.target2_stride, BYTES[self.type2])]

    def parameters(self) -> list[range]:
        blocks, halves = (-(-self.cols * size // DIM) for size in (1, 2))
        if self.function is Function.LAYERNORM:
            return [range(self.parameter_row, self.parameter_row + 2 * halves)]
        firsts = [self.bias_row] * self.bias
        firsts += [self.scale_row] * (self.column_scale and self.function not in SCORES)
        return [] if self.int16 else [range(first, first + blocks) for first in firsts]

    def known(self) -> bool:
        types = TYPES.get(self.function, NARROW)
        kinds = [self.type, self.type2][: len(self.results())]
        where = [*self.sources()[1:], *self.results()]
        return (
            self.local.accumulator is not self.int16
            and not any(each.accumulator for each in where)
            and types.issuperset(kinds)
        )

    def shaped(self) -> bool:
        counts = self.function is Function.MOMENTS or (
            self.function is Function.RESIDUAL and self.moments
        )
        ends = counts and self.finish
        turns = self.function is Function.ROTATE
        return (
            self.cols <= 4096
            and not (turns and self.cols % DIM)
            and not (ends and not 0 < self.channels <= 4096)
        )

    def exist(self) -> bool:
        uses = self.function in SLOTS or (self.function is Function.RESIDUAL and self.moments)
        return (
            all(each.exists for each in (*self.sources(), *self.results()))
            and all(each.stop <= CONFIG.parameter_rows for each in self.parameters())
            and not (uses and self.statistics + self.rows > CONFIG.statistics_rows)
        )

    def meet(self) -> bool:
        results = self.results()
        others = [(one, other) for one in results for other in self.sources()]
        return any(one.meets(other) for one, other in (*others, *pairwise(results)))

    def cause(self) -> Cause:
        """The first rule of the table that is broken."""
        orderly = 0 < self.scale < 0x7F80_0000 and not self.column_scale
        rules = (
            (Cause.UNSUPPORTED, self.known()),
            (Cause.SCALE, self.function not in SCORES or orderly),
            (Cause.SHAPE, self.shaped()),
            (Cause.LOCAL_RANGE, self.exist()),
            (Cause.OVERLAP, not self.meet()),
        )
        return next((cause for cause, kept in rules if not kept), Cause.NONE)
