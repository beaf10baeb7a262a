"""What Gemmini's COUNTER counts: its numbers, and what of it Celosia counts.

Gemmini's numbers name parts of Gemmini.  Each is what comes closest here, or stays 0.
"""

from dataclasses import dataclass
from typing import Final

from celosia.isa.registers.events import TABLES

__all__ = ["ACTIVITIES", "EVENTS", "QUEUE_VALUES", "GemminiEvent"]

ACTIVITIES: Final = ("reading", "writing", "read_latency_sum", "write_latency_sum")
"""What the memory's side knows: cycles with read (write) bursts in flight, and the sum over all
cycles of how many there were."""

QUEUE_VALUES: Final = ("load", "store", "execute")
"""Operations that are queued or run now."""


@dataclass(frozen=True)
class GemminiEvent:
    """An event of COUNTER."""

    number: int
    name: str
    sources: tuple[str, ...] = ()
    """Names of `celosia.isa.registers.events.COUNTERS` and of `ACTIVITIES`, which are added, or one
    of
    `QUEUE_VALUES`.  None: the event does not happen here."""
    external: bool = False
    """A value (rs1 bit 31), not something that happens."""


def _of(table: str, *groups: str) -> tuple[str, ...]:
    """The counters of some groups of one of the `TABLES`."""
    (found,) = (known for known in TABLES if known.name == table)
    return tuple(owner.name for group in groups for owner in found.groups[group])


def _events(*names: str | tuple[str, *tuple[str, ...]]) -> tuple[GemminiEvent, ...]:
    """Events one behind the other: a name, or a name and its sources."""
    found = []
    for number, entry in enumerate(names, 1):
        name, *sources = (entry,) if isinstance(entry, str) else entry
        found.append(GemminiEvent(number, name, tuple(sources)))
    return tuple(found)


_VALUES: Final = (
    ("RESERVATION_STATION_LD_COUNT", "load"),
    ("RESERVATION_STATION_ST_COUNT", "store"),
    ("RESERVATION_STATION_EX_COUNT", "execute"),
    ("RDMA_BYTES_REC", "read_bytes"),
    ("WDMA_BYTES_SENT", "write_bytes"),
    ("RDMA_TOTAL_LATENCY", "read_latency_sum"),
    ("WDMA_TOTAL_LATENCY", "write_latency_sum"),
)

EVENTS: Final = (
    *_events(
        ("MAIN_LD_CYCLES", "reading"),
        ("MAIN_ST_CYCLES", "writing"),
        ("MAIN_EX_CYCLES", *_of("array", "rows", "padding", "weights")),
        "MAIN_LD_ST_CYCLES",
        "MAIN_LD_EX_CYCLES",
        "MAIN_ST_EX_CYCLES",
        "MAIN_LD_ST_EX_CYCLES",
        ("LOAD_DMA_WAIT_CYCLE", *_of("read", "memory")),
        ("LOAD_ACTIVE_CYCLE", *_of("read", "data", "memory", "bank", "stages")),
        ("LOAD_SCRATCHPAD_WAIT_CYCLE", *_of("read", "bank")),
        ("STORE_DMA_WAIT_CYCLE", *_of("write", "memory")),
        ("STORE_ACTIVE_CYCLE", *_of("write", "data", "memory", "bank", "stages")),
        "STORE_POOLING_CYCLE",
        ("STORE_SCRATCHPAD_WAIT_CYCLE", *_of("write", "bank")),
        "DMA_TLB_MISS_CYCLE",
        "DMA_TLB_HIT_REQ",
        "DMA_TLB_TOTAL_REQ",
        ("RDMA_ACTIVE_CYCLE", "reading"),
        "RDMA_TLB_WAIT_CYCLES",
        ("RDMA_TL_WAIT_CYCLES", "read_bandwidth"),
        ("WDMA_ACTIVE_CYCLE", "writing"),
        "WDMA_TLB_WAIT_CYCLES",
        ("WDMA_TL_WAIT_CYCLES", "write_bandwidth"),
        ("EXE_ACTIVE_CYCLE", *_of("array", "rows", "padding", "weights")),
        "EXE_FLUSH_CYCLE",
        ("EXE_CONTROL_Q_BLOCK_CYCLE", *_of("array", "issue", "command")),
        ("EXE_PRELOAD_HAZ_CYCLE", *_of("array", "load", "accumulator")),
        ("EXE_OVERLAP_HAZ_CYCLE", *_of("array", "hazard")),
        ("SCRATCHPAD_A_WAIT_CYCLE", *_of("array", "bank")),
        "SCRATCHPAD_B_WAIT_CYCLE",
        ("SCRATCHPAD_D_WAIT_CYCLE", *_of("array", "d")),
        "ACC_A_WAIT_CYCLE",
        "ACC_B_WAIT_CYCLE",
        "ACC_D_WAIT_CYCLE",
        "A_GARBAGE_CYCLES",
        "B_GARBAGE_CYCLES",
        "D_GARBAGE_CYCLES",
        "IM2COL_MEM_CYCLES",
        "IM2COL_ACTIVE_CYCLES",
        "IM2COL_TRANSPOSER_WAIT_CYCLE",
        ("RESERVATION_STATION_FULL_CYCLES", "wait_queue_load", "wait_queue_store"),
        ("RESERVATION_STATION_ACTIVE_CYCLES", "cycles"),
        "LOOP_MATMUL_ACTIVE_CYCLES",
        "TRANSPOSE_PRELOAD_UNROLLER_ACTIVE_CYCLES",
    ),
    *(
        GemminiEvent(number, name, (source,), external=True)
        for number, (name, source) in enumerate(_VALUES, 1)
    ),
)
"""All events of COUNTER in the order of their numbers; those of values (external) come last."""
