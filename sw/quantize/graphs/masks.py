"""Integer graphs of segments for the masks of a run: keys that are counted, rows that see none.

Where a query sees no key there is nothing to weigh, and by ONNX's rule its row is 0.  Where all of
its keys are hidden by a number so low that float32 keeps nothing of scores beside it, its row is
the mean of their values.  What is added to integer scores says neither: so such rows are products
of their own, one whose mask shows no key, or one in whose scale all scores are next to nothing.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import causal_mask, padding_mask
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, Graph, Mask, MatMul, Op, View
from celosia.sw.quantize.units.segments import Keys, Segment

__all__ = ["ForMasks", "Sight", "for_masks", "sights"]

_ABSORBING: Final = -1e8
"""A bias from here down leaves nothing of scores in float32 but multiples of 8."""
_FLAT: Final = 2.0**-15
"""A scale in which products are next to nothing, and what hides a key still does."""

Added = Callable[[View], Array]
"""The real numbers of a rectangle of what is added to scores."""
Sights = NDArray[np.int8]


class Sight(IntEnum):
    """What a query sees."""

    SOME = 0
    """Keys."""
    NONE = 1
    """No key: its row is 0."""
    HIDDEN = 2
    """Only keys that a low number hides: its row is the mean of their values."""


@dataclass(frozen=True)
class ForMasks:
    """A segment for the masks of a run."""

    graph: Graph
    rows: Counter[tuple[str, Sight]]
    """How many rows of each product of queries and keys see none, or hidden ones only."""


def for_masks(segment: Segment, counts: Mapping[Keys, int], added: Added) -> ForMasks:
    """The graph of a segment for texts of so many keys, and for what is `added` to scores."""
    ops: list[Op] = []
    waiting: dict[View, tuple[MatMul, Sights]] = {}
    """Scores of which some rows see no key, by their numerators: what reads these comes next."""
    rows: Counter[tuple[str, Sight]] = Counter()
    known: dict[Hashable, Sights] = {}
    for op in segment.graph.ops:
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax):
            found = _counted(segment, op, counts)
            asked = _asked(found)
            if asked not in known:
                known[asked] = sights(found, added)
            seen = known[asked]
            if seen.any():
                waiting[op.out] = found, seen
                rows += Counter({(op.name, kind): int((seen == kind).sum()) for kind in Sight})
            else:
                ops.append(found)
        elif isinstance(op, MatMul) and op.a in waiting:
            scores, seen = waiting.pop(op.a)
            for part, sight in _runs(seen):
                ops += [_scores(scores, part, sight), _context(op, part)]
        else:
            ops.append(op)
    assert not waiting
    return ForMasks(replace(segment.graph, ops=tuple(ops)), rows)


def _asked(op: MatMul) -> Hashable:
    """All that `sights` depend on."""
    assert isinstance(op.finish, DeferredSoftmax)
    return op.bias or op.onto, op.finish.mask, op.out.rows, op.out.cols


def sights(op: MatMul, added: Added) -> Sights:
    """What each query of a product sees of the keys that the mask of its finish shows."""
    assert isinstance(op.finish, DeferredSoftmax)
    view, mask = op.bias or op.onto, op.finish.mask
    rows, cols = op.out.rows, op.out.cols
    passed = 0 if mask.window is None else mask.first_row + rows - mask.window
    if view is None and passed < (cols if mask.keys is None else mask.keys):
        return np.zeros(rows, np.int8)  # The first key of the last query's window is there.
    bias = np.zeros((rows, cols)) if view is None else np.broadcast_to(added(view), (rows, cols))
    if mask.keys is not None:
        bias = np.where(padding_mask(mask.keys, cols), bias, -np.inf)
    if mask.causal:
        seen = causal_mask(rows, cols, mask.first_row, mask.window, mask.ring)
        bias = np.where(seen, bias, -np.inf)
    highest = bias.max(axis=1)
    hidden = np.where(highest <= _ABSORBING, Sight.HIDDEN, Sight.SOME)
    return np.where(np.isneginf(highest), Sight.NONE, hidden).astype(np.int8)


def _counted(segment: Segment, op: MatMul, counts: Mapping[Keys, int]) -> MatMul:
    """A product of queries and keys that sees as many keys as there are."""
    if op.name not in segment.keys:
        return op
    assert isinstance(op.finish, DeferredSoftmax)
    count = counts[segment.keys[op.name]]
    mask = replace(op.finish.mask, keys=None if count == op.out.cols else count)
    return replace(op, finish=replace(op.finish, mask=mask))


def _runs(seen: Sights) -> Iterator[tuple[slice, Sight]]:
    """The rows behind each other that are alike, and what they see."""
    ends = [*(np.flatnonzero(np.diff(seen)) + 1).tolist(), len(seen)]
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        yield slice(first, end), Sight(int(seen[first]))


def _scores(op: MatMul, part: slice, sight: Sight) -> MatMul:
    """Some rows of a product of queries and keys."""
    finish = op.finish
    assert isinstance(finish, DeferredSoftmax)
    mask, scale = finish.mask, finish.scale
    if sight == Sight.NONE:
        mask = Mask(keys=0)
    elif mask.causal:
        first = mask.first_row + part.start
        # From the last key's position on, all keys are seen, unless a window passes them.
        first = min(first, op.out.cols - 1) if mask.window is None else first
        mask = replace(mask, first_row=first)
    if sight == Sight.HIDDEN:
        scale = _FLAT
    return replace(
        op,
        name=_name(op, part),
        out=_rows(op.out, part),
        a=_rows(op.a, part),
        onto=op.onto and _rows(op.onto, part),
        finish=replace(finish, scale=scale, sums=_rows(finish.sums, part), mask=mask),
    )


def _context(op: MatMul, part: slice) -> MatMul:
    """Some rows of a product with values."""
    finish = op.finish
    assert isinstance(finish, DivideBySums)
    return replace(
        op,
        name=_name(op, part),
        out=_rows(op.out, part),
        a=_rows(op.a, part),
        finish=replace(finish, sums=_rows(finish.sums, part)),
    )


def _name(op: MatMul, part: slice) -> str:
    return f"{op.name}.row{part.start}"


def _rows(view: View, part: slice) -> View:
    return view.part(row=part.start, rows=part.stop - part.start)
