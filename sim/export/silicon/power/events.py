"""What happens in a cycle that energy is spent for, and which units spend it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import Function
from celosia.isa.registers.events import ARRAY_OWNERS, VECTOR_OWNERS, function_counter
from celosia.sim.export.silicon.area.units import NORMALIZATION
from celosia.sim.export.silicon.energy.unit_events import lane_step
from celosia.sim.export.silicon.power.waves import Recorded

__all__ = [
    "COUNTERS_SCOPE",
    "GROUPS",
    "OTHERS",
    "SCOPES",
    "Counts",
    "SpentBy",
    "counted",
    "happened",
]

Counts = NDArray[np.floating[Any]]
"""How often an event happened, cycle by cycle."""

_CORE: Final = "celosia_axi"
COUNTERS_SCOPE: Final = f"{_CORE}.counters"
_MESH: Final = f"{_CORE}.accelerator.execute.array.mesh"
_REQUANTIZER: Final = f"{_CORE}.accelerator.store.unit.drain.requantizer"
_SCALER: Final = f"{_CORE}.accelerator.load.unit.rows.scaler"
SCOPES: Final = (COUNTERS_SCOPE, _MESH, _REQUANTIZER, _SCALER)
"""Where the signals are that tell what happens."""


_STEPS: Final = tuple(lane_step(function) for function in Function)


@dataclass(frozen=True)
class SpentBy:
    """Units whose energy is spent for the same events."""

    units: frozenset[str]
    events: Sequence[str]
    meaning: str
    stages: int = 1
    """Cycles that they spend for an event, about."""
    beside: Sequence[str] = ()
    """Events whose energy is measured with operands of their own: they never happen apart from
    others, or in no layer."""


_LANES: Final = frozenset(unit for unit in NORMALIZATION if unit.startswith("lanes"))
GROUPS: Final = (
    SpentBy(frozenset({"mesh"}), ("mac",), "cells, skew and alignment", 31, ("weight_byte",)),
    SpentBy(frozenset({"requantizer"}), ("requantized_element",), "requantizer", 10),
    SpentBy(frozenset({"load scaler"}), (), "load scaler", 1, ("scaled_load_byte",)),
    SpentBy(
        frozenset({"decoder", "loops", "issue and hazards", "tokens"}),
        ("command",),
        "decoder, loops, issue, hazards, tokens",
    ),
    SpentBy(
        frozenset({"transposer and skew", "execute control", "scratchpad", "accumulator"}),
        ("array_row",),
        "transposer, masks, control of the array, logic around its memories",
    ),
    SpentBy(_LANES, _STEPS, "lanes", 24),
    SpentBy(NORMALIZATION - _LANES, ("transform_step",), "control, reader, writer, statistics", 12),
)
"""Units, and what they spend for; `OTHERS` are all that are not in them."""
OTHERS: Final = SpentBy(frozenset(), ("moved_byte",), "loads, stores, DMA, counters")


def counted(counters: Recorded, config: AcceleratorConfig) -> dict[str, Counts]:
    """How often each event happened in each cycle, of those that the counters see."""
    signals = counters.signals
    busy = _number(signals["events.busy"]) == 1
    array, vector = (_number(signals[f"events.{name}"]) for name in ("array", "vector"))
    rows = busy & (array == _index(ARRAY_OWNERS, "array_rows"))
    padding = busy & (array == _index(ARRAY_OWNERS, "array_padding"))
    moved = _number(signals["events.read_bytes"]) + _number(signals["events.write_bytes"])
    events: dict[str, Counts] = {
        "mac": rows * float(config.dim**2),
        "array_row": (rows | padding) * 1.0,
        "command": _number(signals["events.command"]) * 1.0,
        "moved_byte": moved * 1.0,
        "transform_step": np.zeros(len(busy)),
    }
    for function in Function:
        steps = busy & (vector == _index(VECTOR_OWNERS, function_counter("vector", function)))
        events[lane_step(function)] = steps * float(config.lanes)
        events["transform_step"] += steps
    return events


def happened(recorded: Mapping[str, Recorded], config: AcceleratorConfig) -> dict[str, Counts]:
    """How often each event happened in each cycle of a recording of `SCOPES`."""
    weights = _number(recorded[_MESH].signals["weights_start"])
    requests = _number(recorded[_REQUANTIZER].signals["request.valid"])
    scaled = _number(recorded[_SCALER].signals["enable"])
    return counted(recorded[COUNTERS_SCOPE], config) | {
        "weight_byte": weights * float(config.dim**2),
        "requantized_element": requests * float(config.dim),
        "scaled_load_byte": scaled * float(config.dim),
    }


def _index(owners: Iterable[object], name: str) -> int:
    return [getattr(owner, "name", "") for owner in owners].index(name)


def _number(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    return bits.astype(np.int64) @ (1 << np.arange(bits.shape[1], dtype=np.int64))
