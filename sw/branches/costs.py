"""What blocks of a graph take alone, in all of the memories or in a share of them.

The timeline follows blocks that are alike once.  What sets of them take beside each other is at
least what the unit that is busiest does, until the timeline has followed their composed program
(`celosia.sw.branches.compose.follow`): there are too many sets to follow a program of each.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.branches.blocks import Block, blocks_of, part_of
from celosia.sw.branches.candidates import candidates
from celosia.sw.branches.shares import QUARTERS, share_of
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.graphs.alike import anonymous
from celosia.sw.ir.program import Load, LoadParameters, Op, Store, Transform
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.trickle import array_cycles
from celosia.sw.timeline.graphs import transform_work

__all__ = ["Cost", "Costs", "Together"]

_SHARES: Final = {
    1: ((4,),),
    2: ((2, 2), (3, 1), (1, 3)),
    3: ((1, 1, 1),),
    4: ((1, 1, 1, 1),),
}
"""The quarters that branches may get, by the number of branches."""
_NEAR: Final = 1.03
"""A plan that reads less may take so much longer than the fastest one, beside other branches."""
_MEETING: Final = 1.03
"""How much longer branches take together than the unit that all of them wait for, at first."""


@dataclass(frozen=True)
class Cost:
    """Cycles of a block if nothing else is computed."""

    cycles: int
    """From the first to the last."""
    busy: tuple[float, ...]
    """For which the array, both directions of the bus and the transform unit work."""


@dataclass(frozen=True)
class Together:
    """What branches take beside each other, and the quarters of the memories for each."""

    cycles: float
    quarters: tuple[int, ...]


@dataclass(eq=False)
class Costs:
    """The costs of the blocks of `graph`, found when they are asked for."""

    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming
    only_followed: bool = False
    """Branches whose program nobody has followed are nothing to go by."""
    _known: dict[tuple[int, int], Cost | None] = field(default_factory=dict)
    _taken: dict[tuple[int, int], int] = field(default_factory=dict)
    """Which plan was taken for blocks."""
    _followed: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)
    """What the timeline says of branches, with the quarters for each."""
    _longer: list[float] = field(default_factory=lambda: [_MEETING])
    _keys: dict[tuple[tuple[int, ...], ...], int] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    """One number for blocks that are alike."""

    def plan(self, blocks: Sequence[Block], quarters: int) -> Plan:
        """The plan of blocks in so many quarters of the memories.

        Beside other branches, it is the one of those that take about as long that reads least.
        Raises `ValueError` if they do not fit.
        """
        part, share = part_of(self.graph, blocks), share_of(self.config, quarters)
        plans = candidates(part, share)
        if len(plans) == 1:
            return plans[0]
        key = self._key(blocks), quarters
        if key not in self._taken:
            taken = self._best(plans, part, quarters)
            self._taken[key] = plans.index(taken)
        return plans[self._taken[key]]

    def _best(self, plans: Sequence[Plan], part: Graph, quarters: int) -> Plan:
        share = share_of(self.config, quarters)
        cycles = [predict(part, share, plan, self.timing).cycles for plan in plans]
        if quarters == QUARTERS:
            return plans[cycles.index(min(cycles))]
        near = [plan for plan, n in zip(plans, cycles, strict=True) if n <= _NEAR * min(cycles)]
        return min(near, key=lambda plan: self._work(plan, part)[1])

    def of(self, block: Block, quarters: int) -> Cost | None:
        """The cost of a block in so many quarters of the memories; None: it does not fit."""
        key = self._key([block]), quarters
        if key not in self._known:
            try:
                self._known[key] = self._cost(block, quarters)
            except ValueError:
                self._known[key] = None
        return self._known[key]

    @cached_property
    def hidden(self) -> float:
        """What blocks take one after the other, as a share of what each takes alone."""
        blocks = blocks_of(self.graph)
        costs = [cost for block in blocks if (cost := self.of(block, QUARTERS))]
        plan = self.plan(blocks, QUARTERS)
        whole = predict(self.graph, self.config, plan, self.timing).cycles
        return whole / sum(cost.cycles for cost in costs)

    def together(self, branches: Sequence[Sequence[Block]]) -> Together | None:
        """What branches take beside each other, each with its share of the memories.

        It is what the timeline says, or until that is known, what the unit that is busiest does,
        longer by as much as those that are known took.  None: they do not fit.
        """
        if len(branches) == 1:
            ((block,),) = branches
            cost = self.of(block, QUARTERS)
            return cost and Together(cost.cycles * self.hidden, (QUARTERS,))
        found = [
            each for shares in _SHARES[len(branches)] for each in self._shared(branches, shares)
        ]
        return min(found, key=lambda each: each.cycles, default=None)

    def is_followed(self, branches: Sequence[Sequence[Block]], quarters: tuple[int, ...]) -> bool:
        """Whether the timeline has followed the program of these branches, or of some alike."""
        return (self._key(*branches), quarters) in self._followed

    def learn(
        self, branches: Sequence[Sequence[Block]], quarters: tuple[int, ...], cycles: float
    ) -> None:
        """Remember what the timeline says of branches."""
        (bound,) = self._shared(branches, quarters, bound=True)
        self._followed[self._key(*branches), quarters] = cycles
        self._longer.append(cycles / bound.cycles)

    def _shared(
        self, branches: Sequence[Sequence[Block]], quarters: tuple[int, ...], *, bound: bool = False
    ) -> Iterator[Together]:
        """What branches take with these shares, if they fit; or no less than that."""
        alone: list[float] = []
        busy: list[float] = [0.0] * 4
        for branch, share in zip(branches, quarters, strict=True):
            costs = [self.of(block, share) for block in branch]
            if any(cost is None for cost in costs):
                return
            found = [cost for cost in costs if cost is not None]
            alone.append(sum(cost.cycles for cost in found))
            busy = [b + sum(cost.busy[unit] for cost in found) for unit, b in enumerate(busy)]
        least = max(*alone, *busy)
        if bound:
            yield Together(least, quarters)
        elif (key := (self._key(*branches), quarters)) in self._followed:
            yield Together(self._followed[key], quarters)
        elif not self.only_followed:
            yield Together(least * fmean(self._longer), quarters)

    def _key(self, *branches: Sequence[Block]) -> int:
        """What branches that are alike have in common."""
        numbers = tuple(tuple(block.number for block in branch) for branch in branches)
        if numbers not in self._keys:
            lists = [[op for block in branch for op in block.ops] for branch in branches]
            found = anonymous(self.graph.tensors, *lists)
            self._keys[numbers] = self._numbers.setdefault(found, len(self._numbers))
        return self._keys[numbers]

    def _cost(self, block: Block, quarters: int) -> Cost:
        share, part = share_of(self.config, quarters), part_of(self.graph, [block])
        plan = self.plan([block], quarters)
        cycles = predict(part, share, plan, self.timing).cycles
        return Cost(cycles, self._work(plan, part))

    def _work(self, plan: Plan, part: Graph) -> tuple[float, ...]:
        return self._busy([written.op for written in expand(plan, part)])

    def _busy(self, ops: Sequence[Op]) -> tuple[float, ...]:
        reads = sum(self._bytes(op.view) for op in ops if isinstance(op, Load | LoadParameters))
        writes = sum(self._bytes(op.view) for op in ops if isinstance(op, Store))
        works = [transform_work(op, self.config) for op in ops if isinstance(op, Transform)]
        rate = self.timing.bytes_per_cycle
        return (
            float(sum(array_cycles(op) for op in ops)),
            reads / rate,
            writes / rate,
            float(sum(work.pace for work in works)),
        )

    def _bytes(self, view: View) -> int:
        known = self.graph.tensors.get(view.tensor)
        return view.rows * view.cols * (4 if known is None else known.element_bytes)
