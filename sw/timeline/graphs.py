"""The expected cycles of a graph's program, and when each operator has the array."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.timeline.follow import Moved, Timeline
from celosia.sw.timeline.units import TransformWork

__all__ = ["GraphCycles", "ProgramFollower", "transform_work"]

_PAIR: Final = 2
"""Commands of a product: PRELOAD and COMPUTE."""


@dataclass(frozen=True)
class GraphCycles:
    """What a program is expected to take."""

    cycles: int
    starts: tuple[tuple[str, int], ...]
    """Operators by turns, and when their products begin; empty: there are no products."""

    def shares(self) -> Iterator[tuple[str, int]]:
        """Each operator's cycles until products of another one begin; they add up to `cycles`."""
        if not self.starts:
            return
        times = [0, *(start for _, start in self.starts[1:]), self.cycles]
        for (name, _), (begin, end) in zip(self.starts, pairwise(times), strict=True):
            yield name, end - begin


class ProgramFollower:
    """Tells a timeline what each operation of a program moves."""

    def __init__(
        self,
        config: AcceleratorConfig,
        timing: MemoryTiming | None,
        tensors: Mapping[str, Tensor],
        addresses: Mapping[str, int],
    ):
        self.line = Timeline(config, timing)
        self._dim = config.dim
        self._addresses = addresses
        self._tensors = tensors
        self._spaces = {
            Space.SCRATCHPAD: self.line.scratchpad,
            Space.ACCUMULATOR: self.line.accumulator,
            Space.PARAMETERS: self.line.parameters,
        }
        self._starts: list[tuple[str, int]] = []

    def result(self) -> GraphCycles:
        """What has been followed so far, as a whole."""
        return GraphCycles(self.line.cycles, tuple(self._starts))

    def follow(self, op: Op, operator: str, commands: int) -> None:
        """The next operation, its operator, and how many commands it takes."""
        match op:
            case Products():
                more = max(0, commands - _PAIR * op.count)
                for a, w, c, adds in op.places():
                    begin = self.line.product(
                        a,
                        w,
                        c,
                        op.rows,
                        transposed=op.w_transposed,
                        accumulate=adds,
                        weights=op.w_type,
                        commands=_PAIR + more,
                    )
                    more = 0
                    if not self._starts or self._starts[-1][0] != operator:
                        self._starts.append((operator, round(begin)))
            case Load():
                space, rows = self._spaces[op.to.space], (op.to.row, op.to.end)
                moved = self._moved(op.view)
                self.line.load(space, rows, moved, commands=commands, after=op.after)
            case LoadParameters():
                rows = (op.to.row, op.to.end)
                self.line.load(self.line.parameters, rows, self._moved(op.view), commands=commands)
            case Transform():
                self._transform(op, commands)
            case Store():
                self._store(op, commands)

    def _store(self, op: Store, commands: int) -> None:
        source = op.source
        words = source.rows * source.blocks
        if source.space is Space.ACCUMULATOR:
            words = source.rows * -(-self._moved(op.view).bytes // self._dim)
        self.line.store(
            self._spaces[source.space],
            (source.row, source.end),
            self._moved(op.view),
            words,
            parameters=next(((row, row + n) for row, n in op.parameter_rows(self._dim)), None),
            commands=commands,
        )

    def _transform(self, op: Transform, commands: int) -> None:
        self.line.transform(
            transform_work(op, self.line.config),
            (self._spaces[op.source.space], (op.source.row, op.source.end)),
            [(rows.row, rows.end) for rows in op.targets],
            residual=None if op.residual is None else (op.residual.row, op.residual.end),
            parameters=[(first, first + n) for first, n in op.parameter_rows(self._dim)],
            commands=commands,
        )

    def _moved(self, view: View) -> Moved:
        tensor, start = self._tensors[view.tensor], self._addresses[view.tensor]
        return Moved(
            rows=tensor.rows_of(view.rows),
            bytes=view.cols * tensor.element_bytes,
            pitch=tensor.row_bytes,
            address=start + tensor.offset(view),
        )


def transform_work(op: Transform, config: AcceleratorConfig) -> TransformWork:
    """What `op` does: a step for each block of a row, or as many as its function takes.

    The steps of a row take no fewer cycles than one of its results has local rows.
    """
    entry, rows = FUNCTIONS[op.function], op.source.rows
    staged = op.source.space is Space.SCRATCHPAD
    width = config.dim // 2 if staged else config.dim
    blocks, turns = -(-op.cols // width), entry.turns
    header = int(entry.headed)
    steps = rows * (turns * blocks + header)
    before = width if len(op.targets) > 1 else 0  # Elements of the row before a second result.
    rest = op.cols - (blocks - 1) * width
    full, last = (1 if entry.maximum else -(-(before + n) // config.lanes) for n in (width, rest))
    entering = turns * ((blocks - 1) * full + last)
    counted = entry.counted or op.settings.get("moments", 0)
    slot = op.settings.get("statistics", 0)
    return TransformWork(
        steps=steps,
        cycles=rows * (max([entering, *(each.blocks for each in op.targets)]) + header),
        scalings=entry.scalings,
        turning=rows * entering if entry.scalings > 1 else 0,
        last_part=last - 1,
        passes=2 if entry.rotates else 1,
        # Half a row of bytes takes an access, too.
        accesses=tuple(rows * blocks if staged else each.rows * each.blocks for each in op.targets),
        rows=rows,
        slots=range(slot, slot + rows),
        facts=entry.facts,
        finishes=bool(counted and op.settings.get("finish", 0)),
        squares=entry.moments,
    )
