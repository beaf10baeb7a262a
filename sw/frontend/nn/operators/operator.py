"""What an operator of the float graph is: types in, a type out, a meaning in NumPy, and traits.

A trait is a fact that passes ask of any operator: recognizers, placement, substitutions, costs and
the quantizer name no operators where a trait says it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.sw.mlir.operation import Attribute

__all__ = [
    "BOOL",
    "FLOATS",
    "INTEGERS",
    "NUMBERS",
    "TYPES",
    "Array",
    "Attributes",
    "GraphError",
    "Kind",
    "Operator",
    "Reach",
    "TensorType",
    "always",
    "broadcast_shapes",
    "expect",
    "normalized_axes",
    "normalized_axis",
    "same_types",
]

Array = NDArray[Any]
Attributes = Mapping[str, Attribute]

FLOATS: Final = ("float32", "float64")
INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS: Final = (*FLOATS, *INTEGERS)
BOOL: Final = ("bool",)
TYPES: Final = (*NUMBERS, *BOOL)
"""Element types of the float graph, by NumPy's names."""


class GraphError(ValueError):
    """What keeps a float graph from having a meaning; the message names the node and the rule."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and sizes of a tensor; a scalar has no sizes."""

    dtype: str
    """One of `TYPES`."""
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size of a dense copy."""
        return self.size * np.dtype(self.dtype).itemsize

    @property
    def is_float(self) -> bool:
        """Whether the elements are float32 or float64."""
        return self.dtype in FLOATS

    @staticmethod
    def of(array: Array) -> "TensorType":
        """The type of `array`."""
        return TensorType(str(array.dtype), array.shape)

    def __str__(self) -> str:
        return f"{self.dtype}[{'x'.join(map(str, self.shape))}]"


class Kind(StrEnum):
    """What an attribute is."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TEXT = "text"
    INTS = "ints"

    def fits(self, value: object) -> bool:
        """Whether `value` is of this kind."""
        match self:
            case Kind.INT:
                return isinstance(value, int) and not isinstance(value, bool)
            case Kind.FLOAT:
                return isinstance(value, float)
            case Kind.BOOL:
                return isinstance(value, bool)
            case Kind.TEXT:
                return isinstance(value, str)
            case Kind.INTS:
                return isinstance(value, tuple) and all(Kind.INT.fits(each) for each in value)


class Reach(StrEnum):
    """What an element of a result depends on."""

    ELEMENT = "element"
    """The elements at its place; operands broadcast."""
    ROW = "row"
    """The first operand's row at its place, and all of the other operands; of operators with an
    `axis`, if it is the last one."""
    SAMPLE = "sample"
    """The sample at its place along the first axis, and all of what is for each sample."""
    VIEW = "view"
    """It is an element of the first operand: nothing is computed or copied."""
    COPY = "copy"
    """It is an element of any operand: it is copied."""
    ALL = "all"
    """Elements at any place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator with one result.  Only last operands may lack, and what is `optional`."""

    name: str
    doc: str
    """One sentence of what the result is; operands are `a`, `b`, `c`, `d` in their order."""
    least: int = 1
    """Operands, at least."""
    most: int | None = 1
    """Operands, at most; None: as many as one likes."""
    attributes: Mapping[str, Kind] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Attributes that most have no use for, and lack."""
    infer: Callable[[Sequence[TensorType], Any], TensorType]
    """The type of the result; raises `GraphError` for operands that break a rule."""
    compute: Callable[[Sequence[Array], Any], Array]
    """The result, of the type that `infer` says."""
    reach: Reach
    weights: bool = False
    """Operands behind the first are weights, if they are constants."""
    macs: Callable[[Sequence[TensorType], TensorType], int] | None = None
    """Multiply-accumulates, by the types of operands and result; None: it is no product."""
    idle: Callable[[Any, TensorType], bool] | None = None
    """Whether these attributes leave the first operand as it is, if that is of the result's type.
    """
    neutral: float | None = None
    """The second operand that leaves the first as it is."""
    commutes: bool = False
    """Whether its two operands may change places."""
    curve: Callable[[float], Sequence[Attributes]] | None = None
    """For a curve, a function of the accelerator of the same name that is computed as the rows of a
    product drain: the attributes of curves that a file may have written out, where a factor of
    their operand is known.  For a factor of 1 the first one is what the accelerator computes; none:
    files have an operator for it."""
    bound: Callable[[Sequence[float]], float] | None = None
    """What no element is less than, by what none of each operand of floats is; None: nothing."""
    written: Literal["middle", "around"] | None = None
    """Where it stands in curves that files write out."""
    host: str = ""
    """What it does, as the reason why the host does it; nothing: the accelerator lacks it."""

    def result_type(self, types: Sequence[TensorType], attributes: Attributes) -> TensorType:
        """The type of the result.  Raises `GraphError`, also for wrong attributes."""
        if len(types) < self.least or (self.most is not None and len(types) > self.most):
            most = "" if self.most is None else f" to {self.most}"
            raise GraphError(f"{self.name} has {self.least}{most} operands, not {len(types)}")
        needed = self.attributes.keys() - self.optional
        if not needed <= attributes.keys() <= self.attributes.keys():
            names = ", ".join(self.attributes) or "none"
            raise GraphError(f"{self.name} has the attributes {names}, not {', '.join(attributes)}")
        for name, value in attributes.items():
            if not self.attributes[name].fits(value):
                raise GraphError(f"{self.name}: {name}: {value!r} is no {self.attributes[name]}")
        result = self.infer(types, attributes)
        if any(size < 0 for size in result.shape):
            raise GraphError(f"{self.name}: its result has sizes {result.shape}")
        return result


def always(attributes: Attributes, result: TensorType) -> bool:
    """For operators that are idle whenever their result is of their first operand's type."""
    del attributes, result
    return True


def expect(condition: bool, text: str) -> None:
    """Raise `GraphError` with this text unless `condition` holds."""
    if not condition:
        raise GraphError(text)


def same_types(types: Sequence[TensorType], allowed: Sequence[str]) -> str:
    """The one element type of all of these, which is among `allowed`; raises `GraphError`."""
    found = sorted({each.dtype for each in types})
    expect(len(found) == 1, f"its operands are of different types: {', '.join(found)}")
    expect(found[0] in allowed, f"it is not for {found[0]}")
    return found[0]


def broadcast_shapes(types: Sequence[TensorType]) -> tuple[int, ...]:
    """The shape that all of these broadcast to, by NumPy's rule; raises `GraphError`."""
    try:
        return np.broadcast_shapes(*(each.shape for each in types))
    except ValueError:
        shapes = " and ".join(str(each) for each in types)
        raise GraphError(f"{shapes} do not broadcast to one shape") from None


def normalized_axis(axis: int, rank: int) -> int:
    """`axis`, counted from the first; raises `GraphError` if there is no such axis."""
    expect(-rank <= axis < rank, f"axis {axis} is not in {-rank}..{rank - 1}")
    return axis % rank


def normalized_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """`axes`, counted from the first, in order; raises `GraphError` if one is named twice."""
    found = sorted(normalized_axis(axis, rank) for axis in axes)
    expect(len(set(found)) == len(found), f"axes {tuple(axes)} name one twice")
    return tuple(found)
