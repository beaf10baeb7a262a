"""Terms over the integers: what a program computes from inputs that are not known yet.

Equal terms are the same object.  Each knows bounds of its value, so that it can be made of as many
wires as it needs, and none of its operations overflows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from amaranth import Const, Module, Mux, Shape, Signal, Value
from amaranth.utils import bits_for

__all__ = [
    "Emitter",
    "Product",
    "Term",
    "add",
    "constant",
    "either",
    "equal",
    "evaluate",
    "inverse",
    "less",
    "low_bits",
    "multiply",
    "negate",
    "one_of",
    "right_shift",
    "variable",
]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An operation and its operands."""

    operation: str
    operands: "tuple[Term | int | str, ...]"
    low: int
    """No value is less."""
    high: int
    """No value is more."""

    @property
    def value(self) -> int | None:
        """What it is, if that is known."""
        return self.low if self.low == self.high else None

    @property
    def is_truth(self) -> bool:
        """It is 0 or 1."""
        return self.low >= 0 and self.high <= 1


_KNOWN: Final[dict[tuple[object, ...], Term]] = {}

Bounds = tuple[int, int]


def _term(operation: str, operands: tuple[Term | int | str, ...], bounds: Bounds) -> Term:
    low, high = bounds
    if low == high and operation != "constant":
        return constant(low)
    key = (operation, *operands, low, high)
    if key not in _KNOWN:
        _KNOWN[key] = Term(operation, operands, low, high)
    return _KNOWN[key]


def constant(value: int) -> Term:
    """A number."""
    return _term("constant", (int(value),), (int(value), int(value)))


def variable(name: str, bits: int) -> Term:
    """An unsigned input."""
    return _term("variable", (name,), (0, (1 << bits) - 1))


def _bounds(term: Term) -> Bounds:
    return term.low, term.high


def add(one: Term, other: Term, bounds: tuple[Bounds, Bounds] | None = None) -> Term:
    """The sum; `bounds` of the operands may be tighter than what holds everywhere."""
    if one.value == 0:
        return other
    if other.value == 0:
        return one
    (a, b), (c, d) = bounds or (_bounds(one), _bounds(other))
    return _term("add", (one, other), (a + c, b + d))


def negate(term: Term) -> Term:
    """Its opposite."""
    if term.operation == "negate":
        (inner,) = term.operands
        assert isinstance(inner, Term)
        return inner
    if term.operation == "right_shift":  # A quotient that is rounded up.
        shifted, bits = term.operands
        assert isinstance(shifted, Term)
        assert isinstance(bits, int)
        if shifted.operation == "negate":
            return right_shift(add(negate(shifted), constant((1 << bits) - 1)), bits)
    return _term("negate", (term,), (-term.high, -term.low))


def multiply(one: Term, other: Term, bounds: tuple[Bounds, Bounds] | None = None) -> Term:
    """The product; `bounds` of the operands may be tighter than what holds everywhere."""
    if one.value == 1:
        return other
    if other.value == 1:
        return one
    (a, b), (c, d) = bounds or (_bounds(one), _bounds(other))
    products = (a * c, a * d, b * c, b * d)
    return _term("multiply", (one, other), (min(products), max(products)))


def right_shift(term: Term, bits: int) -> Term:
    """The quotient by a power of two, rounded down."""
    if bits == 0:
        return term
    return _term("right_shift", (term, bits), (term.low >> bits, term.high >> bits))


def low_bits(term: Term, bits: int) -> Term:
    """The remainder of a division by a power of two."""
    if term.low >= 0 and term.high < 1 << bits:
        return term
    return _term("low_bits", (term, bits), (0, (1 << bits) - 1))


def either(one: Term, other: Term) -> Term:
    """The bits that one of two terms, neither of them negative, has."""
    assert min(one.low, other.low) >= 0
    most = (1 << max(one.high, other.high).bit_length()) - 1
    return _term("either", (one, other), (max(one.low, other.low), most))


def equal(one: Term, other: Term) -> Term:
    """Whether two terms are equal."""
    if one is other:
        return constant(1)
    if one.high < other.low or other.high < one.low:
        return constant(0)
    for term, number in ((one, other.value), (other, one.value)):
        if term.is_truth and number is not None:
            return term if number else inverse(term)
    return _term("equal", (one, other), (0, 1))


def less(one: Term, other: Term) -> Term:
    """Whether the first one is less."""
    if one.high < other.low:
        return constant(1)
    if one.low >= other.high:
        return constant(0)
    return _term("less", (one, other), (0, 1))


def inverse(term: Term) -> Term:
    """Whether a truth is 0."""
    assert term.is_truth
    if term.operation == "inverse":
        (inner,) = term.operands
        assert isinstance(inner, Term)
        return inner
    return _term("inverse", (term,), (1 - term.high, 1 - term.low))


def one_of(condition: Term, yes: Term, no: Term) -> Term:
    """`yes` where the condition holds, else `no`."""
    if condition.value is not None:
        return yes if condition.value else no
    if yes is no:
        return yes
    if yes.is_truth and no.is_truth:
        if (yes.value, no.value) == (1, 0):
            return condition
        if (yes.value, no.value) == (0, 1):
            return inverse(condition)
    bounds = min(yes.low, no.low), max(yes.high, no.high)
    return _term("one_of", (condition, yes, no), bounds)


_EVALUATE: Final = {
    "constant": lambda value: value,
    "add": lambda one, other: one + other,
    "negate": lambda term: -term,
    "multiply": lambda one, other: one * other,
    "right_shift": lambda term, bits: term >> bits,
    "low_bits": lambda term, bits: term & ((1 << bits) - 1),
    "either": lambda one, other: one | other,
    "equal": lambda one, other: int(one == other),
    "less": lambda one, other: int(one < other),
    "inverse": lambda term: 1 - term,
    "one_of": lambda condition, yes, no: yes if condition else no,
}


def evaluate(term: Term, inputs: Mapping[str, int], known: dict[Term, int] | None = None) -> int:
    """The value where the variables are `inputs`; `known` are those of other terms."""
    known = {} if known is None else known
    if term not in known:
        if term.operation == "variable":
            (name,) = term.operands
            known[term] = inputs[str(name)]
        else:
            values = [
                evaluate(operand, inputs, known) if isinstance(operand, Term) else operand
                for operand in term.operands
            ]
            known[term] = _EVALUATE[term.operation](*values)
    return known[term]


_EMIT: Final = {
    "add": lambda one, other: one + other,
    "negate": lambda term: -term,
    "multiply": lambda one, other: one * other,
    "right_shift": lambda term, bits: term >> bits,
    "low_bits": lambda term, bits: term[:bits],
    "either": lambda one, other: one | other,
    "equal": lambda one, other: one == other,
    "less": lambda one, other: one < other,
    "inverse": lambda term: ~term[0],
    "one_of": Mux,
}


class Product(NamedTuple):
    """Two factors, and what is their product: the harness takes it for granted."""

    one: Value
    other: Value
    product: Value


class Emitter:
    """Makes hardware of terms, in a module.

    Each is a signal of its own: Amaranth copies what is part of several expressions.

    `products` are what else multiplies: where a term multiplies the same, their product is one, and
    nobody has to find out that two multipliers agree.
    """

    def __init__(self, m: Module, inputs: Mapping[str, Value], products: Sequence[Product] = ()):
        self._m, self._inputs, self._products = m, inputs, products
        self._known: dict[Term, Value] = {}

    def of(self, term: Term) -> Value:
        """The value of a term, where its variables are the inputs."""
        if term not in self._known:
            self._known[term] = self._made(term)
        return self._known[term]

    def _made(self, term: Term) -> Value:
        if term.operation == "constant":
            return Const(term.low)
        if term.operation == "variable":
            (name,) = term.operands
            return self._inputs[str(name)]
        operands = [
            self.of(operand) if isinstance(operand, Term) else operand for operand in term.operands
        ]
        signed = term.low < 0
        width = max(bits_for(bound, signed) for bound in (term.low, term.high))
        made = Signal(Shape(width, signed), name=f"{term.operation}_{len(self._known)}")
        self._m.d.comb += made.eq(self._result(term, operands))
        return made

    def _result(self, term: Term, operands: list[Any]) -> Value:
        result = _EMIT[term.operation](*operands)
        if term.operation == "multiply":
            one, other = operands
            for each in self._products:
                same = (one == each.one) & (other == each.other)
                result = Mux(same, each.product, result)
        return result
