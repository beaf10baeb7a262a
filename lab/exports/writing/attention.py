"""Attention of several heads between its projections, as exporters write it."""

from dataclasses import dataclass

import numpy as np

from celosia.lab.exports.writing.tape import END, Size, Tape

__all__ = ["Operands", "boolean_bias", "eager", "merge", "scaled", "sdpa", "split", "weighed"]


@dataclass(frozen=True)
class Operands:
    """Queries and values as (batch, heads, tokens, width), keys as (batch, tokens, heads, width).

    Exporters merge the two transpositions of the keys into one, so that keys wait for it here.
    """

    queries: str
    keys: str
    values: str
    width: int
    """Elements of a head."""

    def transposed_keys(self, tape: Tape) -> str:
        return tape.op("Transpose", self.keys, perm=[0, 2, 3, 1])


def split(tape: Tape, x: str, *sizes: Size, transpose: bool = True) -> str:
    """`x` (batch, tokens, heads * width) as (batch, heads, tokens, width), or not transposed."""
    heads = tape.reshape(x, *sizes)
    return tape.op("Transpose", heads, perm=[0, 2, 1, 3]) if transpose else heads


def merge(tape: Tape, x: str, *sizes: Size) -> str:
    """The context of all heads side by side."""
    return tape.reshape(tape.op("Transpose", x, perm=[0, 2, 1, 3]), *sizes)


def eager(
    tape: Tape,
    operands: Operands,
    mask: str | None,
    *,
    divisor: float | None = None,
    factor: float | None = None,
    casts: int = 0,
) -> str:
    """Attention as models compute it themselves: scores are divided, multiplied or left.

    `casts` is the number of casts to float32 behind the softmax, which change nothing.
    """
    scores = tape.op("MatMul", operands.queries, operands.transposed_keys(tape))
    return weighed(tape, scores, operands.values, mask, divisor=divisor, factor=factor, casts=casts)


def weighed(
    tape: Tape,
    scores: str,
    values: str,
    mask: str | None,
    *,
    divisor: float | None = None,
    factor: float | None = None,
    casts: int = 0,
) -> str:
    """What `eager` makes of products of queries and keys."""
    if divisor is not None:
        scores = tape.op("Div", scores, tape.number(divisor))
    if factor is not None:
        scores = tape.op("Mul", scores, tape.number(factor))
    if mask is not None:
        scores = tape.op("Add", scores, mask)
    probabilities = tape.op("Softmax", scores, axis=-1)
    for _ in range(casts):
        probabilities = tape.cast(probabilities, 1)
    return tape.op("MatMul", probabilities, values)


def sdpa(
    tape: Tape,
    operands: Operands,
    mask: str | None,
    *,
    scale: float | None = None,
    guard: bool = False,
) -> str:
    """``scaled_dot_product_attention``: the root of the scale is multiplied into both operands.

    Without a known `scale` it is computed from the shape of the queries.  Under a boolean mask,
    whose rows may be empty, a `guard` takes what is not a number for 0.
    """
    computed = _computed_scale(tape, operands.queries) if scale is None else None
    keys = operands.transposed_keys(tape)
    factors = [
        tape.number(np.sqrt(scale or 0)) if computed is None else tape.op("Sqrt", computed)
        for _ in range(2)
    ]
    scores = tape.op(
        "MatMul", tape.op("Mul", operands.queries, factors[0]), tape.op("Mul", keys, factors[1])
    )
    if mask is not None:
        scores = tape.op("Add", scores, mask)
    probabilities = tape.op("Softmax", scores, axis=-1)
    if guard:
        absent = tape.op("IsNaN", probabilities)
        probabilities = tape.op("Where", absent, tape.number(0), probabilities)
    return tape.op("MatMul", probabilities, operands.values)


def boolean_bias(tape: Tape, allowed: str) -> str:
    """What torch adds to scores for a boolean mask: 0 where it is true, else minus infinity."""
    return tape.op("Where", allowed, tape.number(0), tape.number(-np.inf))


def scaled(tape: Tape, queries: str, width: int) -> str:
    """Queries times 1 / sqrt(width), before they are split into heads."""
    return tape.op("Mul", queries, tape.number(width**-0.5))


def _computed_scale(tape: Tape, queries: str) -> str:
    shape = tape.op("Shape", queries)
    width = tape.op("Slice", shape, tape.constant([-1]), tape.constant([END]))
    root = tape.op("Sqrt", tape.cast(width, 1))
    return tape.cast(tape.op("Div", tape.constant([1], np.float32), root), 1)
