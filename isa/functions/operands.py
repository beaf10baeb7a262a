"""What a function of TRANSFORM is applied to, and what it knows of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import INT32_MIN, Affine

__all__ = ["Array", "Operands", "Statistics"]

Array = NDArray[Any]

_INT8: Final = np.dtype(np.int8)
_ONE: Final = np.float32(1)
_NOTHING: Final[Mapping[str, int]] = {}


@dataclass(frozen=True)
class Statistics:
    """The statistics memory: a slot for each row, as wide as the registers are."""

    maximum: NDArray[np.int32]
    """The largest visible score before it is scaled."""
    total: NDArray[np.int32]
    """The sum of exponents, numerators or elements, modulo 2^32."""
    squares: NDArray[np.int64]
    """The sum of the elements' squares, modulo 2^48."""
    mean: NDArray[np.int64]
    """The mean of the elements: 17 bits signed."""
    reciprocal: NDArray[np.int64]
    """The reciprocal of the sum, or of the root of the squared distances: 32 bits unsigned."""

    @classmethod
    def zeros(cls, slots: int) -> Self:
        """`slots` slots of zeros."""
        narrow = [np.zeros(slots, np.int32) for _ in range(2)]
        wide = [np.zeros(slots, np.int64) for _ in range(3)]
        return cls(narrow[0], narrow[1], wide[0], wide[1], wide[2])

    @classmethod
    def garbage(cls, slots: int, random: np.random.Generator) -> Self:
        """`slots` slots of whatever the registers can hold."""
        return cls(
            random.integers(INT32_MIN, 1 << 31, slots).astype(np.int32),
            random.integers(INT32_MIN, 1 << 31, slots).astype(np.int32),
            random.integers(0, 1 << 48, slots),
            random.integers(-(1 << 16), 1 << 16, slots),
            random.integers(0, 1 << 32, slots),
        )

    def slots(self, first: int, count: int) -> "Statistics":
        """A view of `count` slots from `first` on: what is written to it is written here."""
        part = slice(first, first + count)
        return Statistics(
            self.maximum[part],
            self.total[part],
            self.squares[part],
            self.mean[part],
            self.reciprocal[part],
        )


@dataclass(frozen=True, kw_only=True)
class Operands:
    """The operands of one TRANSFORM as arrays; a function ignores those that it does not use."""

    x: Array
    """The source, ``rows`` x ``cols``: int32 with the bias added, or int16 of a staged source."""
    kind: np.dtype[Any] = _INT8
    """The type of the result."""
    scale: Array | np.float32 = _ONE
    """One float32, or one for each column."""
    scale2: Array | np.float32 = _ONE
    """The second scale, one float32."""
    zero_point: int = 0
    """What is added to a rounded uint8."""
    relu: bool = False
    stored: bool = False
    """Scores saturate to int16, as those that wait in memory do."""
    residual: Array | None = None
    """The int16 that is added, or multiplies, or rotates, of the shape of `x`."""
    affines: tuple[Affine, ...] = ()
    """Gamma, beta, shift and type of each result of a normalization."""
    visible: Array | None = None
    """True where a column counts, ``rows`` x ``cols``; None: everywhere."""
    constants: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """The fields of the instruction that sets the function's constants; empty: their defaults."""
    start: bool = False
    """The rows' statistics start afresh."""
    finish: bool = False
    """The rows' statistics are complete."""
    moments: bool = False
    """A residual counts as moments as well."""
    channels: int = 0
    """Elements of a whole row, for moments that are complete."""
    epsilon: int = 0
    """What is then added to the sum of squared distances."""
    rms: bool = False
    """Distances are then from 0, not from the mean."""
    statistics: Statistics | None = None
    """The slots of the rows, which the function may change."""

    @property
    def slots(self) -> Statistics:
        """The slots of the rows, for a function that uses some."""
        assert self.statistics is not None
        return self.statistics
