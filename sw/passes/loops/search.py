"""Finds the loops of a sequence of nodes that save the most.

For each distance it is known where nodes are like those so far behind them; a dynamic program then
chooses among all loops of such stretches those that, one behind the other, leave the least.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.isa.operations.loops import MAX_LOOP_DEPTH
from celosia.sw.passes.loops.advances import Advances, advances, join, moves, possible
from celosia.sw.passes.loops.nodes import Bodies, Node, repeated

__all__ = ["Reach", "with_loops"]


_FEW: Final = 4
"""The number of iterations up to which all numbers of them are tried."""
_TOGETHER: Final = 1 << 17
"""Pairs of commands that are compared at once, about: each takes some hundred bytes."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Which loops are looked for."""

    longest: int
    """Nodes of an iteration, at most."""
    iterations: int = 2
    """The least iterations of a loop."""
    saved: float = 0.0
    """Share of the commands that a loop must save."""
    partial: bool = False
    """The last iteration may be shorter than the others."""


@dataclass(frozen=True, slots=True)
class _Loops:
    """Loops that begin at a place."""

    length: int
    """The nodes of an iteration."""
    most: int
    """The number of complete iterations."""
    more: int
    """Nodes of one behind them that is not complete."""
    cost: int


def with_loops(nodes: Sequence[Node], passes: Sequence[Reach], bodies: Bodies) -> list[Node]:
    """`nodes`, some of which are loops of what they were before.

    Each of `passes` finds loops in what the one before it has left.
    """
    left, stretch = list(nodes), _Stretch(nodes)
    for reach in passes:
        found: list[list[_Loops]] = [[] for _ in left]
        least = reach.iterations - reach.partial  # Complete ones.
        lengths = range(1, min(reach.longest, len(left) // least) + 1)
        for place, loops in stretch.loops(lengths, bodies.entries, reach):
            found[place].append(loops)
        if any(found):
            left = _chosen(left, found, reach, bodies)
            stretch = _Stretch(left)
    return left


class _Repeats(NamedTuple):
    """Nodes that are like those a length behind them: an element for each length and place."""

    length: NDArray[np.int64]
    place: NDArray[np.int64]
    again: NDArray[np.int64]
    """Nodes that are like those of the first iteration, or of one behind it."""
    body: NDArray[np.int64]
    """The commands of a body."""


class _Stretch:
    """Nodes, and all their commands one behind the other."""

    def __init__(self, nodes: Sequence[Node]):
        self.shapes = np.array([node.shape for node in nodes])
        self.depths = np.array([node.depth for node in nodes])
        self.costs = np.array([node.cost for node in nodes])
        self.sizes = np.array([len(node.levels) for node in nodes])
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.first = np.concatenate([node.first for node in nodes])
        self.last = np.concatenate([node.last for node in nodes])
        self.levels = np.concatenate([node.levels for node in nodes])
        self.strides = np.concatenate([node.strides for node in nodes])
        self.advances = np.concatenate([node.advances for node in nodes], axis=1)
        self.depth = int(self.depths.max())
        self.summed_costs = _summed(self.costs)
        self._known: dict[int, _Repeats] = {}

    def loops(
        self, lengths: Sequence[int], entries: int, reach: Reach
    ) -> Iterator[tuple[int, _Loops]]:
        """Where loops of so many nodes begin, length by length."""
        wanted: list[int] = []
        for some in self._parts(lengths):
            likely = self._likely(some)
            wanted += np.unique(likely.length[self._worth(likely, entries, reach)]).tolist()
        # Most passes leave what the one before them has seen.
        for some in self._parts([each for each in wanted if each not in self._known]):
            self._find(some)
        if not wanted:
            return
        known = _Repeats(*map(np.concatenate, zip(*(self._known[n] for n in wanted), strict=True)))
        good = self._worth(known, entries, reach)
        each = (values[good].tolist() for values in known)
        for length, place, again, body in zip(*each, strict=True):
            more = again % length * reach.partial
            yield place, _Loops(length, 1 + again // length, more, 1 + body)

    def _parts(self, lengths: Sequence[int]) -> Iterator[NDArray[np.int64]]:
        """So many of `lengths` as are looked at together."""
        count = max(1, _TOGETHER // len(self.levels))
        for start in range(0, len(lengths), count):
            yield np.array(lengths[start : start + count])

    def _worth(self, found: _Repeats, entries: int, reach: Reach) -> NDArray[np.bool_]:
        """Which loops a pass takes: those as well that go on longer, or have shorter bodies."""
        most, more = 1 + found.again // found.length, found.again % found.length * reach.partial
        plain = self._cost(found.place, found.length * most + more)
        good = found.again >= (1 if reach.partial else found.length)
        good &= (most + (more > 0) >= reach.iterations) & (found.body <= entries)
        return good & (1 + found.body < plain * (1 - reach.saved))

    def _cost(self, places: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
        """The commands of so many nodes from each place on."""
        return self.summed_costs[places + count] - self.summed_costs[places]

    def _likely(self, lengths: NDArray[np.int64]) -> _Repeats:
        """What `_find` finds, and more: nodes whose shapes are alike, without STRIDEs."""
        return self._repeats(lengths, _run(self._alike(lengths)))

    def _repeats(self, lengths: NDArray[np.int64], again: NDArray[np.int64]) -> _Repeats:
        """Where so many nodes (lengths x nodes) go on; the bodies have no STRIDEs."""
        row, place = np.nonzero(again)
        length = lengths[row]
        return _Repeats(length, place, again[row, place], self._cost(place, length))

    def _alike(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each node may be in a loop with the one behind it: lengths x nodes."""
        behind = np.concatenate([self.shapes, np.full(lengths[-1], -1)])
        behind = np.lib.stride_tricks.sliding_window_view(behind, len(self.shapes))[lengths]
        return (behind == self.shapes) & (self.depths < MAX_LOOP_DEPTH)

    def _find(self, lengths: NDArray[np.int64]) -> None:
        """Find where nodes go on a length behind them."""
        joins, more, extra = self._joined(lengths, self._alike(lengths))
        run, further, column = _run(joins), _run(more), lengths[:, None]
        run = np.where(run < column, run, np.minimum(run, column + further))
        found = self._repeats(lengths, run)
        strides, row = np.cumsum(extra, axis=1) - extra, np.searchsorted(lengths, found.length)
        behind = found.place + np.minimum(found.again, found.length)
        body = found.body + strides[row, behind] - strides[row, found.place]
        cuts = np.searchsorted(row, np.arange(1, len(lengths)))
        parts = (np.split(each, cuts) for each in found._replace(body=body))
        self._known |= zip(lengths.tolist(), map(_Repeats, *parts), strict=True)

    def _joined(
        self, lengths: NDArray[np.int64], alike: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each node goes with the one behind it, and these two with the next.

        And how many more STRIDEs it then needs.  All are lengths x nodes.
        """
        row, place = np.nonzero(alike)
        sizes = self.sizes[place]
        starts = np.cumsum(sizes) - sizes
        one = _places(self.starts[place], sizes)
        other = _places(self.starts[place + lengths[row]], sizes)
        steps = advances(self.last[one], self.first[other])
        good = np.logical_and.reduce(possible(steps), axis=-1)
        # Commands in no loop stay within it as they are.
        deep = np.flatnonzero(good & (self.levels[one] > 0))
        if len(deep):
            here, there = (self.advances[: self.depth, each[deep]] for each in (one, other))
            good[deep] = possible(join(here, there[None])).all((0, 2))
        new = np.where(moves(steps).any(-1), self.levels[one] + 1 - self.strides[one], 0)
        joins, extra = np.zeros(alike.shape, np.bool_), np.zeros(alike.shape, np.int64)
        joins[row, place] = np.logical_and.reduceat(good, starts)
        extra[row, place] = np.add.reduceat(new, starts)
        where = np.zeros(alike.shape, np.int64)
        where[row, place] = starts
        return joins, self._continued(joins, lengths, where, steps), extra

    def _continued(
        self,
        joins: NDArray[np.bool_],
        lengths: NDArray[np.int64],
        where: NDArray[np.int64],
        steps: Advances,
    ) -> NDArray[np.bool_]:
        """Where nodes advance to those behind them as these do to the next.

        The first of `steps` of each node is at `where`.
        """
        row, place = np.nonzero(joins)
        behind = np.minimum(place + lengths[row], joins.shape[1] - 1)
        both = joins[row, behind] & (place + lengths[row] < joins.shape[1])
        row, place, behind = row[both], place[both], behind[both]
        more = np.zeros(joins.shape, np.bool_)
        if len(row):
            sizes = self.sizes[place]
            here, there = (_places(where[row, each], sizes) for each in (place, behind))
            good = possible(join(steps[here], steps[there][None])).all(-1)
            more[row, place] = np.logical_and.reduceat(good, np.cumsum(sizes) - sizes)
        return more


def _places(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """So many places from each start on, one stretch behind the other."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def _chosen(
    nodes: Sequence[Node], found: Sequence[Sequence[_Loops]], reach: Reach, bodies: Bodies
) -> list[Node]:
    """The loops that leave the fewest commands, and the nodes between them."""
    least = [0] * (len(nodes) + 1)
    choice: list[tuple[int, int, int]] = [(1, 1, 0)] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        best, how = nodes[place].cost + least[place + 1], (1, 1, 0)
        for loops in found[place]:
            counts = [(count, 0) for count in _counts(loops.most, reach.iterations)]
            if loops.more:
                counts.append((loops.most, loops.more))
            for count, more in counts:
                cost = loops.cost + least[place + loops.length * count + more]
                if cost < best:
                    best, how = cost, (loops.length, count, more)
        least[place], choice[place] = best, how
    return list(_made(nodes, choice, bodies))


def _counts(most: int, least: int) -> Iterator[int]:
    """Iterations that are tried, of up to `most`: few, and nearly all."""
    few = min(most, _FEW)
    yield from range(least, few + 1)
    yield from range(max(few + 1, most - 1), most + 1)


def _made(
    nodes: Sequence[Node], choice: Sequence[tuple[int, int, int]], bodies: Bodies
) -> Iterator[Node]:
    """The loops that were chosen, or as much of them as can be made, and all other nodes."""
    place = 0
    while place < len(nodes):
        length, count, more = choice[place]
        end, loop = place + length * count + more, None
        while end > place + length and loop is None:
            starts = range(place, end, length)
            loop = repeated([nodes[start : min(start + length, end)] for start in starts], bodies)
            if loop is None:
                end = starts[-1]
        yield loop or nodes[place]
        place = end if loop else place + 1


def _summed(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the first values: none of them, one, and so on."""
    return np.concatenate([[0], np.cumsum(values)])


def _run(true: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The length of the run of true values that begins at each place of a row; 0: it is false."""
    places = np.arange(true.shape[-1])
    ends = np.where(true, true.shape[-1], places)
    return np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1] - places
