"""The performance counters: names and meanings, in the order of the hardware's registers.

Each unit of `TABLES` is owned by exactly one counter of its table in each busy cycle: what it does,
or the one thing that it waits for.  Where several would do, docs/counters.md says which one it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from celosia.isa.encoding import Function

__all__ = [
    "ARRAY_OWNERS",
    "COUNTERS",
    "COUNTER_BITS",
    "READ_OWNERS",
    "TABLES",
    "VECTOR_OWNERS",
    "WRITE_OWNERS",
    "Counter",
    "Owner",
    "Table",
    "function_counter",
]

COUNTER_BITS: Final = 48


@dataclass(frozen=True)
class Counter:
    """A free-running counter, zeroed by a clear."""

    name: str
    doc: str


@dataclass(frozen=True)
class Owner(Counter):
    """A counter of the cycles that a unit spends in one way."""

    group: str
    """What it is part of where there is no room for all: one word."""


@dataclass(frozen=True)
class Table:
    """A unit, and whose its cycles may be: they add up to `cycles`."""

    name: str
    unit: str
    """The unit, as a heading has it."""
    owners: tuple[Owner, ...]
    work: tuple[str, ...]
    """The groups of `owners` in which the unit does its work; in the others it waits."""

    @property
    def groups(self) -> Mapping[str, tuple[Owner, ...]]:
        """The owners by their groups, in order."""
        names = dict.fromkeys(owner.group for owner in self.owners)
        return {
            name: tuple(owner for owner in self.owners if owner.group == name) for name in names
        }


def function_counter(prefix: str, function: Function) -> str:
    """The name of the counter of `function` whose names begin with `prefix`."""
    return f"{prefix}_{function.name.lower()}"


def _functions(prefix: str, group: str, doc: str) -> tuple[Owner, ...]:
    """An owner for each function of TRANSFORM."""
    return tuple(
        Owner(function_counter(prefix, function), doc.format(function.name), group)
        for function in Function
    )


_BANKS: Final = {
    "results": "that takes results of products",
    "weights": "that reads weights",
    "operands": "that reads rows of A or D",
    "transform": "that serves transforms",
    "store": "that a store reads",
    "words": "that takes results of transforms",
    "load": "of the accumulator that adds a load",
}
"""A bank, by what is served before a row that waits for it."""


def _banks(unit: str, *served: str) -> tuple[Owner, ...]:
    """The owners of cycles in which `unit` waits for a bank, one for each of those `served`."""
    return tuple(
        Owner(f"{unit}_bank_{name}", f"A row waits for a bank {_BANKS[name]}.", "bank")
        for name in served
    )


ARRAY_OWNERS: Final = (
    Owner("array_rows", "A row of A enters the array and its result is written.", "rows"),
    Owner(
        "array_padding",
        "A row of zeros beyond A's rows enters, because C has more rows.",
        "padding",
    ),
    Owner(
        "array_weights", "A product waits only for its weights to move into the array.", "weights"
    ),
    Owner("array_d", "A row of D is read, and its row of A only after it.", "d"),
    Owner("wait_bank_weights", "A row of A or D waits for a bank that reads weights.", "bank"),
    Owner(
        "wait_bank_results",
        "A row or weights wait for results of products that go to the scratchpad, or the load that "
        "the next product waits for does for results that go to its bank.",
        "bank",
    ),
    Owner(
        "wait_bank_transform",
        "The load that the next product waits for waits for a bank that serves transforms.",
        "bank",
    ),
    Owner(
        "wait_bank_store",
        "The load that the next product waits for waits for a bank that serves stores.",
        "bank",
    ),
    Owner(
        "wait_load_latency",
        "The next product waits for a load, whose data memory has not begun to send.",
        "load",
    ),
    Owner(
        "wait_load_bandwidth",
        "The next product waits for a load, whose data arrive as fast as memory sends them.",
        "load",
    ),
    Owner(
        "wait_load_requests",
        "The next product waits for a load, whose request went out late: too many were in flight.",
        "load",
    ),
    Owner(
        "wait_load_stages",
        "The next product waits for a load that passes the stages of the load path.",
        "load",
    ),
    Owner(
        "wait_token",
        "The next product waits for a load that waits for stores by a token.",
        "token",
    ),
    Owner(
        "wait_accumulator",
        "The next product waits for a store to have read rows of the accumulator that it writes.",
        "accumulator",
    ),
    *_functions("wait", "transform", "The next product waits for a TRANSFORM of {}."),
    Owner(
        "wait_execute_execute",
        "The next product waits for the result of an earlier product in the scratchpad.",
        "hazard",
    ),
    Owner(
        "wait_execute_store",
        "The next product waits for a store to have read rows of the scratchpad that it writes.",
        "hazard",
    ),
    Owner(
        "wait_load_execute",
        "The next product waits for a load, and that for an earlier product.",
        "hazard",
    ),
    Owner(
        "wait_load_store",
        "The next product waits for a load, and that for a store.",
        "hazard",
    ),
    Owner(
        "wait_load_transform",
        "The next product waits for a load, and that for a transform.",
        "hazard",
    ),
    Owner(
        "wait_transform_load",
        "The next product waits for a transform, and that for a load.",
        "hazard",
    ),
    Owner(
        "wait_transform_execute",
        "The next product waits for a transform, and that for an earlier product.",
        "hazard",
    ),
    Owner(
        "wait_transform_store",
        "The next product waits for a transform, and that for a store.",
        "hazard",
    ),
    Owner("wait_issue", "The next product is on its way from the queue to the array.", "issue"),
    Owner(
        "wait_queue_load",
        "No product is queued: the next command waits for a place in the queue of loads.",
        "command",
    ),
    Owner(
        "wait_queue_execute",
        "No product is queued: the next one waits for a place, until the results of one are there.",
        "command",
    ),
    Owner(
        "wait_queue_store",
        "No product is queued: the next command waits for a place in the queue of stores.",
        "command",
    ),
    Owner(
        "wait_queue_transform",
        "No product is queued: the next command waits for a place in the queue of transforms.",
        "command",
    ),
    Owner(
        "wait_fence",
        "No product is queued: a FENCE, or a command that breaks a rule, waits for all before it.",
        "command",
    ),
    Owner(
        "wait_command",
        "No product is queued; commands are on their way to the queues.",
        "command",
    ),
    Owner(
        "drain",
        "No array work is queued anywhere; loads, stores or transforms are finishing.",
        "drain",
    ),
)
"""The owners of the array's cycles: `wait_X_Y` is a wait of X for Y."""

READ_OWNERS: Final = (
    Owner("read_data", "A beat of a load arrives.", "data"),
    Owner(
        "read_bandwidth",
        "Memory pauses between beats, or takes no address and owes no beat.",
        "memory",
    ),
    Owner("read_latency", "Memory has not begun to answer the oldest burst.", "memory"),
    Owner(
        "read_requests",
        "As before, but the burst went out late: as many as there may be were in flight.",
        "memory",
    ),
    *_banks("read", "results", "weights", "operands", "transform", "store"),
    Owner(
        "read_stages",
        "A load is in the stages before and behind memory, which owes no beat.",
        "stages",
    ),
    Owner("read_token", "The next load waits for stores by a token.", "token"),
    Owner("read_wait_execute", "The next load waits for a product.", "hazard"),
    Owner("read_wait_store", "The next load waits for a store.", "hazard"),
    Owner("read_wait_transform", "The next load waits for a transform.", "hazard"),
    Owner("read_none", "No load is queued.", "none"),
)
"""The owners of the cycles of the load path, which reads memory."""

WRITE_OWNERS: Final = (
    Owner("write_data", "A beat of a store leaves.", "data"),
    Owner("write_bandwidth", "Memory does not take the address or the beat on offer.", "memory"),
    Owner("write_requests", "As many bursts are in flight as there may be.", "memory"),
    Owner("write_latency", "All is sent, and memory has not answered the oldest burst.", "memory"),
    *_banks("write", "results", "weights", "operands", "transform", "load"),
    Owner("write_stages", "A store is in the stages before memory.", "stages"),
    Owner("write_wait_load", "The next store waits for a load.", "hazard"),
    Owner("write_wait_execute", "The next store waits for a product.", "hazard"),
    Owner("write_wait_transform", "The next store waits for a transform.", "hazard"),
    Owner("write_none", "No store is queued.", "none"),
)
"""The owners of the cycles of the store path, which writes memory."""

VECTOR_OWNERS: Final = (
    *_functions("vector", "steps", "A step of {} enters the lanes."),
    *_banks("vector", "results", "weights", "operands", "words", "load"),
    Owner("vector_words", "The result before takes several rows, or others the scaler.", "words"),
    Owner("vector_room", "Results before wait for banks, and there is no room for more.", "bank"),
    Owner(
        "vector_order",
        "The next transform waits for statistics or parameters of one before it.",
        "order",
    ),
    Owner(
        "vector_stages",
        "Transforms are in the lanes, or their results on the way to the scratchpad.",
        "stages",
    ),
    Owner("vector_wait_load", "The next transform waits for a load.", "hazard"),
    Owner("vector_wait_execute", "The next transform waits for a product.", "hazard"),
    Owner("vector_wait_store", "The next transform waits for a store.", "hazard"),
    Owner("vector_none", "No transform is queued, or there is no unit for any.", "none"),
)
"""The owners of the cycles of the transform path, the vector unit."""

TABLES: Final = (
    Table("array", "The array", ARRAY_OWNERS, ("rows", "padding")),
    Table("read", "DMA, reading", READ_OWNERS, ("data",)),
    Table("write", "DMA, writing", WRITE_OWNERS, ("data",)),
    Table("vector", "The vector unit", VECTOR_OWNERS, ("steps",)),
)
"""The owners of each unit: it has one in each busy cycle, so a table adds up to `cycles`."""

COUNTERS: Final[tuple[Counter, ...]] = (
    Counter("cycles", "Cycles in which anything is queued, running or unacknowledged."),
    Counter("commands", "Commands accepted."),
    Counter("read_bytes", "Bytes of memory that loads asked for."),
    Counter("write_bytes", "Bytes of memory that stores wrote."),
    Counter("read_beats", "Beats taken from the read data channel."),
    Counter("write_beats", "Beats given to the write data channel."),
    *(owner for table in TABLES for owner in table.owners),
)
