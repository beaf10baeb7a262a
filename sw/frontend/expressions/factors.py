"""Products of other than two elements: what goes together becomes a tensor of its own.

Constants and comparisons of axes that stand beside each other become one constant; elements over
the same axes become a tensor that is computed before.  A sum of elements alone becomes their
product with ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from celosia.sw.frontend.expressions.checks import check_computed
from celosia.sw.frontend.expressions.evaluate import whole
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
    Tensor,
    Total,
)
from celosia.sw.frontend.expressions.rules import Match, Reader
from celosia.sw.frontend.expressions.terms import Factor, Term, axes_of, terms
from celosia.sw.rewriting.engine import Refusal

__all__ = ["expression_of", "find_factors", "inner"]

_WHAT = "a product of more factors"


def inner(tensor: Tensor) -> tuple[Expression, Apply | None]:
    """What a tensor's element is, and the function around it, if there is one."""
    body = tensor.body
    assert body is not None
    return (body.x, body) if isinstance(body, Apply) else (body, None)


def find_factors(reader: Reader) -> Iterator[Match | Refusal]:
    """Terms of other than two elements of tensors; a number is put into a constant."""
    for tensor in reader.nodes:
        body, around = inner(tensor)
        found = terms(body)
        new: list[Tensor] = []
        try:
            changed = [_changed(tensor, term, new) for term in found]
        except ExpressionError as error:
            yield Refusal(_WHAT, tensor.name, str(error))
            continue
        if all(a is b for a, b in zip(changed, found, strict=True)):
            continue
        whole_body = expression_of(changed)
        if around is not None:
            whole_body = replace(around, x=whole_body)
        same = replace(tensor, body=whole_body)
        before = tuple(each for each in new if each.body is not None)
        yield Match(what=_WHAT, root=tensor.name, statements=(*before, same))


def expression_of(found: Sequence[Term]) -> Expression:
    """The sum of terms as an expression."""
    whole_body: Expression = Number(0)
    for place, term in enumerate(found):
        product: Expression = Number(term.number)
        for number, factor in enumerate(term.factors):
            plain = number == 0 and term.number == 1
            product = factor if plain else Multiply(product, factor)
        part = Total(product, term.over) if term.over else product
        whole_body = part if place == 0 else Add(whole_body, part)
    return whole_body


@dataclass(frozen=True, eq=False)
class _Group:
    """Factors that become one element."""

    factors: tuple[Factor, ...]

    @property
    def known(self) -> bool:
        """Whether all of them are known before the operator runs."""
        return all(_known(each) for each in self.factors)

    @property
    def axes(self) -> frozenset[Axis]:
        """The axes that they depend on."""
        return frozenset(axis for each in self.factors for axis in axes_of(each))

    def plus(self, other: "_Group") -> "_Group":
        """The factors of both."""
        return _Group((*self.factors, *other.factors))


def _changed(tensor: Tensor, term: Term, new: list[Tensor]) -> Term:
    """The term with at most two factors, which are elements of tensors; `new` ones are added."""
    if not term.factors or (len(term.factors) == 1 and not term.over and term.number == 1):
        return term
    if not term.over and all(_known(each) for each in term.factors):
        return term  # A constant that is added.
    groups = _together([_Group((each,)) for each in term.factors])
    if term.over and len(groups) == 1:
        (alone,) = groups
        over = tuple(axis for axis in term.over if axis in alone.axes)
        if over:
            ones = np.ones([axis.extent for axis in over], np.int8)
            groups.append(_Group((_constant(tensor, ones, new)[tuple(over)],)))
    number = term.number
    for place, group in enumerate(groups):
        scaled = number if group.known else 1
        if len(group.factors) == 1 and isinstance(group.factors[0], Access) and scaled == 1:
            continue
        groups[place] = _Group((_element(tensor, group, scaled, new, narrow=bool(term.over)),))
        number = 1 if group.known else number
    if number != 1:
        raise ExpressionError(
            f"it has a term times {number}, and no constant to put that into; put it into a scale"
        )
    factors = tuple(each for group in groups for each in group.factors)
    same = len(factors) == len(term.factors) and all(
        a is b for a, b in zip(factors, term.factors, strict=True)
    )
    return term if same else Term(1, factors, term.over)


def _known(factor: Factor) -> bool:
    return isinstance(factor, Compare) or factor.tensor.value is not None


def _together(groups: list[_Group]) -> list[_Group]:
    """Two groups at most."""
    while len(groups) > 2:
        pair = _pair(groups)
        if pair is None:
            raise ExpressionError(
                f"it multiplies {len(groups)} elements, no two of which go over the same axes; "
                "compute some of them as a tensor of their own"
            )
        wide, narrow = pair
        joined = groups[wide].plus(groups[narrow])
        groups = [joined if n == wide else g for n, g in enumerate(groups) if n != narrow]
    return groups


def _pair(groups: list[_Group]) -> tuple[int, int] | None:
    """Two groups of which the first has all axes of the second: known ones first."""
    found = [
        (not groups[a].known, not groups[b].known, a, b)
        for a in range(len(groups))
        for b in range(len(groups))
        if a != b
        and groups[b].axes <= groups[a].axes
        and (groups[b].known or groups[a].axes == groups[b].axes)
    ]
    return min(found)[2:] if found else None


def _element(
    tensor: Tensor, group: _Group, number: int, new: list[Tensor], *, narrow: bool
) -> Access:
    """An element of a tensor of its own that is the product of a group's factors."""
    ordered = sorted(group.factors, key=lambda each: (isinstance(each, Compare), _known(each)))
    axes = tuple(dict.fromkeys(axis for each in ordered for axis in axes_of(each)))
    own = tuple(Axis(axis.name, axis.extent) for axis in axes)
    place = dict(zip(axes, own, strict=True))
    known = [each for each in group.factors if _known(each)]
    others = [each for each in group.factors if not _known(each)]
    if known and others:
        constant = _element(tensor, _Group(tuple(known)), number, new, narrow=False)
        factors, number = [*others, constant], 1
    else:
        factors = list(group.factors)
    moved = tuple(_moved(each, place) for each in factors)
    body = expression_of([Term(number, moved)])
    name, shape = _name(tensor, new), tuple(axis.extent for axis in own)
    if not others:
        wide = Tensor(name, shape, "int64", low=0, high=0, axes=own, body=body)
        if not own:
            wide = replace(wide, shape=(1,), axes=(Axis("i", 1),))
        values = _narrowed(whole(wide, {}), narrow=narrow)
        return _constant(tensor, values, new)[axes or 0]
    info = np.iinfo(np.int8)
    low, high = check_computed(name, own, body, (int(info.min), int(info.max)), "int8")
    made = Tensor(name, shape, "int8", low=low, high=high, axes=own, body=body)
    new.append(made)
    return made[axes]


def _moved(expression: Expression, place: dict[Axis, Axis]) -> Factor:
    """A factor of other axes."""

    def moved(each: Expression) -> Expression:
        match each:
            case Axis():
                return place[each]
            case Add() | Multiply() | Compare():
                return replace(each, a=moved(each.a), b=moved(each.b))
            case Access():
                return Access(each.tensor, tuple(moved(index) for index in each.indices))
            case _:
                return each

    found = moved(expression)
    assert isinstance(found, Access | Compare)
    return found


def _narrowed(values: np.ndarray, *, narrow: bool) -> np.ndarray:
    """Numbers in the type that intrinsics take of them."""
    for kind in ("int8", "uint8") if narrow else ("int16",):
        info = np.iinfo(kind)
        if info.min <= values.min() and values.max() <= info.max:
            return values.astype(kind)
    raise ExpressionError(
        f"a constant of it is {values.min():,}..{values.max():,}, which does not fit "
        f"{'int8' if narrow else 'int16'}"
    )


def _constant(tensor: Tensor, values: np.ndarray, new: list[Tensor]) -> Tensor:
    found = Tensor(
        _name(tensor, new),
        values.shape,
        str(values.dtype),
        low=int(values.min()),
        high=int(values.max()),
        value=values,
    )
    new.append(found)
    return found


def _name(tensor: Tensor, new: list[Tensor]) -> str:
    return f"{tensor.name}.{len(new)}"
