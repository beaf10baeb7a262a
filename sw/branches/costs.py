"""What blocks of a graph take alone, in all of the memories or in a share of them.

The timeline follows each block once; what sets of them take beside each other is put together from
that, by the unit that is busiest: there are too many sets to follow a program of each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.memory import MemoryTiming
from celosia.sw.branches.blocks import Block, part_of
from celosia.sw.compiler.choose import choices_by_rows
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.program import Load, LoadParameters, Op, Store, Transform
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.trickle import array_cycles
from celosia.sw.timeline.graphs import transform_work

__all__ = ["QUARTERS", "Cost", "Costs", "Together", "share_of"]

QUARTERS: Final = 4
"""Shares of the local memories are so many quarters of each."""
_SHARES: Final = {
    1: ((4,),),
    2: ((2, 2), (3, 1), (1, 3)),
    3: ((1, 1, 1),),
    4: ((1, 1, 1, 1),),
}
"""The quarters that branches may get, by the number of branches."""
_NEAR: Final = 1.03
"""A plan that reads less may take so much longer than the fastest one, beside other branches."""

_SIZES: Final = ((4, 4), (8, 4))
"""Rows of a block and tiles along K of a piece, in tiles: taller blocks load weights less often,
and hide less of other work.  Measured: with (8, 2), too, `decode-deep` takes 1.8 % longer."""
_MEETING: Final = 1.03
"""How much longer branches take together than the unit that all of them wait for."""


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


class _Share(AcceleratorConfig):
    """A share of an accelerator's memories, which need not be a power of two."""

    def _check_power_of_two(self, name: str, low: int, high: int) -> None:
        if getattr(self, name) < low:
            raise ConfigError(f"{name}: {getattr(self, name)} is less than {low}")


def share_of(config: AcceleratorConfig, quarters: int) -> AcceleratorConfig:
    """An accelerator with so many quarters of each local memory.

    Raises `ConfigError` if that is too little.
    """
    if quarters == QUARTERS:
        return config
    values = {each.name: getattr(config, each.name) for each in fields(config)}
    for name in ("scratchpad_kib", "accumulator_kib", "parameter_rows", "statistics_rows"):
        values[name] = values[name] * quarters // QUARTERS
    return _Share(**values)


@dataclass(eq=False)
class Costs:
    """The costs of the blocks of `graph`, found when they are asked for."""

    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming
    _known: dict[tuple[int, int], Cost | None] = field(default_factory=dict)

    def plan(self, blocks: Sequence[Block], quarters: int) -> Plan:
        """The plan of blocks in so many quarters of the memories.

        Beside other branches, it is the one of those that take about as long that reads least.
        Raises `ValueError` if they do not fit.
        """
        part, share = part_of(self.graph, blocks), share_of(self.config, quarters)
        chosen = choices_by_rows(part, share)
        plans = [
            decide_graph(part, share, replace(chosen, block_tiles=block, piece_tiles=piece))
            for block, piece in _SIZES
        ]
        known = {repr(plan.stages): plan for plan in reversed(plans)}
        plans = [plan for plan in plans if known[repr(plan.stages)] is plan]
        if len(plans) == 1:
            return plans[0]
        cycles = [predict(part, share, plan, self.timing).cycles for plan in plans]
        if quarters == QUARTERS:
            return plans[cycles.index(min(cycles))]
        near = [plan for plan, n in zip(plans, cycles, strict=True) if n <= _NEAR * min(cycles)]
        return min(near, key=lambda plan: self._work(plan, part)[1])

    def of(self, block: Block, quarters: int) -> Cost | None:
        """The cost of a block in so many quarters of the memories; None: it does not fit."""
        key = block.number, quarters
        if key not in self._known:
            try:
                self._known[key] = self._cost(block, quarters)
            except ValueError:
                self._known[key] = None
        return self._known[key]

    def together(self, branches: Sequence[Sequence[Block]]) -> Together | None:
        """What branches take beside each other, each with its share of the memories.

        None: they do not fit.
        """
        found = [
            each for shares in _SHARES[len(branches)] for each in self._shared(branches, shares)
        ]
        return min(found, key=lambda each: each.cycles, default=None)

    def _shared(
        self, branches: Sequence[Sequence[Block]], quarters: tuple[int, ...]
    ) -> Iterator[Together]:
        """What branches take with these shares, if they fit."""
        alone: list[float] = []
        busy: list[float] = [0.0] * 4
        for branch, share in zip(branches, quarters, strict=True):
            costs = [self.of(block, share) for block in branch]
            if any(cost is None for cost in costs):
                return
            found = [cost for cost in costs if cost is not None]
            alone.append(sum(cost.cycles for cost in found))
            busy = [b + sum(cost.busy[unit] for cost in found) for unit, b in enumerate(busy)]
        cycles = alone[0] if len(branches) == 1 else _MEETING * max(*alone, *busy)
        yield Together(cycles, quarters)

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
            float(sum(work.cycles for work in works)),
        )

    def _bytes(self, view: View) -> int:
        known = self.graph.tensors.get(view.tensor)
        return view.rows * view.cols * (4 if known is None else known.element_bytes)
