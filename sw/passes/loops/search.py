"""Finds the loops of a sequence of nodes that save the most.

For each distance it is known where nodes are like those so far behind them; a dynamic program then
chooses among all loops of such stretches those that, one behind the other, leave the least.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.operations.loops import MAX_LOOP_DEPTH
from celosia.sw.passes.loops.advances import Advances, advances, join, moves, possible
from celosia.sw.passes.loops.nodes import Node, Shapes, repeated

__all__ = ["Reach", "with_loops"]


_FEW: Final = 4
"""The number of iterations up to which all numbers of them are tried."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Which loops are looked for."""

    shortest: int = 1
    """Nodes of an iteration, at least."""
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


def with_loops(
    nodes: Sequence[Node], passes: Sequence[Reach], entries: int, shapes: Shapes
) -> list[Node]:
    """`nodes`, some of which are loops of what they were before; bodies have up to `entries`.

    Each of `passes` finds loops in what the one before it has left.
    """
    left, stretch = list(nodes), _Stretch(nodes)
    for reach in passes:
        found: list[list[_Loops]] = [[] for _ in left]
        least = reach.iterations - reach.partial  # Complete ones.
        for length in range(reach.shortest, min(reach.longest, len(left) // least) + 1):
            for place, loops in stretch.loops(length, entries, reach):
                found[place].append(loops)
        if any(found):
            left = _chosen(left, found, reach, entries, shapes)
            stretch = _Stretch(left)
    return left


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
        self._known: dict[int, list[tuple[int, int, int]]] = {}

    def loops(self, length: int, entries: int, reach: Reach) -> Iterator[tuple[int, _Loops]]:
        """Where loops of `length` nodes begin."""
        least = 1 if reach.partial else length
        if length not in self._known:  # Most passes leave what the one before them has seen.
            self._known[length] = list(self._repeats(length, entries))
        for place, again, body in self._known[length]:
            most, more = 1 + again // length, again % length * reach.partial
            if again < least or most + (more > 0) < reach.iterations:
                continue
            behind = place + length * most + more
            plain = int(self.summed_costs[behind] - self.summed_costs[place])
            cost = 1 + body
            if cost < plain * (1 - reach.saved):
                yield place, _Loops(length, most, more, cost)

    def _repeats(self, length: int, entries: int) -> Iterator[tuple[int, int, int]]:
        """Where nodes go on `length` behind them.

        With the nodes that are like those of the first iteration, or of one behind it, and the
        commands of a body, up to `entries`.
        """
        alike = np.zeros(len(self.shapes), np.bool_)
        alike[:-length] = self.shapes[:-length] == self.shapes[length:]
        alike &= self.depths < MAX_LOOP_DEPTH
        if not alike.any():
            return
        joins, more, extra = self._joined(length, alike)
        if not joins.any():
            return
        run, further = _run(joins), _run(more)
        again = np.where(run < length, run, np.minimum(run, length + further))
        strides = _summed(extra)
        places = np.flatnonzero(again[: len(again) - length + 1])
        again = again[places]
        body = self.summed_costs[places + length] - self.summed_costs[places]
        body += strides[places + np.minimum(again, length)] - strides[places]
        good = body <= entries
        yield from zip(*(each[good].tolist() for each in (places, again, body)), strict=True)

    def _joined(
        self, length: int, alike: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each node goes with the one `length` behind it, and these two with the next.

        And how many more STRIDEs it then needs.
        """
        places = np.flatnonzero(alike)
        sizes = self.sizes[places]
        owner = np.repeat(np.arange(len(places)), sizes)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        one = self.starts[places][owner] + offset
        other = self.starts[places + length][owner] + offset
        steps = advances(self.last[one], self.first[other])
        good = possible(steps).all(-1)
        if self.depth:
            within = join(self.advances[: self.depth, one], self.advances[: self.depth, other])
            good &= possible(within).all((0, 2))
        new = np.where(moves(steps).any(-1), self.levels[one] + 1 - self.strides[one], 0)
        joins = np.zeros(len(alike), np.bool_)
        joins[places] = np.logical_and.reduceat(good, np.cumsum(sizes) - sizes)
        extra = np.zeros(len(alike), np.int64)
        extra[places] = np.add.reduceat(new, np.cumsum(sizes) - sizes)
        return joins, self._continued(joins, places, length, one, steps), extra

    def _continued(
        self,
        joins: NDArray[np.bool_],
        places: NDArray[np.int64],
        length: int,
        one: NDArray[np.int64],
        steps: Advances,
    ) -> NDArray[np.bool_]:
        """Where nodes advance to those `length` behind them as these do to the next."""
        every = np.zeros((len(self.levels), *steps.shape[1:]), np.int64)
        every[one] = steps
        both = joins.copy()
        both[:-length] &= joins[length:]
        both[-length:] = False
        more = np.zeros(len(both), np.bool_)
        places = np.flatnonzero(both)
        if not len(places):
            return more
        sizes = self.sizes[places]
        owner = np.repeat(np.arange(len(places)), sizes)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        here = self.starts[places][owner] + offset
        there = self.starts[places + length][owner] + offset
        good = possible(join(every[here], every[there])).all(-1)
        more[places] = np.logical_and.reduceat(good, np.cumsum(sizes) - sizes)
        return more


def _chosen(
    nodes: Sequence[Node],
    found: Sequence[Sequence[_Loops]],
    reach: Reach,
    entries: int,
    shapes: Shapes,
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
    return list(_made(nodes, choice, entries, shapes))


def _counts(most: int, least: int) -> Iterator[int]:
    """Iterations that are tried, of up to `most`: few, and nearly all."""
    few = min(most, _FEW)
    yield from range(least, few + 1)
    yield from range(max(few + 1, most - 1), most + 1)


def _made(
    nodes: Sequence[Node], choice: Sequence[tuple[int, int, int]], entries: int, shapes: Shapes
) -> Iterator[Node]:
    """The loops that were chosen, or as much of them as can be made, and all other nodes."""
    place = 0
    while place < len(nodes):
        length, count, more = choice[place]
        end, loop = place + length * count + more, None
        while end > place + length and loop is None:
            starts = range(place, end, length)
            loop = repeated(
                [nodes[start : min(start + length, end)] for start in starts], shapes, entries
            )
            if loop is None:
                end = starts[-1]
        yield loop or nodes[place]
        place = end if loop else place + 1


def _summed(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the first values: none of them, one, and so on."""
    return np.concatenate([[0], np.cumsum(values)])


def _run(true: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The length of the run of true values that begins at each place; 0 where it is false."""
    ends = np.where(true, len(true), np.arange(len(true)))
    return np.minimum.accumulate(ends[::-1])[::-1] - np.arange(len(true))
