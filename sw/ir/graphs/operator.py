"""What all operators of a graph have in common, and what they ask of the graph that they are in."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.operands import Operands
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.isa.numerics import MAX_COLUMNS
from celosia.sw.ir.graphs.tensors import Scale, Tensor, View

__all__ = ["Array", "Operator", "Part", "Rules", "Values", "number", "zero"]

Array = NDArray[Any]


class Part:
    """A frozen dataclass of views, numbers and other parts: an operator, or what one is made of."""

    __slots__ = ()
    READS: ClassVar[tuple[str, ...]] = ()
    """The fields of what it reads, in this order."""
    WRITES: ClassVar[tuple[str, ...]] = ()
    """The fields of what it writes, in this order."""
    ROWS: ClassVar[tuple[str, ...]] = ()
    """The fields that have a row for each row of the result."""
    COLS: ClassVar[tuple[str, ...]] = ()
    """The fields that have a column for each column of the result."""

    @property
    def operands(self) -> tuple[View, ...]:
        """Everything that it reads."""
        return _views(tuple(getattr(self, name) for name in self.READS), "operands")

    @property
    def results(self) -> tuple[View, ...]:
        """Everything that it writes."""
        return _views(tuple(getattr(self, name) for name in self.WRITES), "results")

    def some_rows(self, first: int, rows: int) -> Self:
        """The same for these of its rows, counted from its first."""
        return self._cut(self.ROWS, "some_rows", first, rows)

    def some_cols(self, first: int, cols: int) -> Self:
        """The same for these of its columns, counted from its first."""
        return self._cut(self.COLS, "some_cols", first, cols)

    def _cut(self, names: tuple[str, ...], how: str, first: int, size: int) -> Self:
        assert is_dataclass(self)
        return replace(self, **{n: _some(getattr(self, n), how, first, size) for n in names})


def _views(value: object, side: str) -> tuple[View, ...]:
    match value:
        case View():
            return (value,)
        case tuple():
            return tuple(view for each in value for view in _views(each, side))
        case Part():
            return getattr(value, side)
        case _:
            return ()


def _some(value: object, how: str, first: int, size: int) -> object:
    match value:
        case View() if how == "some_rows":
            return value.part(row=first, rows=size)
        case View():
            return value.part(col=first, cols=size)
        case tuple():
            return tuple(_some(each, how, first, size) for each in value)
        case Part():
            return getattr(value, how)(first, size)
        case _:
            return value


class Operator(Part, ABC):
    """An operator of a graph."""

    __slots__ = ()
    name: str

    @property
    @abstractmethod
    def alike(self) -> tuple[object, ...]:
        """What operators have in common that take about as long."""

    @property
    def rows(self) -> int:
        """The rows of each of its results."""
        return self.results[0].rows

    @property
    def has_some_rows(self) -> bool:
        """Whether it can be computed for some of its rows."""
        return True

    @property
    def has_some_cols(self) -> bool:
        """Whether it can be computed for some of its columns."""
        return bool(self.COLS)

    @abstractmethod
    def check(self, rules: "Rules") -> None:
        """Raise `ValueError` that says which type, shape or number is wrong."""

    @abstractmethod
    def compute(self, values: "Values") -> None:
        """Write what it makes of what it reads."""


class Rules:
    """What operators of a graph have to keep."""

    def __init__(self, tensors: Mapping[str, Tensor], constants: Mapping[str, Array]):
        self.tensors, self.constants = tensors, constants

    def type(self, view: View) -> str:
        """The type of its elements."""
        return self.tensors[view.tensor].type

    def expect(self, view: View, role: str, shape: tuple[int, int], *types: str) -> None:
        """Check that a view is of one of these types, and of this shape."""
        kind = self.type(view)
        if kind not in types:
            raise ValueError(f"{role}: {view} is {kind}, not {' or '.join(types)}")
        if view.shape != shape:
            rows, cols = shape
            raise ValueError(f"{role}: {view} is {view.rows}x{view.cols}, not {rows}x{cols}")

    def scale(self, scale: Scale, cols: int) -> None:
        """Check a scale of so many columns."""
        if isinstance(scale, View):
            self.expect(scale, "scale", (1, cols), "float32")
            values = self.constants.get(scale.tensor)
            if values is None:
                raise ValueError(f"scale: {scale} is not a constant")
            if not np.isfinite(values[scale.slices]).all():
                raise ValueError(f"scale: {scale} is not finite everywhere")
        elif not np.isfinite(_float32(scale)):
            raise ValueError(f"scale: {scale} is not a finite float32")

    def score_scale(self, scale: float) -> None:
        """Check the scale of scores, whose order it keeps."""
        factor = _float32(scale)
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(f"scale: {scale} is not one positive finite float32")

    def zero_point(self, out: View, zero_point: int) -> None:
        """Check what is added to the elements of `out`."""
        largest = 255 if self.type(out) == "uint8" else 0
        if not 0 <= zero_point <= largest:
            raise ValueError(f"zero point: {zero_point} is not in 0..{largest}")

    def row_of(self, cols: int) -> None:
        """Check that rows of so many columns may have statistics."""
        if cols > MAX_COLUMNS:
            raise ValueError(f"rows of {cols} columns are longer than the {MAX_COLUMNS} supported")


class Values:
    """The tensors computed so far: what operators read and write."""

    def __init__(self, constants: Mapping[str, Array], values: dict[str, Array]):
        self.constants, self.values = constants, values

    def read(self, view: View) -> Array:
        """The elements of a view."""
        values = self.constants if view.tensor in self.constants else self.values
        return values[view.tensor][view.slices]

    def write(self, view: View, value: Array) -> None:
        """Set the elements of a view."""
        self.values[view.tensor][view.slices] = value

    def scale(self, scale: Scale) -> Array | np.float32:
        """One float32, or one for each column."""
        return self.read(scale) if isinstance(scale, View) else np.float32(scale)

    def finish(self, op: Any, sums: Array) -> Array:
        """What the finish of `op` makes of its sums; others may know them more exactly."""
        return op.finish.of(self, op.out, sums)

    def computed(self, function: Function, out: View, x: Array, **operands: Any) -> Array:
        """What the instruction set's `function` makes of `x`, for `out`."""
        kind = self.values[out.tensor].dtype
        (result,) = FUNCTIONS[function].meaning(Operands(x=x, kind=kind, **operands))
        return result


def number(scale: Scale) -> str:
    """A scale in texts."""
    if isinstance(scale, View):
        return str(scale)
    return str(_float32(scale))


def zero(zero_point: int) -> str:
    """A zero point in texts, if there is one."""
    return f", zero point {zero_point}" if zero_point else ""


def _float32(scale: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(scale)
