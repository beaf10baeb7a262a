"""What expressions are made of."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

__all__ = [
    "Access",
    "Add",
    "Apply",
    "Axis",
    "Compare",
    "Expression",
    "ExpressionError",
    "Multiply",
    "Number",
    "Tensor",
    "Total",
    "integer",
    "parts",
]


class ExpressionError(ValueError):
    """What is wrong with an expression, in one sentence."""


class Expression:
    """An integer for each point of the axes that it depends on."""

    __slots__ = ()

    def __add__(self, other: Any) -> "Expression":
        return Add(self, integer("+", other))

    def __radd__(self, other: Any) -> "Expression":
        return Add(integer("+", other), self)

    def __sub__(self, other: Any) -> "Expression":
        return Add(self, Multiply(Number(-1), integer("-", other)))

    def __rsub__(self, other: Any) -> "Expression":
        return Add(integer("-", other), Multiply(Number(-1), self))

    def __neg__(self) -> "Expression":
        return Multiply(Number(-1), self)

    def __mul__(self, other: Any) -> "Expression":
        return Multiply(self, integer("*", other))

    def __rmul__(self, other: Any) -> "Expression":
        return Multiply(integer("*", other), self)

    def __le__(self, other: Any) -> "Expression":
        return Compare("<=", self, integer("<=", other))

    def __lt__(self, other: Any) -> "Expression":
        return Compare("<", self, integer("<", other))

    def __ge__(self, other: Any) -> "Expression":
        return Compare("<=", integer(">=", other), self)

    def __gt__(self, other: Any) -> "Expression":
        return Compare("<", integer(">", other), self)

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"{self} has another value at each point: multiply by it instead of asking with if, "
            "and, or, min or max"
        )


@dataclass(frozen=True, eq=False, slots=True)
class Number(Expression):
    """The same integer everywhere."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, eq=False, slots=True)
class Axis(Expression):
    """0 to `extent` - 1."""

    name: str
    extent: int
    reduced: bool = False
    """A total runs over it; else it is one of a computed tensor."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Add(Expression):
    """The sum of two."""

    a: Expression
    b: Expression

    def __str__(self) -> str:
        return f"({self.a} + {self.b})"


@dataclass(frozen=True, eq=False, slots=True)
class Multiply(Expression):
    """The product of two."""

    a: Expression
    b: Expression

    def __str__(self) -> str:
        return f"{self.a}*{self.b}"


@dataclass(frozen=True, eq=False, slots=True)
class Compare(Expression):
    """1 where a comparison of two holds, and 0 elsewhere."""

    how: Literal["<", "<="]
    a: Expression
    b: Expression

    def __str__(self) -> str:
        return f"({self.a} {self.how} {self.b})"


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor by name: given, known, or computed."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    low: int
    """Its least element, as far as is known."""
    high: int
    """Its largest element, as far as is known."""
    value: NDArray[Any] | None = field(default=None, repr=False)
    """Its elements, if they are known."""
    axes: tuple[Axis, ...] = ()
    body: Expression | None = None
    """What each element is, if it is computed."""

    def __getitem__(self, indices: Any) -> "Access":
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != len(self.shape):
            raise ExpressionError(
                f"{self.name}[{', '.join(map(str, given))}]: {len(given)} indices, but "
                f"{self.name} has {len(self.shape)} axes"
            )
        return Access(self, tuple(integer(f"an index of {self.name}", each) for each in given))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{'x'.join(map(str, self.shape))}]"


@dataclass(frozen=True, eq=False, slots=True)
class Access(Expression):
    """An element of a tensor."""

    tensor: Tensor
    indices: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.tensor.name}[{', '.join(map(str, self.indices))}]"


@dataclass(frozen=True, eq=False, slots=True)
class Total(Expression):
    """The sum over some axes."""

    body: Expression
    axes: tuple[Axis, ...]

    def __str__(self) -> str:
        return f"total({self.body}, {', '.join(map(str, self.axes))})"


@dataclass(frozen=True, eq=False, slots=True)
class Apply(Expression):
    """What a function of TRANSFORM makes of each element: it rounds and saturates."""

    function: str
    x: Expression
    scale: float
    out_scale: float = 1.0
    zero_point: int = 0
    relu: bool = False

    def __str__(self) -> str:
        return f"{self.function}({self.x})"


def integer(place: str, value: object) -> Expression:
    """An expression, or an integer as one.  Raises `ExpressionError` that names the place."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, Tensor):
        raise ExpressionError(f"{place}: {value.name} is a tensor; say which element, as in a[i]")
    if isinstance(value, bool):
        raise ExpressionError(
            f"{place}: {value} is no expression; == does not compare axes: write "
            "(i <= j) * (j <= i)"
        )
    whole = getattr(value, "__index__", None)
    if whole is None:
        raise ExpressionError(f"{place}: {value!r} is no integer and no expression of axes")
    return Number(whole())


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and everything within it; indices, but not what tensors are computed from."""
    yield expression
    match expression:
        case Add() | Multiply() | Compare():
            inner = (expression.a, expression.b)
        case Total():
            inner = (expression.body,)
        case Apply():
            inner = (expression.x,)
        case Access():
            inner = expression.indices
        case _:
            inner = ()
    for each in inner:
        yield from parts(each)
