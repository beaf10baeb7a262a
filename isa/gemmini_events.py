"""What Gemmini's COUNTER counts: its numbers, and what of it Celosia counts.

Gemmini's numbers name parts of Gemmini.  Each is what comes closest here, or stays 0.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["ACTIVITIES", "EVENTS", "QUEUE_VALUES", "GemminiEvent"]

ACTIVITIES: Final = ("reading", "writing", "read_latency", "write_latency")
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
    """Names of `celosia.isa.events.COUNTERS` and of `ACTIVITIES`, which are added, or one of
    `QUEUE_VALUES`.  None: the event does not happen here."""
    external: bool = False
    """A value (rs1 bit 31), not something that happens."""


def _events(first: int, *names: str | tuple[str, ...]) -> tuple[GemminiEvent, ...]:
    """Events one behind the other: a name, or a name and its sources."""
    found = []
    for number, entry in enumerate(names, first):
        name, *sources = (entry,) if isinstance(entry, str) else entry
        found.append(GemminiEvent(number, name, tuple(sources)))
    return tuple(found)


_VALUES: Final = (
    ("RESERVATION_STATION_LD_COUNT", "load"),
    ("RESERVATION_STATION_ST_COUNT", "store"),
    ("RESERVATION_STATION_EX_COUNT", "execute"),
    ("RDMA_BYTES_REC", "read_bytes"),
    ("WDMA_BYTES_SENT", "write_bytes"),
    ("RDMA_TOTAL_LATENCY", "read_latency"),
    ("WDMA_TOTAL_LATENCY", "write_latency"),
)

EVENTS: Final = (
    *_events(
        1,
        ("MAIN_LD_CYCLES", "reading"),
        ("MAIN_ST_CYCLES", "writing"),
        ("MAIN_EX_CYCLES", "array_rows", "array_padding", "array_weights"),
        "MAIN_LD_ST_CYCLES",
        "MAIN_LD_EX_CYCLES",
        "MAIN_ST_EX_CYCLES",
        "MAIN_LD_ST_EX_CYCLES",
        ("LOAD_DMA_WAIT_CYCLE", "reading"),
        ("LOAD_ACTIVE_CYCLE", "reading"),
        "LOAD_SCRATCHPAD_WAIT_CYCLE",
        ("STORE_DMA_WAIT_CYCLE", "writing"),
        ("STORE_ACTIVE_CYCLE", "writing"),
        "STORE_POOLING_CYCLE",
        "STORE_SCRATCHPAD_WAIT_CYCLE",
        "DMA_TLB_MISS_CYCLE",
        "DMA_TLB_HIT_REQ",
        "DMA_TLB_TOTAL_REQ",
        ("RDMA_ACTIVE_CYCLE", "reading"),
        "RDMA_TLB_WAIT_CYCLES",
        "RDMA_TL_WAIT_CYCLES",
        ("WDMA_ACTIVE_CYCLE", "writing"),
        "WDMA_TLB_WAIT_CYCLES",
        "WDMA_TL_WAIT_CYCLES",
        ("EXE_ACTIVE_CYCLE", "array_rows", "array_padding", "array_weights"),
        "EXE_FLUSH_CYCLE",
        ("EXE_CONTROL_Q_BLOCK_CYCLE", "wait_issue", "wait_command"),
        ("EXE_PRELOAD_HAZ_CYCLE", "wait_load", "wait_store"),
        ("EXE_OVERLAP_HAZ_CYCLE", "wait_execute"),
        ("SCRATCHPAD_A_WAIT_CYCLE", "wait_bank"),
        "SCRATCHPAD_B_WAIT_CYCLE",
        "SCRATCHPAD_D_WAIT_CYCLE",
        "ACC_A_WAIT_CYCLE",
        "ACC_B_WAIT_CYCLE",
        "ACC_D_WAIT_CYCLE",
        "A_GARBAGE_CYCLES",
        "B_GARBAGE_CYCLES",
        "D_GARBAGE_CYCLES",
        "IM2COL_MEM_CYCLES",
        "IM2COL_ACTIVE_CYCLES",
        "IM2COL_TRANSPOSER_WAIT_CYCLE",
        "RESERVATION_STATION_FULL_CYCLES",
        ("RESERVATION_STATION_ACTIVE_CYCLES", "cycles"),
        "LOOP_MATMUL_ACTIVE_CYCLES",
        "TRANSPOSE_PRELOAD_UNROLLER_ACTIVE_CYCLES",
    ),
    *(
        GemminiEvent(number, name, (source,), external=True)
        for number, (name, source) in enumerate(_VALUES, 1)
    ),
)
"""In the order of their numbers, those of values last."""
