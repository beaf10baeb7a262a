"""How long operations are expected to take, and to be waited for: what a schedule goes by.

Rough on purpose: a schedule that repeats where the program does is worth more than one that knows
each cycle (`celosia.sw.timeline` knows more of them).
"""

from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.latencies import (
    ADDRESS_LATENCY,
    FACTS_CYCLES,
    LOCAL_READ_LATENCY,
    ROW_LATENCY,
    SQUARED_FACTS_CYCLES,
    SQUARED_FACTS_LATENCY,
    TOKEN_LATENCY,
    lane_latency,
    tile_cycles,
)
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
    Unit,
)
from celosia.sw.timeline.graphs import transform_work

__all__ = ["Expected"]

_HANDOVER: Final = 4
"""Cycles from one unit that is done to another one that waited for it."""
_COUNTED: Final = 40
"""Cycles from the last step of a row to its sums, and from these to what reads them."""


class Expected:
    """Cycles of operations on an accelerator of this configuration at a memory of usual latency."""

    def __init__(self, config: AcceleratorConfig):
        self._config, self._dim = config, config.dim
        self._bus_bytes = config.bus_bytes
        self._memory = MemoryTiming.latency
        self.arrival: int = self._memory + ADDRESS_LATENCY + ROW_LATENCY
        """Cycles from what a load asks for until that is there."""

    def cycles(self, op: Op) -> int:
        """Cycles for which `op` keeps its unit or channel busy."""
        match op:
            case Products():
                tile = tile_cycles(self._config, op.w_type, transposed=op.w_transposed)
                return max(op.rows, tile) * op.count
            case Transform():
                return transform_work(op, self._config).pace
            case Load() | LoadParameters():
                return self._moved(op.to)
            case Store():
                return self._moved(op.source)

    def latency(self, op: Op, reader: Op) -> int:
        """Cycles from the last one of `op` until `reader`, which depends on it, may begin."""
        match op:
            case Products():
                # Sums are added to on their way out of the array, one product behind the other.
                adds = isinstance(reader, Products)
                return 0 if adds else 2 * self._dim + _HANDOVER
            case Transform():
                if isinstance(reader, Transform):
                    return self._facts(op, reader)
                scalings = transform_work(op, self._config).scalings
                return LOCAL_READ_LATENCY + lane_latency(scalings) + _HANDOVER
            case Store():
                waits = reader.unit is Unit.LOAD
                return self._memory + TOKEN_LATENCY + _HANDOVER if waits else _HANDOVER
            case Load() | LoadParameters():
                waits = reader.unit is not Unit.LOAD
                return self.arrival if waits else 1

    def _facts(self, op: Transform, reader: Transform) -> int:
        """Cycles until the facts of the last row are there, if `reader` needs any of `op`."""
        work, next_work = transform_work(op, self._config), transform_work(reader, self._config)
        if not (work.finishes and (next_work.facts or next_work.finishes)):
            return 1
        row = SQUARED_FACTS_CYCLES if work.squares else FACTS_CYCLES
        behind = max(0, row * work.rows - work.cycles)
        return _COUNTED + row + behind + SQUARED_FACTS_LATENCY

    def _moved(self, rows: LocalRows) -> int:
        """Cycles of the channel for local rows."""
        row = self._dim * (1 if rows.space is Space.SCRATCHPAD else ACC_BYTES)
        return -(-rows.rows * rows.blocks * row // self._bus_bytes)
