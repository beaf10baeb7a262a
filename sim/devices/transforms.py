"""What a TRANSFORM does to the local memories, in NumPy, function by function."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa import encoding
from celosia.isa.encoding import ElementType, Function
from celosia.isa.numerics import (
    INT32_MIN,
    Affine,
    ExponentConstants,
    GeluConstants,
    add_bias,
    attention_scores,
    context,
    exponent,
    gelu,
    isqrt,
    normalize_by,
    numerators,
    probabilities,
    reciprocal31,
    reciprocal32,
    requantize_to,
    residual_add,
    scale_from_bits,
)
from celosia.isa.numerics.normalization import MEAN_BITS
from celosia.isa.operations.transforms import Rows, Transform

__all__ = ["KINDS", "Statistics", "TransformUnit"]

KINDS: Final = {
    ElementType.INT8: np.dtype(np.int8),
    ElementType.UINT8: np.dtype(np.uint8),
    ElementType.INT16: np.dtype("<i2"),
    ElementType.INT32: np.dtype("<i4"),
}


class Statistics:
    """What is known of each row, in slots.

    Members (all begin as garbage):

    maximum : int32, ``(statistics_rows,)``
    total : int32, of exponents, numerators or elements
    squares : int64, of elements; 48 bits
    mean : int64; 17 bits signed
    reciprocal : int64; 32 bits unsigned
    """

    def __init__(self, rows: int, random: np.random.Generator):
        self.maximum = random.integers(INT32_MIN, 1 << 31, rows).astype(np.int32)
        self.total = random.integers(INT32_MIN, 1 << 31, rows).astype(np.int32)
        self.squares = random.integers(0, 1 << 48, rows)
        self.mean = random.integers(-(1 << 16), 1 << 16, rows)
        self.reciprocal = random.integers(0, 1 << 32, rows)


class TransformUnit:
    """Executes legal TRANSFORMs on the memories of an accelerator, one at a time."""

    def __init__(
        self,
        dim: int,
        scratchpad: NDArray[np.int8],
        accumulator: NDArray[np.int32],
        parameters: NDArray[np.int32],
        statistics: Statistics,
    ):
        self.dim = dim
        self.scratchpad = scratchpad
        self.accumulator = accumulator
        self.parameters = parameters
        self.statistics = statistics

    def execute(self, transform: Transform) -> None:
        """Do `transform`."""
        results = self._results(transform)
        for rows, result in zip(transform.results(self.dim), results, strict=True):
            self._write(rows, result)

    def _results(self, transform: Transform) -> list[NDArray[Any]]:
        """The elements of each result, ``rows`` x ``cols``."""
        function = Function(transform.setting("function"))
        if transform.rules.staged:
            return self._of_staged(transform, function)
        x = self._accumulated(transform)
        match function:
            case Function.REQUANTIZE:
                return [self._requantized(transform, x)]
            case Function.CONTEXT:
                factors = self.statistics.reciprocal[self._slots(transform)]
                return [self._requantized(transform, context(x, factors))]
            case Function.GELU:
                q = requantize_to(x, self._scale(transform), np.int16)
                return [self._gelu(transform, q)]
            case Function.RESIDUAL:
                return [self._residual(transform, x)]
            case _:
                return self._softmax(transform, function, x)

    def _of_staged(self, transform: Transform, function: Function) -> list[NDArray[Any]]:
        q = self._staged(transform, transform.source(self.dim))
        if function is Function.LAYERNORM:
            return self._layernorm(transform, q)
        self._add_moments(transform, q)
        return []

    # What goes in.

    def _accumulated(self, transform: Transform) -> NDArray[np.int32]:
        rows = self._rows(transform.source(self.dim), transform.rows)
        x = self.accumulator[rows].reshape(transform.rows, -1)[:, : transform.cols]
        if not transform.setting("bias"):
            return x
        return add_bias(x, self._parameters(transform, "bias_row"))

    def _staged(self, transform: Transform, source: Rows) -> NDArray[np.int16]:
        data = self.scratchpad[self._rows(source, transform.rows)]
        kind = KINDS[ElementType.INT16]
        return data.reshape(transform.rows, -1).view(kind)[:, : transform.cols]

    def _parameters(self, transform: Transform, field: str) -> NDArray[np.int32]:
        first = transform.setting(field, encoding.CONFIG_ROWS)
        rows = self.parameters[first : first + transform.blocks(1, self.dim)]
        return rows.reshape(-1)[: transform.cols]

    def _scale(self, transform: Transform) -> NDArray[np.float32]:
        if transform.setting("column_scale"):
            return scale_from_bits(self._parameters(transform, "scale_row").view(np.uint32))
        return scale_from_bits(transform.setting("scale"))

    def _rows(self, rows: Rows, count: int) -> NDArray[np.intp]:
        """Row numbers, ``count`` x blocks."""
        blocks = np.arange(rows.blocks) * rows.stride
        return rows.local.row + np.arange(count)[:, np.newaxis] + blocks

    def _slots(self, transform: Transform) -> slice:
        first = transform.setting("statistics")
        return slice(first, first + transform.rows)

    # What comes out.

    def _write(self, rows: Rows, result: NDArray[Any]) -> None:
        count = len(result)
        bytes_ = np.ascontiguousarray(result).view(np.int8).reshape(count, -1)
        places = self._rows(rows, count)[:, :, np.newaxis] * self.dim + np.arange(self.dim)
        # In the order in which rows are walked: where places meet, the last one stays.
        self.scratchpad.reshape(-1)[places.reshape(count, -1)[:, : bytes_.shape[1]]] = bytes_

    def _requantized(self, transform: Transform, x: NDArray[np.int32]) -> NDArray[Any]:
        if transform.type is ElementType.INT32:
            return x
        return requantize_to(
            x,
            self._scale(transform),
            KINDS[transform.type],
            zero_point=self._zero_point(transform),
            rectify=bool(transform.setting("relu")),
        )

    def _zero_point(self, transform: Transform) -> int:
        return transform.setting("zero_point") if transform.type is ElementType.UINT8 else 0

    def _gelu(self, transform: Transform, q: NDArray[np.int16]) -> NDArray[Any]:
        constants = GeluConstants(**transform.state.fields[encoding.CONFIG_GELU.name])
        return gelu(
            q,
            scale_from_bits(transform.setting("scale2")),
            KINDS[transform.type],
            zero_point=self._zero_point(transform),
            constants=constants,
        )

    def _residual(self, transform: Transform, x: NDArray[np.int32]) -> NDArray[np.int16]:
        residual = transform.residual(self.dim)
        assert residual is not None
        stream = self._staged(transform, residual)
        scale2 = scale_from_bits(transform.setting("scale2"))
        result = residual_add(x, self._scale(transform), stream, scale2)
        if transform.setting("moments"):
            self._add_moments(transform, result)
        return result

    def _softmax(
        self, transform: Transform, function: Function, x: NDArray[np.int32]
    ) -> list[NDArray[Any]]:
        kept, slots = self.statistics, self._slots(transform)
        visible = self._visible(transform)
        start = transform.setting("start")
        if function is Function.MAXIMUM:
            largest = np.where(visible, x, INT32_MIN).max(axis=1)
            before = INT32_MIN if start else kept.maximum[slots]
            kept.maximum[slots] = np.maximum(largest, before)
            return []
        constants, unit = self._exponent_constants(transform)
        scale = scale_from_bits(transform.setting("scale"))
        top = attention_scores(kept.maximum[slots], scale).astype(np.int32)
        q = attention_scores(x, scale).astype(np.int32)
        distances = np.minimum(q - top[:, np.newaxis], 0)
        e = np.where(visible, exponent(distances, constants), 0).astype(np.int64)
        if function is Function.PROBABILITY:
            return [probabilities(e, kept.reciprocal[slots], KINDS[transform.type])]
        counted = e if function is Function.SUM else numerators(e, unit).astype(np.int64)
        before = 0 if start else kept.total[slots]
        kept.total[slots] = (counted.sum(axis=1) + before).astype(np.int32)
        if transform.setting("finish"):
            divisors = np.maximum(kept.total[slots].view(np.uint32), 1)
            kept.reciprocal[slots] = reciprocal32(divisors) & _REGISTER
        return [] if function is Function.SUM else [counted.astype(np.uint8)]

    def _visible(self, transform: Transform) -> NDArray[np.bool_]:
        """Which elements are not masked."""
        mask = transform.state.fields[encoding.CONFIG_MASK.name]
        keys = mask["first_key"] + np.arange(transform.cols)
        seen = np.ones((transform.rows, transform.cols), np.bool_)
        if mask["keys"] != encoding.NO_KEY_LIMIT:
            seen &= keys < mask["keys"]
        if mask["causal"]:
            seen &= keys <= mask["first_row"] + np.arange(transform.rows)[:, np.newaxis]
        return seen

    def _exponent_constants(self, transform: Transform) -> tuple[ExponentConstants, int]:
        fields = dict(transform.state.fields[encoding.CONFIG_EXPONENT.name])
        unit, lowest = fields.pop("unit"), fields.pop("lowest")
        return ExponentConstants(lowest=-lowest, **fields), unit

    def _add_moments(self, transform: Transform, q: NDArray[np.int16]) -> None:
        kept, slots = self.statistics, self._slots(transform)
        wide = q.astype(np.int64)
        start = transform.setting("start")
        total = wide.sum(axis=1) + (0 if start else kept.total[slots])
        squares = (wide * wide).sum(axis=1) + (0 if start else kept.squares[slots])
        kept.total[slots] = total.astype(np.int32)
        kept.squares[slots] = squares & _SQUARES
        if transform.setting("finish"):
            self._finish_moments(slots, transform.setting("channels", encoding.CONFIG_NORM))

    def _finish_moments(self, slots: slice, channels: int) -> None:
        """As `row_statistics`, but in registers: sums that no row has wrap."""
        kept = self.statistics
        total = kept.total[slots].astype(np.int64)
        mean = _signed((2 * total + channels) // (2 * channels), MEAN_BITS)
        distances = (kept.squares[slots] - 2 * mean * total + channels * mean * mean) & _SQUARES
        kept.mean[slots] = mean
        kept.reciprocal[slots] = reciprocal31(np.maximum(isqrt(distances), 1))

    def _layernorm(self, transform: Transform, q: NDArray[np.int16]) -> list[NDArray[Any]]:
        kept, slots = self.statistics, self._slots(transform)
        y = normalize_by(q, kept.mean[slots], kept.reciprocal[slots])
        shifts = [transform.setting(name, encoding.CONFIG_NORM) for name in ("shift", "shift2")]
        types = [transform.type, transform.type2] if transform.two else [transform.type]
        return [
            Affine(*self._affine(transform, half), shift, KINDS[kind])(y)
            for half, (shift, kind) in enumerate(zip(shifts, types, strict=False))
        ]

    def _affine(self, transform: Transform, half: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gamma and beta of one result: its half of each parameter row."""
        ((first, count),) = transform.parameters(self.dim)
        rows = self.parameters[first : first + count].reshape(-1, 2, 2, self.dim // 2)[:, :, half]
        gamma, beta = (rows[:, kind].reshape(-1)[: transform.cols] for kind in (0, 1))
        return gamma.astype(np.int16), beta


_REGISTER: Final = (1 << 32) - 1
_SQUARES: Final = (1 << 48) - 1


def _signed(x: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """`x` modulo ``2**bits``, as a signed number."""
    half = 1 << bits - 1
    return (x + half & 2 * half - 1) - half
