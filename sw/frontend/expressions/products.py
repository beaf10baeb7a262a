"""Tensors that PRODUCTS computes: sums of products, with a bias, and with a function around them.

An axis that both factors have, and the result, counts products; the result's other axes are rows or
columns, and what both factors have alone is summed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod
from typing import Final

import numpy as np

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.expressions.evaluate import whole
from celosia.sw.frontend.expressions.factors import expression_of, inner
from celosia.sw.frontend.expressions.intrinsics import PRODUCTS_INTRINSIC, role_of
from celosia.sw.frontend.expressions.layout import Axes, Place, place_of, rectangle
from celosia.sw.frontend.expressions.nodes import (
    Access,
    Apply,
    Axis,
    Compare,
    ExpressionError,
    Tensor,
)
from celosia.sw.frontend.expressions.operands import (
    Operand,
    Want,
    operand,
    points_of,
    result,
)
from celosia.sw.frontend.expressions.program import Call, Program
from celosia.sw.frontend.expressions.rules import Match, Reader
from celosia.sw.frontend.expressions.terms import Term, axes_of, terms
from celosia.sw.ir.graph import Activation, Finish, MatMul, Requantize, Sums
from celosia.sw.rewriting.engine import Refusal

__all__ = ["find_products", "finish_of", "split_tensors"]

_WHAT: Final = "a product"
_ORDERS: Final = 24
"""Orders of the axes that are summed over, of which the best is looked for."""


@dataclass(frozen=True, eq=False)
class _Product:
    """A tensor as a sum of products."""

    tensor: Tensor
    around: Apply | None
    factors: tuple[Access, Access]
    """A and B."""
    rows: Axes
    cols: Axes
    batch: Axes
    over: Axes
    bias: tuple[Term, ...]


def find_products(reader: Reader) -> Iterator[Match | Refusal]:
    """Tensors that are a sum of products of two elements."""
    for tensor in reader.nodes:
        try:
            found = [_match(reader, each) for each in _read(tensor)]
        except ExpressionError as error:
            yield Refusal(_WHAT, tensor.name, str(error))
            continue
        calls = [each for each in found if isinstance(each, tuple)]
        if calls:
            PRODUCTS_INTRINSIC.check()
            _, call = min(calls, key=lambda each: each[0])
            yield Match(what=_WHAT, root=tensor.name, statements=(call,))
        elif found:
            yield Refusal(_WHAT, tensor.name, str(found[0]))


def finish_of(tensor: Tensor, around: Apply | None) -> Finish:
    """What the function around sums is on their way out of the accumulator."""
    if around is None:
        return Sums() if tensor.dtype == "int32" else Requantize(1.0)
    if around.function in ACTIVATIONS:
        return Activation(around.function, around.scale, around.out_scale, around.zero_point)
    return Requantize(around.scale, around.zero_point, around.relu)


def split_tensors(program: Program) -> Program:
    """The program with tensors stored such that most of what reads and writes them is rectangles.

    That is how many axes are rows: of all ways with as many rectangles, the one with most rows.
    """
    wants: dict[Tensor, list[tuple[Place, Axes, Axes]]] = {}
    for tensor in program.statements:
        if isinstance(tensor, Call):
            continue
        try:
            found = _read(tensor)[:1]
        except ExpressionError:
            continue
        for each in found:
            a, b = (place_of(factor) for factor in each.factors)
            out = place_of(tensor[tensor.axes])
            wanted = (
                (a, each.rows, each.over),
                (b, each.over, each.cols),
                (out, each.rows, each.cols),
            )
            for place, rows, cols in wanted:
                wants.setdefault(place.tensor, []).append((place, rows, cols))
    return replace(program, splits={t.name: _split(t, found) for t, found in wants.items()})


def _split(tensor: Tensor, wants: Sequence[tuple[Place, Axes, Axes]]) -> int:
    def fitting(split: int) -> int:
        return sum(
            bool(rectangle(place, rows, cols, split) or rectangle(place, cols, rows, split))
            for place, rows, cols in wants
        )

    usual = len(tensor.shape) - 1
    return max(range(usual + 1), key=lambda split: (fitting(split), split))


def _read(tensor: Tensor) -> list[_Product]:
    """A tensor as a sum of products, with either factor as A; nothing if it is none.

    Raises `ExpressionError` that says what is missing where it looks like one.
    """
    body, around = inner(tensor)
    found = terms(body)
    products = [term for term in found if term.over]
    if not products:
        return []
    if len(products) > 1:
        raise ExpressionError(
            f"it adds up {len(products)} sums; {PRODUCTS_INTRINSIC.name} computes one: compute the "
            "others as tensors of their own, or one sum over what both go over"
        )
    (term,) = products
    bias = tuple(each for each in found if each is not term)
    a, b = _two(term)
    return [_with_roles(tensor, around, pair, term, bias) for pair in ((a, b), (b, a))]


def _two(term: Term) -> tuple[Access, Access]:
    """The factors of a term, of which which rules have left two elements."""
    if len(term.factors) != 2 or not all(isinstance(each, Access) for each in term.factors):
        raise ExpressionError(f"it multiplies {len(term.factors)} elements")
    a, b = term.factors
    assert isinstance(a, Access)
    assert isinstance(b, Access)
    return a, b


def _with_roles(
    tensor: Tensor,
    around: Apply | None,
    factors: tuple[Access, Access],
    term: Term,
    bias: tuple[Term, ...],
) -> _Product:
    """The role of each axis, which are those of the intrinsic's pattern."""
    operands = [axes_of(each) for each in factors]
    axes = tuple(dict.fromkeys((*tensor.axes, *term.over)))
    roles: dict[str, list[Axis]] = {"i": [], "j": [], "k": [], "batch": []}
    for axis in axes:
        role = role_of(axis, operands, tensor.axes)
        if axis.extent == 1 and role == (frozenset(), True):
            role = frozenset({0}), True  # Wherever it is counted, it is counted once.
        known = PRODUCTS_INTRINSIC.roles.get(role)
        if known is None and role != (frozenset({0, 1}), True):
            raise ExpressionError(_strange(axis, role[0], factors))
        roles["batch" if known is None else known.name].append(axis)
    rows, cols, over, batch = (tuple(roles[each]) for each in ("i", "j", "k", "batch"))
    return _Product(tensor, around, factors, rows, cols, batch, over, bias)


def _strange(axis: Axis, places: frozenset[int], factors: tuple[Access, Access]) -> str:
    if axis.reduced:
        where = f"only {factors[min(places)]} has it" if places else "no factor has it"
        name = PRODUCTS_INTRINSIC.name
        return f"{axis} is summed over, but {where}; {name} sums over what both have"
    return f"no factor has {axis}; the result would hold the same number again and again"


def _match(reader: Reader, found: _Product) -> tuple[int, Call] | ExpressionError:
    """What the host gathers, counted, and the call; or why there is none."""
    kinds = tuple(each.tensor.dtype for each in found.factors)
    if kinds not in PRODUCTS_INTRINSIC.types:
        known = " or ".join(" by ".join(each) for each in sorted(PRODUCTS_INTRINSIC.types))
        return ExpressionError(
            f"{' and '.join(map(str, found.factors))} are {' and '.join(kinds)}; "
            f"{PRODUCTS_INTRINSIC.name} multiplies {known}: requantize what is wider"
        )
    best: tuple[int, Call] | ExpressionError = ExpressionError("")
    orders = [*permutations(found.over)][:_ORDERS]
    try:
        points = points_of(found.batch)
    except ExpressionError as error:
        return error
    for number, over in enumerate(orders):
        try:
            cost, call = _call(reader, replace(found, over=over), points)
        except ExpressionError as error:
            best = error if number == 0 else best
            continue
        if isinstance(best, ExpressionError) or cost < best[0]:
            best = cost, call
    return best


def _call(reader: Reader, found: _Product, points: list) -> tuple[int, Call]:
    """Operators for one order of what is summed over.  Raises `ExpressionError`."""
    tensor, (first, second) = found.tensor, found.factors
    name = tensor.name
    a = operand(reader, Want(place_of(first), found.rows, found.over, f"{name}.a"), points)
    wanted = Want(place_of(second), found.over, found.cols, f"{name}.b", turns=True)
    b = operand(reader, wanted, points)
    out = result(
        reader, Want(place_of(tensor[tensor.axes]), found.rows, found.cols, f"{name}.c"), points
    )
    bias = _bias(reader, found, points)
    ops = tuple(
        MatMul(
            name=name if len(points) == 1 else f"{name}.{n}",
            out=out.views[n],
            a=a.views[n],
            b=b.views[n],
            b_transposed=b.turned,
            bias=bias.views[n] if bias else None,
            finish=finish_of(tensor, found.around),
        )
        for n in range(len(points))
    )
    operands = [each for each in (a, b, bias) if each is not None]
    call = Call(
        intrinsic=PRODUCTS_INTRINSIC.name,
        tensor=tensor,
        inputs=tuple(each.matrix for each in operands),
        output=out.matrix,
        ops=ops,
    )
    return sum(each.gathered for each in (*operands, out)), call


def _bias(reader: Reader, found: _Product, points: list) -> Operand | None:
    """What is added to each column.  Raises `ExpressionError`."""
    if not found.bias:
        return None
    factors = [factor for term in found.bias for factor in term.factors]
    across = {axis for factor in factors for axis in axes_of(factor)}
    down = [axis for axis in found.rows if axis in across]
    if down:
        raise ExpressionError(
            f"what is added depends on {down[0]}, as {found.factors[0]} does; a product has one "
            "number for each column, or each row, to add"
        )
    if all(isinstance(each, Compare) or each.tensor.value is not None for each in factors):
        access = _known_bias(found)
    elif len(found.bias) == len(factors) == 1 and found.bias[0].number == 1:
        (access,) = factors
        assert isinstance(access, Access)
        if access.tensor.dtype != "int32":
            raise ExpressionError(f"{access} is {access.tensor.dtype}; what is added is int32")
    else:
        raise ExpressionError("it adds more than one tensor to a product, or a multiple of one")
    name = f"{found.tensor.name}.bias"
    return operand(reader, Want(place_of(access), (), found.cols, name), points)


def _known_bias(found: _Product) -> Access:
    """A constant for each column, of what is known before the operator runs."""
    axes = (*found.batch, *found.cols) or (Axis("i", 1),)
    body = expression_of(found.bias)
    shape = tuple(axis.extent for axis in axes)
    wide = Tensor("bias", shape, "int64", low=0, high=0, axes=axes, body=body)
    values = whole(wide, {})
    info = np.iinfo(np.int32)
    if not info.min <= values.min() <= values.max() <= info.max:
        raise ExpressionError("a constant that is added does not fit int32")
    known = Tensor(
        f"{found.tensor.name}.bias",
        shape,
        "int32",
        low=int(values.min()),
        high=int(values.max()),
        value=values.astype(np.int32),
    )
    return known[axes if prod(shape) and (found.batch or found.cols) else 0]
