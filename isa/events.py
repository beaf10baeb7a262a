"""The performance counters: names and meanings, in the order of the hardware's registers."""

from dataclasses import dataclass
from typing import Final

__all__ = ["ARRAY_OWNERS", "COUNTERS", "COUNTER_BITS", "Counter"]

COUNTER_BITS: Final = 48


@dataclass(frozen=True)
class Counter:
    """A free-running counter, zeroed by a clear."""

    name: str
    doc: str


ARRAY_OWNERS: Final = (
    Counter("array_rows", "A row of A enters the array and its result is written."),
    Counter("array_padding", "A row of zeros beyond A's rows enters, because C has more rows."),
    Counter("array_weights", "A product waits only for its weights to move into the array."),
    Counter("wait_bank", "A row of A (or D) waits for its scratchpad bank, or takes D's turn."),
    Counter("wait_load", "The next product waits for a load to finish."),
    Counter("wait_store", "The next product waits for a store to have read its destination."),
    Counter("wait_execute", "The next product waits for the result of an earlier product."),
    Counter("wait_transform", "The next product waits for what a transform reads or writes."),
    Counter("wait_issue", "The next product is on its way from the queue to the array."),
    Counter("wait_command", "No product is queued, but commands wait at or behind the decoder."),
    Counter("drain", "No array work is queued anywhere; loads or stores are finishing."),
)
"""Each busy cycle has exactly one of these owners: their sum is `cycles`."""

COUNTERS: Final = (
    Counter("cycles", "Cycles in which anything is queued, running or unacknowledged."),
    *ARRAY_OWNERS,
    Counter("commands", "Commands accepted."),
    Counter("read_bytes", "Bytes of memory that loads asked for."),
    Counter("write_bytes", "Bytes of memory that stores wrote."),
    Counter("read_beats", "Beats taken from the read data channel."),
    Counter("write_beats", "Beats given to the write data channel."),
)
