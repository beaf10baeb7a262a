"""Masks as models compute them: from the attention mask that the user gives, and from sizes."""

from typing import Final

import numpy as np
from onnx import TensorProto, numpy_helper

from celosia.lab.exports.writing.tape import END, Size, Tape

__all__ = [
    "LEAST",
    "causal",
    "causal_buffer",
    "causal_by_scatter",
    "padding",
    "padding_allowed",
    "padding_expanded",
]

LEAST: Final = float(np.finfo(np.float32).min)
"""What stands for minus infinity."""


def padding(tape: Tape, mask: str) -> str:
    """A bias (batch, 1, 1, keys): 0 where the mask (batch, keys) is 1, else the least number."""
    cast = tape.cast(_four_axes(tape, mask), TensorProto.FLOAT)
    return tape.op("Mul", tape.op("Sub", tape.number(1), cast), tape.number(LEAST))


def padding_expanded(tape: Tape, mask: str, queries: str) -> str:
    """The same, repeated for all queries, and filled in where the mask is not 1."""
    sizes = (tape.size(mask, 0), 1, queries, tape.size(mask, 1))
    cast = tape.cast(tape.expand(_four_axes(tape, mask), *sizes), TensorProto.FLOAT)
    inverted = tape.op("Sub", tape.number(1), cast)
    absent = tape.cast(tape.cast(inverted, TensorProto.BOOL), TensorProto.BOOL)
    return tape.op("Where", absent, tape.number(LEAST), inverted)


def padding_allowed(tape: Tape, mask: str, queries: str) -> str:
    """A boolean mask (batch, 1, queries, keys), true where the mask (batch, keys) is 1."""
    sizes = (tape.size(mask, 0), 1, queries, tape.size(mask, 1))
    return tape.expand(_four_axes(tape, tape.cast(mask, TensorProto.BOOL)), *sizes)


def causal(tape: Tape, mask: str, tokens: str, before: str | None = None) -> str:
    """A causal bias plus that of padding, as before transformers 4.38: compared positions.

    Keys `before` the tokens, that many, are seen by all.
    """
    batch, length = tape.size(tokens, 0), tape.size(tokens, 1)
    full = tape.op("Expand", tape.number(LEAST), tape.vector(length, length))
    positions = _range(tape, length)
    following = tape.op("Add", positions, tape.constant(1))
    rows = tape.reshape(following, length, 1)
    past = tape.op("Less", positions, rows)
    bias = tape.op("Where", past, tape.number(0), full)
    keys: Size = length
    if before is not None:
        seen = tape.op("Expand", tape.number(0), tape.vector(length, before))
        bias = tape.op("Concat", seen, bias, axis=-1)
        keys = tape.op("Add", length, before)
    bias = tape.expand(_two_more_axes(tape, bias), batch, 1, length, keys)
    return tape.op("Add", padding_expanded(tape, mask, length), bias)


def causal_buffer(tape: Tape, positions: int, queries: str, keys: str) -> str:
    """GPT-2's triangle of booleans, cut to the rows and columns of the scores' operands."""
    triangle = np.tril(np.ones((1, 1, positions, positions), bool))
    buffer = tape.constant(triangle, np.bool_)
    rows, columns = tape.size(queries, 2), tape.size(keys, 2)
    part = tape.slice(buffer, tape.op("Sub", columns, rows), columns, 2)
    return tape.slice(part, 0, columns, 3)


def causal_by_scatter(
    tape: Tape, mask: str, tokens: str, before: str | None = None, window: int | None = None
) -> str:
    """A causal bias, into which that of padding is written in place: transformers 4.38 to 4.52.

    Tracing turns the assignment to a slice into a ScatterND of all elements, with their indices.
    So many keys are `before` the tokens, and seen by all; with a `window`, a query sees so many.
    """
    batch, length = tape.size(tokens, 0), tape.size(tokens, 1)
    keys = tape.size(mask, 1)
    full = tape.op(
        "ConstantOfShape",
        tape.vector(length, keys),
        value=numpy_helper.from_array(np.array([LEAST], np.float32)),
    )
    if before is None:
        first = tape.constant(1)
        rows = _range(tape, length)
    else:
        first = tape.op("Add", before, tape.constant(1))
        rows = tape.op("Add", _range(tape, length), before)
    # A window hides keys below the triangle, too: then it is not cut.
    upper = full if window else tape.op("Trilu", full, first, upper=1)
    rows = tape.op("Reshape", rows, tape.constant([-1, 1]))
    hidden = tape.op("Greater", _range(tape, keys), rows)
    if window:
        last = tape.op("Sub", rows, tape.constant(window))
        passed = tape.op("LessOrEqual", _range(tape, keys), last)
        hidden = tape.op("Or", hidden, passed)
    bias = tape.op("Mul", upper, tape.cast(hidden, TensorProto.FLOAT))
    bias = tape.expand(_two_more_axes(tape, bias), batch, 1, -1, -1)

    shown = tape.cast(_four_axes(tape, mask), TensorProto.INT64)
    shown = tape.cast(shown, TensorProto.FLOAT)
    sums = tape.op("Add", tape.slice(bias, 0, keys, 3), shown)
    absent = tape.cast(tape.op("Equal", sums, tape.number(0)), TensorProto.BOOL)
    filled = tape.op("Where", absent, tape.number(LEAST), tape.slice(bias, 0, keys, 3))
    whole = tape.op("Expand", filled, tape.op("Shape", tape.slice(bias, 0, keys, 3)))
    return _assign(tape, bias, whole, keys)


def _assign(tape: Tape, target: str, values: str, keys: str) -> str:
    """``target[:, :, :, :keys] = values``."""
    ranges = [_range(tape, tape.size(target, axis)) for axis in range(4)]
    ranges[3] = tape.slice(ranges[3], 0, keys, 0)
    for axis, shape in enumerate(([-1, 1, 1, 1], [-1, 1, 1], [-1, 1])):
        ranges[axis] = tape.op("Reshape", ranges[axis], tape.constant(shape))
    total = ranges[0]
    for other in ranges[1:]:
        total = tape.op("Add", total, other)
    shape = tape.op("Shape", total)
    indices = []
    for one in ranges:
        whole = tape.op("Expand", one, _kept(tape, shape))
        indices.append(tape.op("Unsqueeze", whole, tape.constant([-1])))
    places = tape.op("Concat", *indices, axis=-1)
    rest = tape.op(
        "Slice",
        tape.op("Shape", target),
        tape.constant([4]),
        tape.constant([END]),
        tape.constant([0]),
    )
    updates = tape.op("Reshape", values, tape.op("Concat", shape, rest, axis=0))
    return tape.op("ScatterND", target, places, updates)


def _kept(tape: Tape, shape: str) -> str:
    """`shape` with 1 in place of -1, which torch writes for sizes that stay."""
    ones = tape.op(
        "ConstantOfShape",
        tape.op("Shape", shape),
        value=numpy_helper.from_array(np.ones(1, np.int64)),
    )
    stays = tape.op("Equal", shape, tape.op("Mul", ones, tape.constant(-1)))
    return tape.op("Where", stays, ones, shape)


def _range(tape: Tape, end: Size) -> str:
    limit = tape.cast(str(end), TensorProto.INT64)
    return tape.op("Range", tape.constant(0), limit, tape.constant(1))


def _four_axes(tape: Tape, mask: str) -> str:
    return tape.unsqueeze(tape.unsqueeze(mask, 1), 2)


def _two_more_axes(tape: Tape, matrix: str) -> str:
    return tape.unsqueeze(tape.unsqueeze(matrix, 0), 1)
