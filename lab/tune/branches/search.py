"""Stages of a graph by search: which blocks are computed beside each other, and in which order.

As in IOS (Ding et al., MLSys 2021): a stage is branches, chains of blocks that do not depend on
each other; stages follow each other.  Dynamic programming goes over all sets of blocks that may be
over.  The sequential order computes block by block; the greedy one begins whatever can begin.
What is searched is an order, which no plan with another value of one choice leads to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from celosia.sw.branches.blocks import Block, Branches
from celosia.sw.branches.costs import Costs

__all__ = ["STRATEGIES", "Strategy", "stages_of"]

Strategy = Literal["sequential", "greedy", "dp"]
STRATEGIES: Final[tuple[Strategy, ...]] = ("sequential", "greedy", "dp")

_MOST_BRANCHES: Final = 4
_MOST_BLOCKS: Final = 12
"""Blocks of a stage."""


def stages_of(blocks: Sequence[Block], costs: Costs, strategy: Strategy) -> tuple[Branches, ...]:
    """The stages of a graph of these `blocks`."""
    match strategy:
        case "sequential":
            return tuple(((block,),) for block in blocks)
        case "greedy":
            return tuple(_greedy(blocks, costs))
        case "dp":
            return _Search(blocks, costs).stages()


def _greedy(blocks: Sequence[Block], costs: Costs) -> Iterator[Branches]:
    """All blocks that nothing holds back, as branches of one block each."""
    done: frozenset[int] = frozenset()
    while len(done) < len(blocks):
        ready = [b for b in blocks if b.number not in done and b.needs <= done][:_MOST_BRANCHES]
        while len(ready) > 1 and costs.together([(block,) for block in ready]) is None:
            ready.pop()  # Their parts of the memories are too small.
        yield tuple((block,) for block in ready)
        done |= {block.number for block in ready}


@dataclass(frozen=True)
class _Best:
    """The best stages for what is left."""

    cost: float
    first: Branches = ()


class _Search:
    """Dynamic programming over sets of blocks that are over."""

    def __init__(self, blocks: Sequence[Block], costs: Costs):
        self.blocks, self.costs = blocks, costs
        self.best = cache(self._best)

    def stages(self) -> tuple[Branches, ...]:
        """The best stages of all blocks."""
        done: frozenset[int] = frozenset()
        found: list[Branches] = []
        while len(done) < len(self.blocks):
            found.append(self.best(done).first)
            done |= {block.number for branch in found[-1] for block in branch}
        return tuple(found)

    def _best(self, done: frozenset[int]) -> _Best:
        if len(done) == len(self.blocks):
            return _Best(0)
        best = _Best(float("inf"))
        for numbers in self._candidates(done):
            branches = self._branches(numbers)
            alone = len(branches) == 1
            if len(branches) > _MOST_BRANCHES or (alone and len(numbers) > 1):
                continue
            found = self.costs.together(branches)
            if found is not None and found.cycles < best.cost:
                whole = found.cycles + self.best(done | numbers).cost
                if whole < best.cost:
                    best = _Best(whole, branches)
        return best

    def _candidates(self, done: frozenset[int]) -> Iterator[frozenset[int]]:
        """All sets of blocks that may be computed when `done` are over, small ones first."""
        seen: set[frozenset[int]] = set()
        waiting: list[frozenset[int]] = [frozenset()]
        while waiting:
            numbers = waiting.pop(0)
            for block in self.blocks:
                over = done | numbers
                if block.number in over or not block.needs <= over or len(numbers) >= _MOST_BLOCKS:
                    continue
                larger = numbers | {block.number}
                if larger not in seen:
                    seen.add(larger)
                    waiting.append(larger)
                    yield larger

    def _branches(self, numbers: frozenset[int]) -> Branches:
        """The parts of a set that do not depend on each other, each in order."""
        parts: list[set[int]] = []
        for number in sorted(numbers):
            linked = [part for part in parts if part & self.blocks[number].needs]
            parts = [part for part in parts if part not in linked]
            parts.append({number}.union(*linked))
        return tuple(tuple(self.blocks[n] for n in sorted(part)) for part in parts)
