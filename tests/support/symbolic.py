"""Runs Python on integers that are not known yet.

Where a program decides by such an integer, it is run again for each decision: what it does for any
input is a tree of decisions with a result at each end.  Nothing is left out: the two sides of a
decision are both followed, unless one contradicts what was decided before.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from tests.support import terms
from tests.support.terms import Bounds, Term

__all__ = ["Failed", "Number", "Outcomes", "choose", "explore", "number", "summarized", "truth"]

_MOST_VALUES: Final = 256
"""Of what stands for a key or an index."""


class _Path:
    """One run: the decisions that it is to take first, and those that it took."""

    def __init__(self, first: list[bool], outer: "_Path | None" = None):
        self.first = first
        self.taken: list[tuple[Term, bool]] = []
        self.facts: dict[Term, bool] = dict(outer.facts) if outer else {}
        self.bounds: dict[Term, Bounds] = dict(outer.bounds) if outer else {}

    def bounds_of(self, term: Term) -> Bounds:
        """Of its value, on this path."""
        return self.bounds.get(term, (term.low, term.high))

    def decide(self, condition: Term) -> bool:
        """Whether a truth holds on this path."""
        if condition.operation == "inverse":
            (inner,) = condition.operands
            assert isinstance(inner, Term)
            return not self.decide(inner)
        known = self._known(condition)
        if known is not None:
            return known
        place = len(self.taken)
        choice = self.first[place] if place < len(self.first) else True
        self.taken.append((condition, choice))
        self._learn(condition, choice)
        return choice

    def _known(self, condition: Term) -> bool | None:
        """Whether it holds, if that follows from earlier decisions."""
        low, high = self.bounds_of(condition)
        if low == high:
            return bool(low)
        if condition in self.facts:
            return self.facts[condition]
        if condition.operation in ("equal", "less"):
            (a, b), (c, d) = map(self.bounds_of, _pair(condition))
            if b < c or (condition.operation == "equal" and d < a):
                return condition.operation == "less"
            if condition.operation == "less":
                return False if a >= d else None
            return True if a == b == c == d else None
        return None

    def _learn(self, condition: Term, holds: bool) -> None:
        self.facts[condition] = holds
        self.bounds[condition] = int(holds), int(holds)
        if condition.operation in ("equal", "less"):
            one, other = _pair(condition)
            (a, b), (c, d) = self.bounds_of(one), self.bounds_of(other)
            if condition.operation == "equal":
                if holds:
                    self.bounds[one] = self.bounds[other] = max(a, c), min(b, d)
                elif c == d:
                    self.bounds[one] = a + (a == c), b - (b == c)
                elif a == b:
                    self.bounds[other] = c + (c == a), d - (d == a)
            elif holds:
                self.bounds[one], self.bounds[other] = (a, min(b, d - 1)), (max(c, a + 1), d)
            else:
                self.bounds[one], self.bounds[other] = (max(a, c), b), (c, min(d, b))


def _pair(condition: Term) -> tuple[Term, Term]:
    one, other = condition.operands
    assert isinstance(one, Term)
    assert isinstance(other, Term)
    return one, other


_paths: list[_Path] = []
"""That are being run, the innermost one last."""


def _term(value: Any) -> Term:
    return value.term if isinstance(value, Number) else terms.constant(int(value))


def number(term: Term) -> Any:
    """A number for programs to work with; an int if the term's value is known."""
    return Number(term) if term.value is None else term.value


def _on_bounds(
    operation: Callable[[Term, Term, tuple[Bounds, Bounds]], Term], one: Any, other: Any
) -> Any:
    one, other = _term(one), _term(other)
    return number(operation(one, other, (_paths[-1].bounds_of(one), _paths[-1].bounds_of(other))))


class Number:
    """An integer that is not known yet.  Only for what `explore` runs."""

    __slots__ = ("term",)

    def __init__(self, term: Term):
        self.term = term

    def __add__(self, other: Any) -> Any:
        return _on_bounds(terms.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _on_bounds(terms.add, other, self)

    def __neg__(self) -> Any:
        return number(terms.negate(self.term))

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return other + -self

    def __mul__(self, other: Any) -> Any:
        return _on_bounds(terms.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _on_bounds(terms.multiply, other, self)

    def __rshift__(self, bits: int) -> Any:
        return number(terms.right_shift(self.term, bits))

    def __floordiv__(self, divisor: int) -> Any:
        return number(terms.right_shift(self.term, _exponent(divisor)))

    def __mod__(self, divisor: int) -> Any:
        return number(terms.low_bits(self.term, _exponent(divisor)))

    def __and__(self, mask: int) -> Any:
        return number(terms.low_bits(self.term, _exponent(mask + 1)))

    def __or__(self, other: Any) -> Any:
        return number(terms.either(self.term, _term(other)))

    def __eq__(self, other: Any) -> Any:
        return number(terms.equal(self.term, _term(other)))

    def __ne__(self, other: Any) -> Any:
        return number(terms.inverse(terms.equal(self.term, _term(other))))

    def __lt__(self, other: Any) -> Any:
        return number(terms.less(self.term, _term(other)))

    def __gt__(self, other: Any) -> Any:
        return number(terms.less(_term(other), self.term))

    def __le__(self, other: Any) -> Any:
        return number(terms.inverse(terms.less(_term(other), self.term)))

    def __ge__(self, other: Any) -> Any:
        return number(terms.inverse(terms.less(self.term, _term(other))))

    def __bool__(self) -> bool:
        return not _paths[-1].decide(terms.equal(self.term, terms.constant(0)))

    def __index__(self) -> int:
        low, high = _paths[-1].bounds_of(self.term)
        if high - low >= _MOST_VALUES:
            raise TypeError(f"{high - low + 1} values are too many for a key or an index")
        for value in range(low, high):
            if _paths[-1].decide(terms.equal(self.term, terms.constant(value))):
                return value
        return high

    def __hash__(self) -> int:
        return hash(self.__index__())


def _exponent(power: int) -> int:
    assert power > 0, "only powers of two"
    assert power & (power - 1) == 0, "only powers of two"
    return power.bit_length() - 1


def truth(value: Any = False) -> Any:
    """What `bool` is, but without a decision."""
    return value != 0 if isinstance(value, Number) else bool(value)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` if the condition holds, else `no`, without a decision."""
    return number(terms.one_of(_term(truth(condition)), _term(yes), _term(no)))


@dataclass(frozen=True)
class Failed:
    """The result of a run that ended with an exception."""

    error: Exception


@dataclass(frozen=True)
class _Decision:
    """What follows if a truth holds, and if not."""

    condition: Term
    yes: "_Decision | _End"
    no: "_Decision | _End"


@dataclass(frozen=True)
class _End:
    result: Any


@dataclass(frozen=True)
class Outcomes:
    """What a program does for any input."""

    tree: _Decision | _End

    def results(self) -> Iterator[Any]:
        """At the ends of all paths."""
        left = [self.tree]
        while left:
            node = left.pop()
            if isinstance(node, _End):
                yield node.result
            else:
                left += [node.no, node.yes]

    def merged(self, value: Callable[[Any], Any]) -> Term | None:
        """The `value` of the result; where that is None, anything.  None if it is None everywhere.

        Values are 0 or more, less, or numbers that the run has made.
        """
        return _merged(self.tree, value)

    def where(self, holds: Callable[[Any], bool]) -> Term:
        """Whether this is true of the result."""
        found = self.merged(lambda result: int(holds(result)))
        assert found is not None
        return found


def _merged(node: _Decision | _End, value: Callable[[Any], Any]) -> Term | None:
    if isinstance(node, _End):
        found = value(node.result)
        return None if found is None else _term(found)
    yes, no = _merged(node.yes, value), _merged(node.no, value)
    if yes is None or no is None:
        return no if yes is None else yes
    return terms.one_of(node.condition, yes, no)


def explore(run: Callable[[], Any]) -> Outcomes:
    """What `run` does, whatever its numbers are; what it raises is a result, too (`Failed`)."""
    ends: list[tuple[list[tuple[Term, bool]], Any]] = []
    first: list[bool] = []
    outer = _paths[-1] if _paths else None
    while True:
        _paths.append(path := _Path(first, outer))
        try:
            result = run()
        except Exception as error:
            result = Failed(error)
        finally:
            _paths.pop()
        ends.append((path.taken, result))
        first = [choice for _, choice in path.taken]
        while first and not first[-1]:
            first.pop()
        if not first:
            return Outcomes(_tree(ends, 0, len(ends), 0))
        first[-1] = False


def _tree(ends: list, start: int, stop: int, depth: int) -> _Decision | _End:
    """Of the runs from `start` to `stop`, which agree in their first `depth` decisions."""
    taken, result = ends[start]
    if len(taken) == depth:
        return _End(result)
    middle = next(place for place in range(start, stop) if not ends[place][0][depth][1])
    return _Decision(
        taken[depth][0],
        _tree(ends, start, middle, depth + 1),
        _tree(ends, middle, stop, depth + 1),
    )


def _summary(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose result is a number, without decisions of the caller."""

    def summarized(*values: Any) -> Any:
        outcomes = explore(lambda: function(*values))
        for result in outcomes.results():
            if isinstance(result, Failed):
                raise result.error
        merged = outcomes.merged(lambda result: result)
        assert merged is not None
        return number(merged)

    return summarized


@contextlib.contextmanager
def summarized(*places: tuple[type, str]) -> Iterator[None]:
    """Let each of these methods and properties, which return integers, be one term, not paths."""
    with contextlib.ExitStack() as stack:
        for owner, name in places:
            kept = vars(owner)[name]
            if isinstance(kept, property):
                assert kept.fget is not None
                stack.enter_context(patch.object(owner, name, property(_summary(kept.fget))))
            elif isinstance(kept, staticmethod):
                made = staticmethod(_summary(kept.__func__))
                stack.enter_context(patch.object(owner, name, made))
            else:
                stack.enter_context(patch.object(owner, name, _summary(kept)))
        yield
