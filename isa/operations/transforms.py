"""TRANSFORM with its configuration resolved, and the rules that it keeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.isa import encoding
from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Instruction
from celosia.isa.functions.table import FUNCTIONS, Function, TransformFunction
from celosia.isa.functions.types import ELEMENT_BYTES, ElementType
from celosia.isa.numerics import MAX_COLUMNS
from celosia.isa.numerics.float32 import INFINITY
from celosia.isa.registers.errors import Cause
from celosia.isa.state.transform_state import TransformState

__all__ = ["Rows", "Transform"]

_ENTRIES: Final = tuple(FUNCTIONS[function] for function in Function)
_TYPES: Final = tuple(ElementType)
_STAGED_BYTES: Final = ELEMENT_BYTES[ElementType.INT16]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A matrix in a local memory: block b of row r is local row ``local.row + r + b*stride``.

    A block is what fits a local row: ``dim`` bytes in the scratchpad, ``dim`` int32 in the
    accumulator.
    """

    local: LocalAddress
    stride: int
    blocks: int

    def last(self, rows: int) -> int:
        """The highest row number."""
        return self.local.row + rows - 1 + (self.blocks - 1) * self.stride


@dataclass(frozen=True, kw_only=True, slots=True)
class Transform:
    """A function of the rows of a local matrix.  At least one row and one column."""

    state: TransformState
    local: LocalAddress
    rows: int
    cols: int
    target: LocalAddress
    """The first local row of the result, in the scratchpad."""
    target2: LocalAddress
    """The first local row of the second result, if there is one, in the scratchpad."""

    def setting(self, field: str, of: Instruction = encoding.CONFIG_TRANSFORM) -> int:
        """A field of the configuration."""
        return self.state.get(of, field)

    @property
    def rules(self) -> TransformFunction:
        """The entry of its function, which must be a known one."""
        return _ENTRIES[self.setting("function")]

    @property
    def type(self) -> ElementType:
        """The element type of the result."""
        return _TYPES[self.setting("type")]

    @property
    def type2(self) -> ElementType:
        """The element type of the second result."""
        return _TYPES[self.setting("type2", encoding.CONFIG_NORM)]

    @property
    def two(self) -> bool:
        """There is a second result."""
        return self.rules.normalizes and bool(self.setting("two", encoding.CONFIG_NORM))

    @property
    def staged(self) -> bool:
        """Its source are rows of int16 in the scratchpad."""
        rules = self.rules
        return rules.staged or (rules.takes_int16 and not self.local.accumulator)

    @property
    def uses_statistics(self) -> bool:
        """It reads or changes statistics."""
        return self.rules.statistics or self.counts_moments

    @property
    def counts_moments(self) -> bool:
        """Sums of elements and of their squares are counted."""
        rules = self.rules
        return rules.moments and (rules.counted or bool(self.setting("moments")))

    def blocks(self, element_bytes: int, row_bytes: int) -> int:
        """Local rows of `row_bytes` that a row of the matrix takes."""
        return -(-self.cols * element_bytes // row_bytes)

    def source(self, dim: int) -> Rows:
        """What it reads."""
        return Rows(
            local=self.local,
            stride=self.setting("source_stride", encoding.CONFIG_ROWS),
            blocks=self.blocks(_STAGED_BYTES if self.staged else 1, dim),
        )

    def residual(self, dim: int) -> Rows | None:
        """What it adds, or multiplies by."""
        if not self.rules.paired:
            return None
        return Rows(
            local=LocalAddress.decode(self.setting("residual", encoding.CONFIG_ROWS)),
            stride=self.setting("residual_stride", encoding.CONFIG_ROWS),
            blocks=self.blocks(_STAGED_BYTES, dim),
        )

    def results(self, dim: int) -> list[Rows]:
        """What it writes into the scratchpad."""
        if not self.rules.types:
            return []
        first = Rows(
            local=self.target,
            stride=self.setting("target_stride", encoding.CONFIG_ROWS),
            blocks=self.blocks(ELEMENT_BYTES[self.type], dim),
        )
        if not self.two:
            return [first]
        second = Rows(
            local=self.target2,
            stride=self.setting("target2_stride", encoding.CONFIG_NORM),
            blocks=self.blocks(ELEMENT_BYTES[self.type2], dim),
        )
        return [first, second]

    def parameters(self, dim: int) -> Iterator[tuple[int, int]]:
        """First row and number of rows of each range of parameters that it reads."""
        blocks = self.blocks(1, dim)
        if self.rules.normalizes:
            first = self.setting("parameter_row", encoding.CONFIG_NORM)
            yield first, 2 * self.blocks(_STAGED_BYTES, dim)
            return
        if self.staged:
            return
        if self.setting("bias"):
            yield self.setting("bias_row", encoding.CONFIG_ROWS), blocks
        if self.setting("column_scale") and not self.rules.scores:
            yield self.setting("scale_row", encoding.CONFIG_ROWS), blocks

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that it breaks."""
        if self.setting("function") not in FUNCTIONS or not self._is_supported():
            return Cause.UNSUPPORTED
        if self.rules.scores and not self._scale_keeps_order():
            return Cause.SCALE
        if not self._has_shape(config.dim):
            return Cause.SHAPE
        if not self._exists(config):
            return Cause.LOCAL_RANGE
        return Cause.OVERLAP if self._overlaps(config.dim) else Cause.NONE

    def _is_supported(self) -> bool:
        rules = self.rules
        if self.local.accumulator == self.staged:
            return False
        residual = self.residual(1)
        local = [rows.local for rows in self.results(1)] + ([residual.local] if residual else [])
        types = [self.type, self.type2][: len(self.results(1))]
        return not any(address.accumulator for address in local) and all(
            kind in rules.types for kind in types
        )

    def _scale_keeps_order(self) -> bool:
        scale = self.setting("scale")
        return 0 < scale < INFINITY and not self.setting("column_scale")

    def _has_shape(self, dim: int) -> bool:
        if self.cols > MAX_COLUMNS or (self.rules.rotates and self.cols % dim):
            return False
        if self.counts_moments and self.setting("finish"):
            channels = self.setting("channels", encoding.CONFIG_NORM)
            if not 0 < channels <= MAX_COLUMNS:
                return False
        return True

    def _exists(self, config: AcceleratorConfig) -> bool:
        dim = config.dim
        local = [self.source(dim), *self.results(dim)]
        if (residual := self.residual(dim)) is not None:
            local.append(residual)
        slots = self.setting("statistics") + self.rows
        return (
            all(rows.last(self.rows) < _memory_rows(rows.local, config) for rows in local)
            and all(first + rows <= config.parameter_rows for first, rows in self.parameters(dim))
            and (not self.uses_statistics or slots <= config.statistics_rows)
        )

    def _overlaps(self, dim: int) -> bool:
        results = self.results(dim)
        sources = [rows for rows in (self.source(dim), self.residual(dim)) if rows is not None]
        others = [rows for rows in sources if not rows.local.accumulator]
        pairs = [(result, other) for result in results for other in others]
        if len(results) > 1:
            pairs.append((results[0], results[1]))
        return any(
            one.local.row <= other.last(self.rows) and other.local.row <= one.last(self.rows)
            for one, other in pairs
        )


def _memory_rows(local: LocalAddress, config: AcceleratorConfig) -> int:
    return config.accumulator_rows if local.accumulator else config.scratchpad_rows
