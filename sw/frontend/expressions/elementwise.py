"""Tensors that TRANSFORM computes: products element by element, and functions of int32."""

from collections.abc import Iterator
from typing import Final

from celosia.sw.frontend.expressions.factors import inner
from celosia.sw.frontend.expressions.intrinsics import MULTIPLY_INTRINSIC
from celosia.sw.frontend.expressions.layout import Axes, place_of
from celosia.sw.frontend.expressions.nodes import Access, ExpressionError, Tensor
from celosia.sw.frontend.expressions.operands import Operand, Want, operand, result
from celosia.sw.frontend.expressions.products import finish_of
from celosia.sw.frontend.expressions.program import Call
from celosia.sw.frontend.expressions.rules import Match, Reader
from celosia.sw.frontend.expressions.terms import terms
from celosia.sw.ir.graph import Combine, Transform
from celosia.sw.rewriting.engine import Refusal

__all__ = ["find_multiplications", "find_transforms"]

_MULTIPLY: Final = "a product element by element"
_TRANSFORM: Final = "a function of int32"


def find_multiplications(reader: Reader) -> Iterator[Match | Refusal]:
    """Tensors that are the product of two elements each."""
    for tensor in reader.nodes:
        found = terms(inner(tensor)[0])
        if any(term.over for term in found) or not any(len(t.factors) > 1 for t in found):
            continue
        try:
            MULTIPLY_INTRINSIC.check()
            yield Match(what=_MULTIPLY, root=tensor.name, statements=(_multiplied(reader, tensor),))
        except ExpressionError as error:
            yield Refusal(_MULTIPLY, tensor.name, str(error))


def find_transforms(reader: Reader) -> Iterator[Match | Refusal]:
    """Tensors that are a function of one element of int32 each."""
    for tensor in reader.nodes:
        body, around = inner(tensor)
        found = terms(body)
        if any(term.over or len(term.factors) > 1 for term in found):
            continue
        try:
            factors = [factor for term in found for factor in term.factors]
            if not any(isinstance(each, Access) for each in factors):
                raise ExpressionError("it reads no tensor, and is known before the operator runs")
            if len(found) != 1 or not isinstance(factors[0], Access) or found[0].number != 1:
                raise ExpressionError(
                    "it adds elements or numbers; only products have something added"
                )
            if factors[0].tensor.dtype != "int32" or around is None:
                raise ExpressionError(
                    f"it is {tensor.dtype} of {factors[0].tensor.dtype}; TRANSFORM requantizes "
                    "int32, or takes a curve of it"
                )
            source, out = _places(reader, tensor, [factors[0]])
            op = Transform(
                name=tensor.name,
                out=out.views[0],
                source=source.views[0],
                finish=finish_of(tensor, around),
            )
            call = Call(
                intrinsic=around.function.upper(),
                tensor=tensor,
                inputs=(source.matrix,),
                output=out.matrix,
                ops=(op,),
            )
            yield Match(what=_TRANSFORM, root=tensor.name, statements=(call,))
        except ExpressionError as error:
            yield Refusal(_TRANSFORM, tensor.name, str(error))


def _multiplied(reader: Reader, tensor: Tensor) -> Call:
    """The call of MULTIPLY.  Raises `ExpressionError`."""
    body, around = inner(tensor)
    (term, *others) = terms(body)
    name = MULTIPLY_INTRINSIC.name
    factors = [each for each in term.factors if isinstance(each, Access)]
    if others or term.number != 1 or len(factors) != len(term.factors):
        raise ExpressionError(f"it is more than a product; {name} adds nothing to one")
    kinds = tuple(each.tensor.dtype for each in factors)
    if kinds not in MULTIPLY_INTRINSIC.types:
        raise ExpressionError(
            f"{' and '.join(map(str, factors))} are {' and '.join(kinds)}; {name} multiplies int16 "
            "by int16: declare them as int16, with low and high"
        )
    if tensor.dtype not in MULTIPLY_INTRINSIC.results:
        known = ", ".join(sorted(MULTIPLY_INTRINSIC.results))
        raise ExpressionError(f"{name} makes {known}, not {tensor.dtype}")
    if around is not None and (around.function != "requantize" or around.relu):
        raise ExpressionError(
            f"{name} scales a product, but has neither a curve nor ReLU behind it"
        )
    a, b, out = _places(reader, tensor, factors)
    op = Combine(
        name=tensor.name,
        function="multiply",
        out=out.views[0],
        a=a.views[0],
        b=b.views[0],
        scale=1.0 if around is None else around.scale,
        zero_point=0 if around is None else around.zero_point,
    )
    return Call(
        intrinsic=name,
        tensor=tensor,
        inputs=(a.matrix, b.matrix),
        output=out.matrix,
        ops=(op,),
    )


def _places(reader: Reader, tensor: Tensor, factors: list[Access]) -> list[Operand]:
    """What is read and what is written, element by element."""
    split = reader.split(tensor)
    rows: Axes = tensor.axes[:split]
    cols: Axes = tensor.axes[split:]
    point = [{}]
    found = [
        operand(reader, Want(place_of(each), rows, cols, f"{tensor.name}.{'ab'[n]}"), point)
        for n, each in enumerate(factors)
    ]
    out = place_of(tensor[tensor.axes])
    return [*found, result(reader, Want(out, rows, cols, f"{tensor.name}.c"), point)]
