"""The normal form of an expression: a sum of products of elements, each over axes of its own."""

from dataclasses import dataclass

from celosia.sw.frontend.expressions.nodes import (
    Access,
    Add,
    Apply,
    Axis,
    Compare,
    Expression,
    ExpressionError,
    Multiply,
    Number,
    Total,
    parts,
)

__all__ = ["Affine", "Factor", "Term", "affine", "axes_of", "terms"]

Factor = Access | Compare
"""What a product is made of, beside a number."""


@dataclass(frozen=True, eq=False)
class Term:
    """A number times factors, summed over some axes."""

    number: int
    factors: tuple[Factor, ...]
    over: tuple[Axis, ...] = ()

    def times(self, other: "Term") -> "Term":
        """The product of two terms."""
        factors, over = (*self.factors, *other.factors), (*self.over, *other.over)
        if len({id(axis) for axis in over}) < len(over):
            raise ExpressionError(f"two totals that are multiplied both run over {over[-1]}")
        return Term(self.number * other.number, factors, over)


def terms(expression: Expression) -> tuple[Term, ...]:
    """The terms whose sum an expression is.  Raises `ExpressionError`."""
    match expression:
        case Number():
            return (Term(expression.value, ()),) if expression.value else ()
        case Access() | Compare():
            return (Term(1, (expression,)),)
        case Add():
            return (*terms(expression.a), *terms(expression.b))
        case Multiply():
            left, right = terms(expression.a), terms(expression.b)
            return tuple(a.times(b) for a in left for b in right)
        case Total():
            inner = terms(expression.body)
            return tuple(Term(t.number, t.factors, (*t.over, *expression.axes)) for t in inner)
        case Axis():
            raise ExpressionError(
                f"{expression} is an axis: it may stand in indices and comparisons only"
            )
        case Apply():
            raise ExpressionError(
                f"{expression}: {expression.function} may only be around the whole of an element; "
                "compute it as a tensor of its own"
            )
        case _:
            raise ExpressionError(f"{expression} is no expression of elements")


@dataclass(frozen=True, eq=False)
class Affine:
    """A number, and axes times numbers."""

    start: int
    steps: dict[Axis, int]
    """The number of each axis, which is not 0."""

    @property
    def low(self) -> int:
        """The least value."""
        return self.start + sum(min(0, n * (axis.extent - 1)) for axis, n in self.steps.items())

    @property
    def high(self) -> int:
        """The largest value."""
        return self.start + sum(max(0, n * (axis.extent - 1)) for axis, n in self.steps.items())


def affine(expression: Expression) -> Affine:
    """An index as an affine expression of axes.  Raises `ExpressionError` if it is none."""
    match expression:
        case Number():
            return Affine(expression.value, {})
        case Axis():
            return Affine(0, {expression: 1})
        case Add():
            return _sum(affine(expression.a), affine(expression.b))
        case Multiply():
            left, right = affine(expression.a), affine(expression.b)
            if left.steps and right.steps:
                raise ExpressionError(f"{expression}: an index is a sum of axes times integers")
            number, other = (left.start, right) if right.steps else (right.start, left)
            steps = {axis: n * number for axis, n in other.steps.items() if n * number}
            return Affine(other.start * number, steps)
        case _:
            raise ExpressionError(f"{expression}: an index is a sum of axes times integers")


def _sum(a: Affine, b: Affine) -> Affine:
    steps = dict(a.steps)
    for axis, number in b.steps.items():
        steps[axis] = steps.get(axis, 0) + number
    return Affine(a.start + b.start, {axis: n for axis, n in steps.items() if n})


def axes_of(expression: Expression) -> tuple[Axis, ...]:
    """The axes that an expression depends on, in the order in which they stand there."""
    found = (each for each in parts(expression) if isinstance(each, Axis))
    return tuple(dict.fromkeys(found))
