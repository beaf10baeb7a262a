"""Attention in integers: scores, their softmax, and what it weighs, head by head."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import CONTEXT_FRACTION_BITS, EXPONENT_FRACTION_BITS
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, Mask, Tensor, View
from celosia.sw.quantize.graphs.emit_products import RADIX, subtract
from celosia.sw.quantize.graphs.places import Emit, Places, is_one, only
from celosia.sw.quantize.units.units import Append, Attention, Head, Join
from celosia.sw.quantize.units.values import Form, Role

__all__ = ["EMIT"]


def _attention(at: Places, name: str, unit: Attention) -> None:
    """Add the scores of each head of each text, and the averages of values that they weigh."""
    (role,) = at.segments.made[unit.value.tensor]
    context = at.out(unit.value, role)
    for text, heads in enumerate(unit.heads):
        rows, keys = heads[0].query.rows, heads[0].key.rows
        end = f"text{text}"
        numerators = at.builder.tensor(
            Tensor(f"{name}.numerators.{end}", "uint8", len(heads) * rows, keys)
        )
        sums = at.builder.tensor(Tensor(f"{name}.sums.{end}", "int32", len(heads) * rows, 1))
        for number, head in enumerate(heads):
            first = number * rows
            one, totals = (view.part(row=first, rows=rows) for view in (numerators, sums))
            place = f"{end}.head{number}"
            if unit.keys:
                at.keys[f"{name}.scores.{place}"] = (unit.keys, text)
            _scores(at, f"{name}.scores.{place}", unit, head, one, totals)
            out = context.part(row=head.out.row, rows=rows, col=head.out.col, cols=head.out.cols)
            if head.value.tensor in at.fine:
                _fine_context(at, f"{name}.{{}}.{place}", unit, head, out, one, totals)
                continue
            finish = DivideBySums(totals, _weighing(at, name, unit, head, role))
            value = at.read(head.value, "heads")
            at.builder.matmul(f"{name}.context.{place}", out, one, value, finish)


def _fine_context(
    at: Places, name: str, unit: Attention, head: Head, out: View, weights: View, totals: View
) -> None:
    """Add the averages of values of two bytes: of both in one product, then put together."""
    view, width = head.value, head.value.cols
    both = at.builder.tensor(Tensor(name.format("halves"), "int16", out.rows, 2 * width))
    values = at.fine[view.tensor].part(
        row=view.row, rows=view.rows, col=2 * view.col, cols=2 * width
    )
    scales = np.tile(_scales(at, unit, head, "wide"), 2)
    finish = DivideBySums(totals, at.scale(name.format("scale"), scales))
    at.builder.matmul(name.format("context"), both, weights, values, finish)
    high, low = both.part(cols=width), both.part(col=width, cols=width)
    subtract(at, name.format("together"), out, (high, 1.0), (low, -1 / RADIX))


def _scores(at: Places, name: str, unit: Attention, head: Head, out: View, totals: View) -> None:
    steps = only(at.steps(head.query, "heads") * at.steps(head.key, "heads"))
    onto = None if head.onto is None else at.read(head.onto, "onto")
    row = onto is not None and onto.rows < out.rows
    scale = float(np.float32(unit.scale_of(head) * steps * 2**EXPONENT_FRACTION_BITS))
    mask = head.mask
    if at.moving and head.first_row is not None:
        mask = Mask(None, True, head.first_row, head.window, head.ring, moving=True)
    at.builder.matmul(
        name,
        out,
        at.read(head.query, "heads"),
        at.read(head.key, "heads"),
        DeferredSoftmax(
            scale,
            totals,
            mask,
            stored=at.formats.may_wait(unit, out.cols),
            dithered=unit.value.tensor in at.formats.dithered,
        ),
        bias=onto if row else None,
        onto=None if row else onto,
        b_transposed=True,
    )


def _weighing(at: Places, name: str, unit: Attention, head: Head, role: Role) -> float | View:
    """The scale of a head's result: one number, if it is the same in each column."""
    scales = _scales(at, unit, head, role)
    if at.formats.alike_heads:
        last = _scales(at, unit, unit.heads[-1][-1], role)
        scales = last if is_one(np.concatenate([scales, last])) else scales
    if is_one(scales):
        return float(scales[0])
    return at.scale(f"{name}.scale.{head.out.col}.{head.value.col}", scales)


def _scales(at: Places, unit: Attention, head: Head, role: Role) -> NDArray[np.float64]:
    """The scale of each column of a head's result."""
    steps = at.format(Form(unit.value.key, role)).steps
    steps = steps[head.out.col : head.out.col + head.out.cols]
    return at.steps(head.value, "heads") / steps / 2**CONTEXT_FRACTION_BITS


EMIT: Final[Emit] = {Attention: _attention, Append: Places.append, Join: Places.join}
