"""Merges operators that share what they read: products, normalizations, equal operators."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace

import numpy as np

from celosia.lab.substitute.integers.edit import Edit, Moved
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.sw.ir.graph import (
    Activation,
    Finish,
    LayerNorm,
    MatMul,
    Op,
    Requantize,
    Scale,
    Sums,
    Tensor,
    View,
)
from celosia.sw.ir.graph_interpret import Array

__all__ = ["find_equal", "find_shared_inputs", "find_shared_norms"]


def find_shared_inputs(reader: IntegerReader) -> Iterator[Edit]:
    """Products of one matrix with several weights: one product with all of them beside each other.

    The finishes are of one kind, and results are tensors that only operators of the graph know.
    """
    groups: dict[Hashable, list[MatMul]] = {}
    for op in reader.nodes:
        if isinstance(op, MatMul):
            kind = _finish_kind(op.finish)
            weights = reader.value(op.b)
            if kind is None or weights is None or op.copies or not reader.may_move(op.out):
                continue
            out = reader.graph.tensors[op.out.tensor].type
            groups.setdefault((op.a, kind, out), []).append(op)
    for ops in groups.values():
        if len(ops) > 1:
            yield _merged(reader, ops)


def _finish_kind(finish: Finish) -> Hashable:
    """What finishes of products that are merged have in common; None: they are not merged."""
    match finish:
        case Sums():
            return "sums"
        case Requantize(zero_point=zero_point, relu=relu):
            return "requantize", zero_point, relu
        case Activation(function=function, out_scale=out_scale, zero_point=zero_point):
            return function, out_scale, zero_point
        case _:
            return None


def _merged(reader: IntegerReader, ops: Sequence[MatMul]) -> Edit:
    graph, first = reader.graph, ops[0]
    name = f"{first.out.tensor}+{len(ops) - 1}"
    widths = [op.out.cols for op in ops]
    out = Tensor(name, graph.tensors[first.out.tensor].type, first.out.rows, sum(widths))
    starts = np.cumsum([0, *widths[:-1]])
    matrices = [_weights(reader, op) for op in ops]
    constants: dict[str, Array] = {f"{name}.weights": np.concatenate(matrices, axis=1)}
    bias = None
    if any(op.bias for op in ops):
        constants[f"{name}.bias"] = np.concatenate([_bias(reader, op) for op in ops], axis=1)
        bias = View(f"{name}.bias", 0, 0, 1, out.cols)
    finish = first.finish
    if not isinstance(finish, Sums):
        scale = _scale(reader, ops, constants, f"{name}.scale")
        assert isinstance(finish, Requantize | Activation)
        finish = replace(finish, scale=scale)
    product = MatMul(
        name=f"{first.name}+{len(ops) - 1}",
        out=out.view(),
        a=first.a,
        b=View(f"{name}.weights", 0, 0, first.a.cols, out.cols),
        bias=bias,
        finish=finish,
    )
    return Edit(
        what="products that share their input",
        removed=tuple(ops),
        added=(product,),
        tensors=(out, *(_constant_tensor(key, value) for key, value in constants.items())),
        constants=constants,
        moved={
            op.out.tensor: (Moved.by(name, op.out.shape, col=int(start)),)
            for op, start in zip(ops, starts, strict=True)
        },
    )


def _constant_tensor(name: str, value: Array) -> Tensor:
    rows, cols = value.shape
    return Tensor(name, str(value.dtype), rows, cols)


def _weights(reader: IntegerReader, op: MatMul) -> Array:
    weights = reader.value(op.b)
    assert weights is not None
    return weights.T if op.b_transposed else weights


def _bias(reader: IntegerReader, op: MatMul) -> Array:
    bias = None if op.bias is None else reader.value(op.bias)
    return np.zeros((1, op.out.cols), np.int32) if bias is None else bias


def _scale(
    reader: IntegerReader, ops: Sequence[MatMul], constants: dict[str, Array], name: str
) -> Scale:
    """The scale of all columns: one number, if it is the same one everywhere."""
    rows: list[Array] = []
    for op in ops:
        assert isinstance(op.finish, Requantize | Activation)
        scale = op.finish.scale
        value = reader.value(scale) if isinstance(scale, View) else None
        rows.append(np.full((1, op.out.cols), scale, np.float32) if value is None else value)
    row = np.concatenate(rows, axis=1)
    if (row == row[0, 0]).all():
        return float(row[0, 0])
    constants[name] = row
    return View(name, 0, 0, *row.shape)


def find_shared_norms(reader: IntegerReader) -> Iterator[Edit]:
    """Two normalizations of the same rows, of one result each: one with both."""
    known: dict[Hashable, LayerNorm] = {}
    for op in reader.nodes:
        if not isinstance(op, LayerNorm) or len(op.outputs) != 1:
            continue
        kind = (op.source, op.epsilon, op.rms)
        other = known.pop(kind, None)
        if other is None:
            known[kind] = op
        else:
            both = replace(other, outputs=(*other.outputs, *op.outputs))
            yield Edit(what="normalizations of the same rows", removed=(other, op), added=(both,))


def find_equal(reader: IntegerReader) -> Iterator[Edit]:
    """Operators that compute the same from the same: one for all that read either."""
    known: dict[Hashable, Op] = {}
    for op in reader.nodes:
        other = known.setdefault(_meaning(reader, op), op)
        outs = list(op.results)
        if other is op or not all(map(reader.may_move, outs)):
            continue
        same = list(other.results)
        if any(view != reader.graph.tensors[view.tensor].view() for view in same):
            continue
        yield Edit(
            what="an operator that is there already",
            removed=(op, other),
            added=(other,),
            moved={
                view.tensor: (Moved.by(kept.tensor, view.shape),)
                for view, kept in zip(outs, same, strict=True)
            },
        )


def _meaning(reader: IntegerReader, op: Op) -> Hashable:
    """An operator without its name and its results: constants count by their elements."""
    made = {view.tensor for view in op.results}

    def shown(value: object) -> Hashable:
        match value:
            case View(tensor=tensor) if tensor in made:
                return reader.graph.tensors[tensor].type, value.shape
            case View():
                return reader.digest(value) or str(value)
            case tuple():
                return tuple(map(shown, value))
            case _ if is_dataclass(value):
                parts = [field.name for field in fields(value) if field.name != "name"]
                return type(value).__name__, *(shown(getattr(value, part)) for part in parts)
            case _:
                return repr(value)

    return shown(op)
