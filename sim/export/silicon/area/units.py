"""Which unit of the figure each place of the hierarchy belongs to."""

from collections.abc import Mapping
from typing import Final

__all__ = ["NORMALIZATION", "REST", "UNITS", "unit_of"]

REST: Final = "top, errors, status"
"""What is in none of the others."""

UNITS: Final[Mapping[str, str]] = {
    "accelerator.execute.array.mesh": "mesh",
    "accelerator.execute.array": "transposer and skew",
    "accelerator.execute": "execute control",
    "accelerator.load.unit.reader": "DMA reader",
    "accelerator.store.unit.writer": "DMA writer",
    "accelerator.load.unit.rows.scaler": "load scaler",
    "accelerator.load": "load control and unpacking",
    "accelerator.store.unit.drain.requantizer": "requantizer",
    "accelerator.store": "store control and drain",
    "accelerator.issue": "issue and hazards",
    "accelerator.tokens": "tokens",
    "accelerator.decoder": "decoder",
    "accelerator.loops": "loops",
    "counters": "counters",
    "accelerator.owners": "counters",
    "accelerator.accumulator": "accumulator",
    "accelerator.parameters": "parameters",
    "accelerator.scratchpad": "scratchpad",
    "accelerator.transform.lanes.unit.polynomial": "lanes: polynomial",
    "accelerator.transform.lanes.unit.scaler": "lanes: scaler",
    "accelerator.transform.lanes.unit.total": "lanes: sums",
    "accelerator.transform.lanes.unit.maximum": "lanes: maximum",
    "accelerator.transform.lanes": "lanes: control",
    "accelerator.transform.unit.statistics": "statistics and background",
    "accelerator.transform": "transform control, reader, writer",
}
"""The unit of each part of the hierarchy, in the order of the data path; the longest name wins."""

NORMALIZATION: Final = frozenset(
    unit for place, unit in UNITS.items() if place.startswith("accelerator.transform")
)
"""The units that only `normalization` builds."""


def unit_of(path: str) -> str:
    """The unit of the instance (or memory) at `path` below the top; `REST` if it is in none."""
    words = path.split(".")
    for length in range(len(words), 0, -1):
        # Amaranth numbers names that occur twice.
        name = ".".join([*words[: length - 1], words[length - 1].partition("$")[0]])
        if name in UNITS:
            return UNITS[name]
    return REST
