"""Finishes: what happens to int32 sums on their way out of the accumulator."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import lcm
from typing import ClassVar, Final, Self

import numpy as np

from celosia.isa import numerics
from celosia.isa.functions.table import ACTIVATIONS, Function
from celosia.isa.numerics import MAX_COLUMNS
from celosia.sw.ir.graphs.operator import Array, Part, Rules, Values, number, zero
from celosia.sw.ir.graphs.tensors import Scale, View

__all__ = [
    "NO_MASK",
    "Activation",
    "AddResidual",
    "DeferredSoftmax",
    "DivideBySums",
    "Finish",
    "Mask",
    "Requantize",
    "Softmax",
    "Sums",
    "visible_columns",
]


@dataclass(frozen=True, slots=True)
class Mask(Part):
    """Which columns of a row of scores count: column c is key c, row r the query behind others."""

    keys: int | None = None
    """How many keys there are, from the first; None: every column is one."""
    causal: bool = False
    """A query does not see later keys."""
    first_row: int = 0
    """The position of the query of row 0: so many keys come before its own."""
    window: int | None = None
    """How many keys a query sees at most, its own the last; None: all before it, too."""
    ring: int | None = None
    """Columns are the places of a ring of so many keys: the first row's key is in `first_row`, and
    those behind hold the keys before place 0; None: columns are keys."""
    moving: bool = False
    """Programs are patched for other first rows, which are not greater, and for other rows of
    caches: nothing may depend on what they are."""

    def check(self, rules: Rules, cols: int) -> None:
        """Raise `ValueError` that says what is wrong for rows of so many columns."""
        rules.row_of(cols)
        if self.keys is not None and not 0 <= self.keys <= cols:
            raise ValueError(f"keys: {self.keys} is not in 0..{cols}")
        if not 0 <= self.first_row < MAX_COLUMNS:
            raise ValueError(f"first row: {self.first_row} is not in 0..{MAX_COLUMNS - 1}")
        if self.moving and not self.causal:
            raise ValueError("moving: a mask that is not causal has no first row")
        if self.window is not None:
            if not self.causal:
                raise ValueError("window: a mask that is not causal has none")
            if not 1 <= self.window <= MAX_COLUMNS:
                raise ValueError(f"window: {self.window} keys are not in 1..{MAX_COLUMNS}")
        if self.ring is not None:
            if self.window is None or self.keys is not None:
                raise ValueError("ring: only all keys of a window are in one")
            if not self.window <= self.ring <= MAX_COLUMNS:
                raise ValueError(f"ring: {self.ring} is not in {self.window}..{MAX_COLUMNS}")

    def some_rows(self, first: int, rows: int) -> Self:
        """The mask of later rows."""
        return replace(self, first_row=self.first_row + first) if self.causal else self

    def __str__(self) -> str:
        parts = [] if self.keys is None else [f"keys {self.keys}"]
        parts += ["causal"] * self.causal + [f"first row {self.first_row}"] * bool(self.first_row)
        parts += [] if self.window is None else [f"window {self.window}"]
        parts += [] if self.ring is None else [f"ring {self.ring}"]
        parts += ["moving"] * self.moving
        return "".join(f", {part}" for part in parts)


NO_MASK: Final = Mask()
"""Every column counts in every row."""


class _Finish(Part):
    """What finishes have in common."""

    __slots__ = ()
    READS = COLS = ("scale",)
    TYPES: ClassVar[tuple[str, ...]] = ("int8", "uint8", "int16")
    """What its results may be."""
    whole_rows: ClassVar[bool] = False
    """An element depends on all others of its row."""

    @abstractmethod
    def check(self, rules: Rules, out: View) -> None:
        """Raise `ValueError` that says what is wrong for the result `out`."""

    @abstractmethod
    def of(self, values: Values, out: View, sums: Array) -> Array:
        """What it makes of `sums`, for the result `out`."""


@dataclass(frozen=True, slots=True)
class Sums(_Finish):
    """A finish that leaves sums as they are: int32."""

    TYPES = ("int32",)
    READS = COLS = ()

    def check(self, rules: Rules, out: View) -> None:
        """Nothing can be wrong."""

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """The sums."""
        return sums

    def __str__(self) -> str:
        return "sums"


@dataclass(frozen=True, slots=True)
class Requantize(_Finish):
    """A scaling to int8, int16, or uint8 with a zero point."""

    scale: Scale
    zero_point: int = 0
    relu: bool = False

    def check(self, rules: Rules, out: View) -> None:
        """The scale, and the zero point."""
        rules.scale(self.scale, out.cols)
        rules.zero_point(out, self.zero_point)

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """Scaled sums."""
        how = {"scale": values.scale(self.scale), "zero_point": self.zero_point, "relu": self.relu}
        return values.computed(Function.REQUANTIZE, out, sums, **how)

    def __str__(self) -> str:
        return f"requantize {number(self.scale)}{zero(self.zero_point)}{', relu' * self.relu}"


@dataclass(frozen=True, slots=True)
class Activation(_Finish):
    """A curve of each element as int16, to uint8 with a zero point, int8 or int16."""

    function: str
    """Its name in `celosia.isa.functions.table.ACTIVATIONS`."""
    scale: Scale
    """The scale of the first step, from sums to int16 with the curve's fraction bits."""
    out_scale: float
    """The scale of the second step, from the raw result of the curve to the output."""
    zero_point: int = 0

    def check(self, rules: Rules, out: View) -> None:
        """The function, the scales, and the zero point."""
        if self.function not in ACTIVATIONS:
            raise ValueError(f"function: {self.function!r} is none of {', '.join(ACTIVATIONS)}")
        rules.scale(self.scale, out.cols)
        rules.scale(self.out_scale, out.cols)
        rules.zero_point(out, self.zero_point)

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """The curve of scaled sums, scaled."""
        scale, scale2 = values.scale(self.scale), np.float32(self.out_scale)
        how = {"scale": scale, "scale2": scale2, "zero_point": self.zero_point}
        return values.computed(Function[self.function.upper()], out, sums, **how)

    def __str__(self) -> str:
        scales = f"{number(self.scale)} -> {number(self.out_scale)}"
        return f"{self.function} {scales}{zero(self.zero_point)}"


@dataclass(frozen=True, slots=True)
class AddResidual(_Finish):
    """The sum of two terms, each with its scale: to int16."""

    TYPES = ("int16",)
    READS = COLS = ("scale", "residual")
    ROWS = ("residual",)

    scale: Scale
    residual: View
    """The other term, int16."""
    residual_scale: float

    def check(self, rules: Rules, out: View) -> None:
        """The scales, and the other term."""
        rules.scale(self.scale, out.cols)
        rules.scale(self.residual_scale, out.cols)
        rules.expect(self.residual, "residual", out.shape, "int16")

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """The sum of both terms."""
        scale, scale2 = values.scale(self.scale), np.float32(self.residual_scale)
        stream = values.read(self.residual)
        how = {"scale": scale, "scale2": scale2, "residual": stream}
        return values.computed(Function.RESIDUAL, out, sums, **how)

    def __str__(self) -> str:
        scale, other = number(self.scale), number(self.residual_scale)
        return f"add_residual {scale}, {self.residual} {other}"


@dataclass(frozen=True, slots=True)
class Softmax(_Finish):
    """Softmax over rows of scores: to uint8, int8 or int16, whose largest number is 1."""

    TYPES = ("uint8", "int8", "int16")
    whole_rows = True
    ROWS = ("mask",)

    scale: float
    """The scale from sums to scores with 10 fraction bits; positive."""
    mask: Mask = NO_MASK

    def check(self, rules: Rules, out: View) -> None:
        """The scale, and the mask."""
        rules.score_scale(self.scale)
        self.mask.check(rules, out.cols)

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """The shares of scores in their row."""
        scores = numerics.attention_scores(sums, self.scale)
        kind = values.values[out.tensor].dtype
        return numerics.softmax(scores, kind, visible_columns(self.mask, scores))

    def __str__(self) -> str:
        return f"softmax {number(self.scale)}{self.mask}"


@dataclass(frozen=True, slots=True)
class DeferredSoftmax(_Finish):
    """Softmax over rows of scores, not divided yet: uint8 numerators, and each row's sum apart."""

    TYPES = ("uint8",)
    whole_rows = True
    WRITES = ("sums",)
    ROWS = ("mask", "sums")

    scale: float
    """The scale from sums to scores with 10 fraction bits; positive."""
    sums: View
    mask: Mask = NO_MASK
    stored: bool = False
    """Scores are int16, -32 to 32 as real numbers, so that they may wait in memory."""
    dithered: bool = False
    """Numerators are rounded by the numbers of their keys, so that many small ones lose nothing."""

    def begins(self, dim: int) -> int:
        """The multiple of keys at which parts of rows may begin, for tiles of `dim` columns."""
        return lcm(dim, numerics.DITHER_COLUMNS) if self.dithered else dim

    def check(self, rules: Rules, out: View) -> None:
        """The scale, the mask, and the sums."""
        rules.score_scale(self.scale)
        self.mask.check(rules, out.cols)
        rules.expect(self.sums, "sums", (out.rows, 1), "int32")

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """Numerators; their sums are written."""
        scores = numerics.attention_scores(sums, self.scale, stored=self.stored)
        value, totals = numerics.deferred_softmax(
            scores, visible_columns(self.mask, scores), dithered=self.dithered
        )
        values.write(self.sums, totals[:, np.newaxis])
        return value

    def __str__(self) -> str:
        how = ", stored" * self.stored + ", dithered" * self.dithered
        return f"deferred_softmax {number(self.scale)}{self.mask}{how}, sums to {self.sums}"


@dataclass(frozen=True, slots=True)
class DivideBySums(_Finish):
    """A product with numerators: each row over its sum (16 more fraction bits), requantized."""

    READS = ("scale", "sums")
    ROWS = ("sums",)

    sums: View
    scale: Scale

    def check(self, rules: Rules, out: View) -> None:
        """The scale, and the sums."""
        rules.scale(self.scale, out.cols)
        rules.expect(self.sums, "sums", (out.rows, 1), "int32")

    def of(self, values: Values, out: View, sums: Array) -> Array:
        """Sums over those of their rows."""
        context = numerics.deferred_context(sums, values.read(self.sums)[:, 0])
        return values.computed(Function.REQUANTIZE, out, context, scale=values.scale(self.scale))

    def __str__(self) -> str:
        return f"divide_by {self.sums}, requantize {number(self.scale)}"


Finish = Sums | Requantize | Activation | AddResidual | Softmax | DeferredSoftmax | DivideBySums
"""What happens to int32 sums on their way out of the accumulator."""


def visible_columns(mask: Mask, scores: Array) -> Array | None:
    """True where a column counts; None: everywhere."""
    rows, columns = scores.shape
    visible = None
    if mask.keys is not None:
        visible = numerics.padding_mask(mask.keys, columns)
    if mask.causal:
        earlier = numerics.causal_mask(rows, columns, mask.first_row, mask.window, mask.ring)
        visible = earlier if visible is None else earlier & visible
    return visible
