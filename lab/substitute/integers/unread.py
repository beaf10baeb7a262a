"""Drops what nobody reads: operators, outputs, rows and columns of them, parts of tensors.

A classifier that reads one token so needs one row of the last layer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from celosia.lab.substitute.integers.edit import Edit, Moved
from celosia.lab.substitute.integers.reader import IntegerReader, Mask
from celosia.lab.substitute.integers.views import with_views
from celosia.sw.ir.graph import LayerNorm, Op, View

__all__ = ["find_unread", "find_unwritten"]


def find_unread(reader: IntegerReader) -> Iterator[Edit]:
    """All operators of which nobody reads all that they make, together.

    What an operator that goes has read counts as read by nobody.
    """
    graph = reader.graph
    wanted = {name: np.zeros(tensor.shape, np.bool_) for name, tensor in graph.tensors.items()}
    for name, tensor in graph.tensors.items():
        if name in graph.outputs or tensor.cache:
            wanted[name][...] = True
    changed: list[tuple[Op, Op | None]] = []
    for op in reversed(graph.ops):
        kept = _needed(op, wanted)
        if kept != op:
            changed.insert(0, (op, kept))
        for view in () if kept is None else kept.operands:
            wanted[view.tensor][view.slices] = True
    if changed:
        yield Edit(
            what="what nobody reads",
            removed=tuple(op for op, _ in changed),
            added=tuple(kept for _, kept in changed if kept is not None),
        )


def _needed(op: Op, wanted: dict[str, Mask]) -> Op | None:
    """The part of an operator that somebody reads; None if nobody reads any."""
    outs = [wanted[view.tensor][view.slices] for view in op.results]
    if not any(mask.any() for mask in outs):
        return None
    if isinstance(op, LayerNorm) and len(op.outputs) > 1:
        pairs = zip(op.outputs, outs, strict=True)
        op = replace(op, outputs=tuple(each for each, mask in pairs if mask.any()))
    if op.has_some_rows:
        hull = _Hull.of(np.logical_or.reduce(mask, axis=1) for mask in outs)
        if hull.size < outs[0].shape[0]:
            op = op.some_rows(hull.first, hull.size)
    if op.has_some_cols:
        hull = _Hull.of(np.logical_or.reduce(mask, axis=0) for mask in outs)
        if hull.size < outs[0].shape[1]:
            op = op.some_cols(hull.first, hull.size)
    return op


@dataclass(frozen=True)
class _Hull:
    """The least interval that has all that is wanted."""

    first: int
    size: int

    @staticmethod
    def of(masks: Iterable[Mask]) -> "_Hull":
        places = np.concatenate([np.flatnonzero(mask) for mask in masks])
        return _Hull(int(places.min()), int(np.ptp(places)) + 1)


def find_unwritten(reader: IntegerReader) -> Iterator[Edit]:
    """Each tensor of which operators write some rows or columns only: these, without the gaps."""
    for name, ops in reader.writers.items():
        tensor = reader.graph.tensors[name]
        if not reader.may_move(tensor.view()):
            continue
        written = np.zeros(tensor.shape, np.bool_)
        for view in _written(name, ops):
            written[view.slices] = True
        rows, cols = written.any(axis=1), written.any(axis=0)
        if rows.all() and cols.all():
            continue
        smaller = replace(tensor, name=f"{name}.kept", rows=int(rows.sum()), cols=int(cols.sum()))
        moved = Moved(smaller.name, np.cumsum(rows) - 1, np.cumsum(cols) - 1)
        edit = Edit(what="", removed=tuple(ops), added=(), moved={name: (moved,)})
        yield replace(
            edit,
            what="a tensor with gaps",
            added=tuple(with_views(op, edit.view) for op in ops),
            tensors=(smaller,),
        )


def _written(name: str, ops: Iterable[Op]) -> Iterator[View]:
    return (view for op in ops for view in op.results if view.tensor == name)
