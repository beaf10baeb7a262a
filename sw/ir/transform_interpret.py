"""What a transform of a program means: `celosia.isa.numerics` on the rows that it names."""

from collections.abc import Iterator
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.isa import numerics
from celosia.isa.encoding import (
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_TRANSFORM,
    NO_KEY_LIMIT,
    ElementType,
    Function,
    Instruction,
)
from celosia.sw.ir.program import LocalRows, Settings, Transform

__all__ = ["Memories", "RowStatistics", "results"]

Array = NDArray[Any]

_KINDS: Final = {
    ElementType.INT8: np.dtype(np.int8),
    ElementType.UINT8: np.dtype(np.uint8),
    ElementType.INT16: np.dtype(np.int16),
    ElementType.INT32: np.dtype(np.int32),
}
_STAGED: Final = _KINDS[ElementType.INT16]
_SUM: Final = _KINDS[ElementType.INT32]


class Memories(Protocol):
    """Where a transform finds its operands."""

    dim: int
    """Columns of int32 in a local row."""

    def get(self, place: LocalRows, cols: int, kind: np.dtype[Any]) -> Array:
        """The first `cols` columns of the matrix at `place`."""
        ...

    def parameters(self, row: int, cols: int, kind: np.dtype[Any]) -> Array:
        """32-bit elements from parameter row `row` on, as a vector."""
        ...


class RowStatistics:
    """What is known of rows, by slot.

    A divisor and a root are 0, which cannot be divided by, until their sums are complete.
    """

    def __init__(self, slots: int):
        self.maximum = np.zeros(slots, np.int32)
        self.total = np.zeros(slots, np.int64)
        """Of exponents, numerators or elements."""
        self.squares = np.zeros(slots, np.int64)
        self.divisor = np.zeros(slots, np.int64)
        self.mean = np.zeros(slots, np.int64)
        self.root = np.zeros(slots, np.int64)

    def add(self, slots: slice, start: bool, total: Array, squares: Array | int = 0) -> None:
        """Count the sums of some columns; with `start`, the first ones."""
        if start:
            for sums in (self.total, self.squares, self.divisor, self.root):
                sums[slots] = 0
        self.total[slots] += total
        self.squares[slots] += squares


def results(
    op: Transform, memories: Memories, statistics: RowStatistics
) -> Iterator[tuple[LocalRows, Array]]:
    """Each target of `op` with what is written there; `statistics` change."""
    return zip(op.targets, _Transformed(op, memories, statistics).results(), strict=True)


class _Transformed:
    """One transform."""

    def __init__(self, op: Transform, memories: Memories, statistics: RowStatistics):
        self.op = op
        self.memories = memories
        self.kept = statistics
        self.settings = _all_fields(CONFIG_TRANSFORM, op.settings)
        first = self.settings["statistics"]
        self.slots = slice(first, first + op.source.rows)
        self.kind = _KINDS[ElementType(self.settings["type"])]

    def results(self) -> list[Array]:
        """The elements of each target."""
        match self.op.function:
            case Function.MOMENTS:
                values = self._count_moments(self._staged(self.op.source))
            case Function.LAYERNORM:
                values = self._layernorm(self._staged(self.op.source))
            case Function.REQUANTIZE:
                values = [self._requantized(self._sums())]
            case Function.CONTEXT:
                totals = self.kept.divisor[self.slots]
                values = [self._requantized(numerics.deferred_context(self._sums(), totals))]
            case Function.GELU:
                values = [self._gelu()]
            case Function.RESIDUAL:
                values = [self._residual()]
            case _:
                values = self._softmax()
        return values

    # What goes in.

    def _sums(self) -> Array:
        sums = self.memories.get(self.op.source, self.op.cols, _SUM)
        if not self.settings["bias"]:
            return sums
        row = self.op.parameters["bias_row"]
        return numerics.add_bias(sums, self.memories.parameters(row, self.op.cols, _SUM))

    def _staged(self, place: LocalRows) -> Array:
        return self.memories.get(place, self.op.cols, _STAGED)

    def _float(self, name: str) -> np.float32:
        return np.float32(numerics.scale_from_bits(self.settings[name]))

    def _scale(self) -> Array | np.float32:
        if not self.settings["column_scale"]:
            return self._float("scale")
        row = self.op.parameters["scale_row"]
        return self.memories.parameters(row, self.op.cols, np.dtype(np.float32))

    def _zero_point(self) -> int:
        return self.settings["zero_point"] if self.kind == np.uint8 else 0

    def _visible(self) -> Array:
        """True where a column counts."""
        mask = _all_fields(CONFIG_MASK, self.op.mask or {})
        keys = mask["first_key"] + np.arange(self.op.cols)
        rows = mask["first_row"] + np.arange(self.op.source.rows)[:, np.newaxis]
        limit = np.inf if mask["keys"] == NO_KEY_LIMIT else mask["keys"]
        return (keys < limit) & ((keys <= rows) | (not mask["causal"]))

    # What comes out.

    def _requantized(self, sums: Array) -> Array:
        if self.kind == _SUM:
            return sums
        rectify = bool(self.settings["relu"])
        zero_point = self._zero_point()
        return numerics.requantize_to(
            sums, self._scale(), self.kind, zero_point=zero_point, rectify=rectify
        )

    def _gelu(self) -> Array:
        entering = numerics.requantize_to(self._sums(), self._scale(), np.int16)
        scale, zero_point = self._float("scale2"), self._zero_point()
        return numerics.gelu(entering, scale, self.kind, zero_point=zero_point)

    def _residual(self) -> Array:
        assert self.op.residual is not None
        stream = self._staged(self.op.residual)
        result = numerics.residual_add(self._sums(), self._scale(), stream, self._float("scale2"))
        if self.settings["moments"]:
            self._count_moments(result)
        return result

    def _count_moments(self, values: Array) -> list[Array]:
        kept, slots, start = self.kept, self.slots, bool(self.settings["start"])
        kept.add(slots, start, *numerics.row_sums(values))
        if self.settings["finish"]:
            sums = numerics.RowSums(kept.total[slots], kept.squares[slots])
            channels = _all_fields(CONFIG_NORM, self.op.norm or {})["channels"]
            kept.mean[slots], kept.root[slots] = numerics.row_statistics(sums, channels)
        return []

    def _softmax(self) -> list[Array]:
        kept, slots, start = self.kept, self.slots, bool(self.settings["start"])
        sums, visible = self._sums(), self._visible()
        if self.op.function is Function.MAXIMUM:
            lowest = np.where(visible, sums, numerics.INT32_MIN).max(axis=1)
            kept.maximum[slots] = lowest if start else np.maximum(kept.maximum[slots], lowest)
            return []
        scale = self._float("scale")
        top = numerics.attention_scores(kept.maximum[slots], scale).astype(np.int64)
        scores = numerics.attention_scores(sums, scale).astype(np.int64)
        distances = np.minimum(scores - top[:, np.newaxis], 0)
        exponents = np.where(visible, numerics.exponent(distances), 0).astype(np.int64)
        if self.op.function is Function.PROBABILITY:
            reciprocals = numerics.reciprocal32(kept.divisor[slots])
            return [numerics.probabilities(exponents, reciprocals, self.kind)]
        deferred = self.op.function is Function.EXPONENT
        counted = numerics.numerators(exponents) if deferred else exponents
        kept.add(slots, start, counted.sum(axis=1, dtype=np.int64))
        if self.settings["finish"]:
            kept.divisor[slots] = np.maximum(kept.total[slots], 1)
        return [counted] if deferred else []

    def _layernorm(self, values: Array) -> list[Array]:
        norm, half = _all_fields(CONFIG_NORM, self.op.norm or {}), self.memories.dim // 2
        statistics = numerics.RowStatistics(self.kept.mean[self.slots], self.kept.root[self.slots])
        y = numerics.normalize(values, statistics)
        pairs = -(-self.op.cols // half)
        packed = self.memories.parameters(norm["parameter_row"], 4 * half * pairs, _SUM)
        # For each block of columns gamma and beta, each of the first and of the second output.
        constants = packed.reshape(pairs, 2, 2, half)
        outputs = [(norm["shift"], self.kind)]
        if norm["two"]:
            outputs.append((norm["shift2"], _KINDS[ElementType(norm["type2"])]))
        results = []
        for number, (shift, kind) in enumerate(outputs):
            gamma, beta = (constants[:, row, number].reshape(-1)[: self.op.cols] for row in (0, 1))
            results.append(numerics.Affine(gamma, beta, shift, kind)(y))
        return results


def _all_fields(instruction: Instruction, settings: Settings) -> dict[str, int]:
    """`settings` with the defaults of those that are left out."""
    return {field.name: field.default for field in instruction.operands} | dict(settings)
