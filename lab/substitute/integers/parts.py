"""Parts of operators: some of their rows, or some of their columns."""

from collections.abc import Callable
from dataclasses import replace

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    LayerNorm,
    Mask,
    MatMul,
    Op,
    Requantize,
    Scale,
    Softmax,
    Transform,
    View,
)

__all__ = ["cols_of", "has_parts_of_columns", "has_parts_of_rows", "rows_of"]

_Part = Callable[[View], View]


def has_parts_of_rows(op: Op) -> bool:
    """Whether `op` can be computed for some of its rows."""
    if isinstance(op, MatMul) and op.copies:
        return False
    mask = getattr(getattr(op, "finish", None), "mask", Mask())
    return not mask.moving


def rows_of(op: Op, first: int, rows: int) -> Op:
    """`op` for these of its rows, counted from its first."""

    def part(view: View) -> View:
        return view.part(row=first, rows=rows)

    match op:
        case MatMul():
            finish, onto = _rows_of_finish(op.finish, first, part), op.onto
            onto = None if onto is None else part(onto)
            return replace(op, a=part(op.a), onto=onto, out=part(op.out), finish=finish)
        case Transform():
            finish = _rows_of_finish(op.finish, first, part)
            return replace(op, source=part(op.source), out=part(op.out), finish=finish)
        case LayerNorm():
            outputs = tuple(replace(each, out=part(each.out)) for each in op.outputs)
            return replace(op, source=part(op.source), outputs=outputs)
        case Combine():
            return replace(op, a=part(op.a), b=part(op.b), out=part(op.out))


def _rows_of_finish(finish: Finish, first: int, part: _Part) -> Finish:
    match finish:
        case AddResidual():
            return replace(finish, residual=part(finish.residual))
        case DivideBySums():
            return replace(finish, sums=part(finish.sums))
        case Softmax():
            return replace(finish, mask=_later(finish.mask, first))
        case DeferredSoftmax():
            return replace(finish, mask=_later(finish.mask, first), sums=part(finish.sums))
        case _:
            return finish


def _later(mask: Mask, rows: int) -> Mask:
    return replace(mask, first_row=mask.first_row + rows) if mask.causal else mask


def has_parts_of_columns(op: Op) -> bool:
    """Whether `op` can be computed for some of its columns."""
    if isinstance(op, MatMul | Transform):
        copied = isinstance(op, MatMul) and bool(op.copies)
        return not copied and not isinstance(op.finish, Softmax | DeferredSoftmax)
    return isinstance(op, Combine) and op.function == "multiply"


def cols_of(op: Op, first: int, cols: int) -> Op:
    """`op` for these of its columns, counted from its first."""

    def part(view: View) -> View:
        return view.part(col=first, cols=cols)

    match op:
        case MatMul():
            b = op.b.part(row=first, rows=cols) if op.b_transposed else part(op.b)
            bias = None if op.bias is None else part(op.bias)
            finish = _cols_of_finish(op.finish, part)
            return replace(op, b=b, bias=bias, out=part(op.out), finish=finish)
        case Transform():
            bias = None if op.bias is None else part(op.bias)
            finish = _cols_of_finish(op.finish, part)
            return replace(op, source=part(op.source), bias=bias, out=part(op.out), finish=finish)
        case Combine():
            return replace(op, a=part(op.a), b=part(op.b), out=part(op.out))
        case LayerNorm():
            raise AssertionError("rows of a normalization are whole")


def _cols_of_finish(finish: Finish, part: _Part) -> Finish:
    def scale_part(scale: Scale) -> Scale:
        return part(scale) if isinstance(scale, View) else scale

    match finish:
        case Requantize() | Activation() | DivideBySums():
            return replace(finish, scale=scale_part(finish.scale))
        case AddResidual():
            residual = part(finish.residual)
            return replace(finish, scale=scale_part(finish.scale), residual=residual)
        case _:
            return finish
