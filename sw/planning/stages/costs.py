"""What blocks of a graph take alone, in all of the memories or in a share of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.program import Load, LoadParameters, Op, Store, Transform
from celosia.sw.pipeline import predict_plan
from celosia.sw.plan import choices_by_rows
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.common import ELEMENT_BYTES
from celosia.sw.planning.stages.blocks import Block, part_of
from celosia.sw.scheduling.expansion.expand import expand
from celosia.sw.scheduling.trickle import array_cycles
from celosia.sw.timeline.graphs import transform_work

__all__ = ["Cost", "Costs", "share_of"]

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


def share_of(config: AcceleratorConfig, parts: int) -> AcceleratorConfig:
    """An accelerator with one of so many parts of each local memory.

    Raises `ConfigError` if that is too little.
    """
    return replace(
        config,
        scratchpad_kib=config.scratchpad_kib // parts,
        accumulator_kib=config.accumulator_kib // parts,
        parameter_rows=config.parameter_rows // parts,
        statistics_rows=config.statistics_rows // parts,
    )


@dataclass(eq=False)
class Costs:
    """The costs of the blocks of `graph`, found when they are asked for."""

    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming
    _known: dict[tuple[int, int], Cost | None] = field(default_factory=dict)

    def plan(self, blocks: Sequence[Block], parts: int) -> Plan:
        """The plan of blocks in one of so many parts of the memories.

        Raises `ValueError` if they do not fit.
        """
        part, share = part_of(self.graph, blocks), share_of(self.config, parts)
        chosen = choices_by_rows(part, share)
        plans = [
            decide_graph(part, share, replace(chosen, block_tiles=block, piece_tiles=piece))
            for block, piece in _SIZES
        ]
        known = {repr(plan.stages): plan for plan in reversed(plans)}
        plans = [plan for plan in plans if known[repr(plan.stages)] is plan]
        if len(plans) == 1:
            return plans[0]
        return min(plans, key=lambda plan: predict_plan(part, plan, share, self.timing).cycles)

    def of(self, block: Block, parts: int) -> Cost | None:
        """The cost of a block in one of so many parts of the memories; None: it does not fit."""
        key = block.number, parts
        if key not in self._known:
            try:
                self._known[key] = self._cost(block, parts)
            except ValueError:
                self._known[key] = None
        return self._known[key]

    def together(self, branches: Sequence[Sequence[Block]]) -> float | None:
        """What branches take beside each other, each with its part of the memories."""
        parts = 1 if len(branches) == 1 else 2 if len(branches) == 2 else 4
        alone: list[float] = []
        busy: list[float] = [0.0] * 4
        for branch in branches:
            costs = [self.of(block, parts) for block in branch]
            if any(cost is None for cost in costs):
                return None
            found = [cost for cost in costs if cost is not None]
            alone.append(sum(cost.cycles for cost in found))
            busy = [b + sum(cost.busy[unit] for cost in found) for unit, b in enumerate(busy)]
        return alone[0] if len(branches) == 1 else _MEETING * max(*alone, *busy)

    def _cost(self, block: Block, parts: int) -> Cost:
        share, part = share_of(self.config, parts), part_of(self.graph, [block])
        plan = self.plan([block], parts)
        cycles = predict_plan(part, plan, share, self.timing).cycles
        ops = [written.op for written in expand(plan, part)]
        return Cost(cycles, self._busy(ops))

    def _busy(self, ops: Sequence[Op]) -> tuple[float, ...]:
        reads = sum(self._bytes(op.view) for op in ops if isinstance(op, Load | LoadParameters))
        writes = sum(self._bytes(op.view) for op in ops if isinstance(op, Store))
        works = [transform_work(op, self.config) for op in ops if isinstance(op, Transform)]
        rate = self.timing.bytes_per_cycle
        return (
            float(sum(max(array_cycles(op), 0) for op in ops)),
            reads / rate,
            writes / rate,
            float(sum(work.cycles for work in works)),
        )

    def _bytes(self, view: View) -> int:
        known = self.graph.tensors.get(view.tensor)
        return view.rows * view.cols * (4 if known is None else ELEMENT_BYTES.get(known.type, 4))
