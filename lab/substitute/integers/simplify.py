"""The same operators with less to do: plain weights, finishes in their product, plain scales."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from celosia.lab.substitute.integers.edit import Edit
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.sw.ir.graph import MatMul, Op, Sums, Tensor, Transform, View
from celosia.sw.ir.graph_interpret import Array

__all__ = ["find_finishes", "find_plain_parameters", "find_transposed_weights"]


def find_transposed_weights(reader: IntegerReader) -> Iterator[Edit]:
    """Products with the transpose of a constant: with a constant that is transposed already."""
    for op in reader.nodes:
        weights = reader.value(op.b) if isinstance(op, MatMul) and op.b_transposed else None
        if weights is not None and isinstance(op, MatMul):
            name = f"{op.name}.transposed"
            tensor, value = _constant(name, np.ascontiguousarray(weights.T))
            plain = replace(op, b=tensor.view(), b_transposed=False)
            yield Edit(
                what="transposed weights",
                removed=(op,),
                added=(plain,),
                tensors=(tensor,),
                constants={name: value},
            )


def _constant(name: str, value: Array) -> tuple[Tensor, Array]:
    rows, cols = value.shape
    return Tensor(name, str(value.dtype), rows, cols), value


def find_finishes(reader: IntegerReader) -> Iterator[Edit]:
    """Sums that one operator reads, to finish them: the product with that finish."""
    for op in reader.nodes:
        if not isinstance(op, Transform) or not reader.may_move(op.source):
            continue
        writers, reads = reader.writers[op.source.tensor], reader.reads[op.source.tensor]
        if len(writers) != 1 or len(reads) != 1:
            continue
        (product,) = writers
        if isinstance(product, MatMul) and isinstance(product.finish, Sums):
            edit = _finished(reader, product, op)
            if edit is not None:
                yield edit


def _finished(reader: IntegerReader, product: MatMul, finish: Transform) -> Edit | None:
    what, removed = "sums that are finished later", (product, finish)
    whole = replace(product, out=finish.out, finish=finish.finish)
    if product.bias is None or finish.bias is None:
        bias = product.bias or finish.bias
        return Edit(what=what, removed=removed, added=(replace(whole, bias=bias),))
    parts = [reader.value(bias) for bias in (product.bias, finish.bias)]
    if parts[0] is None or parts[1] is None:
        return None
    name = f"{finish.name}.bias"
    with np.errstate(over="ignore"):
        tensor, value = _constant(name, parts[0] + parts[1])
    return Edit(
        what=what,
        removed=removed,
        added=(replace(whole, bias=tensor.view()),),
        tensors=(tensor,),
        constants={name: value},
    )


def find_plain_parameters(reader: IntegerReader) -> Iterator[Edit]:
    """Biases of zeros, which go, and scales of columns that are all the same, which are one."""
    for op in reader.nodes:
        if not isinstance(op, MatMul | Transform):
            continue
        plain: Op = op
        bias = None if op.bias is None else reader.value(op.bias)
        if bias is not None and not bias.any():
            plain = replace(op, bias=None)
        plain = replace(plain, finish=_plain(reader, op.finish))
        if plain != op:
            yield Edit(what="parameters that are plain", removed=(op,), added=(plain,))


def _plain(reader: IntegerReader, finish: Any) -> Any:
    for field in fields(finish):
        scale = getattr(finish, field.name)
        value = reader.value(scale) if isinstance(scale, View) else None
        if field.name == "scale" and value is not None and (value == value[0, 0]).all():
            return replace(finish, scale=float(value[0, 0]))
    return finish
