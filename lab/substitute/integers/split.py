"""Splits products whose columns are wanted for different rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from celosia.lab.substitute.integers.edit import Edit, Moved
from celosia.lab.substitute.integers.reader import IntegerReader, Mask
from celosia.sw.ir.graph import MatMul

__all__ = ["find_splits"]


def find_splits(reader: IntegerReader) -> Iterator[Edit]:
    """Products of which some columns are read for fewer rows than others: one for each.

    So queries, keys and values that are one product come apart where only one token asks.
    """
    for op in reader.nodes:
        if not isinstance(op, MatMul) or not op.has_some_cols:
            continue
        if not reader.may_move(op.out):
            continue
        bounds = [0, *_changes(reader.wanted(op.out.tensor)), op.out.cols]
        views = [view for _, view in reader.reads[op.out.tensor]]
        together = any(view.col < x < view.col + view.cols for view in views for x in bounds)
        if len(bounds) > 2 and views and not together:
            yield _split(reader, op, list(pairwise(bounds)))


def _split(reader: IntegerReader, op: MatMul, bounds: Sequence[tuple[int, int]]) -> Edit:
    whole, parts, tensors, moved = reader.graph.tensors[op.out.tensor], [], [], []
    for number, (first, end) in enumerate(bounds):
        name, cols = f"{whole.name}.part{number}", end - first
        tensors.append(replace(whole, name=name, cols=cols))
        moved.append(Moved.part(name, whole.shape, first, cols))
        part = replace(op.some_cols(first, cols), name=f"{op.name}.part{number}")
        parts.append(replace(part, out=tensors[-1].view()))
    return Edit(
        what="columns that are read for other rows",
        removed=(op,),
        added=tuple(parts),
        tensors=tuple(tensors),
        moved={whole.name: tuple(moved)},
    )


def _changes(wanted: Mask) -> list[int]:
    """The columns from which on other rows are wanted than before."""
    differ = (wanted[:, 1:] != wanted[:, :-1]).any(axis=0)
    return [int(place) + 1 for place in np.flatnonzero(differ)]
