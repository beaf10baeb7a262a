"""The queues of operations, and what hazards want to know of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag
from typing import Any

from amaranth.lib import data

from celosia.hw.decode.decoder import OPERATIONS, PRODUCT_HULLS, Kind
from celosia.hw.decode.transforms import TRANSFORM_HULLS, TRANSFORM_PARAMETERS, TRANSFORM_WRITES
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import QUEUES, queue_names

__all__ = ["Memories", "PerQueue", "QueueTraits", "event_names", "queues"]


class PerQueue(data.StructLayout):
    """One of these for each queue that an accelerator may have."""

    def __init__(self, shape: Any):
        super().__init__(dict.fromkeys(QUEUES, shape))


class Memories(Flag):
    """The local memories in which a range of rows may be."""

    PARAMETERS = 1
    ROWS = 2
    """Scratchpad and accumulator."""


_ANY, _ROWS, _PARAMETERS = Memories.PARAMETERS | Memories.ROWS, Memories.ROWS, Memories.PARAMETERS


@dataclass(frozen=True, kw_only=True)
class QueueTraits:
    """One queue; its operations start and end in order."""

    name: str
    memories: tuple[Memories, ...]
    """Where each of the ranges of rows is that an operation names."""
    writes: int
    """Ranges that an operation writes, the first of `hulls`; it reads the rest."""
    late: int = 0
    """Ranges, the last of `hulls`, that an operation still reads after the event `reads`."""
    reads: str | None = None
    """The event after which an operation reads `late` ranges only; None if it never reads."""
    done: str | None = None
    """The event after which an operation has written; None if it writes no local memory."""
    own_reads: bool = False
    """An operation may read what an earlier one of the same queue still writes."""
    early: tuple[str, ...] = ()
    """Fields by which it is decided in the same cycle whether the operation at the head starts."""

    @property
    def hulls(self) -> int:
        """Ranges of rows that an operation names."""
        return len(self.memories)

    @property
    def kind(self) -> Kind:
        """The kind of a decoded command that goes into the queue."""
        return Kind[self.name.upper()]

    @property
    def end(self) -> str:
        """The event after which an operation's place in the queue is free."""
        event = self.done or self.reads
        assert event is not None
        return event

    @property
    def events(self) -> tuple[str, ...]:
        """What the controller reports of each operation, in order."""
        return tuple(event for event in (self.done, self.reads) if event)

    def depth(self, config: AcceleratorConfig) -> int:
        """Operations that may wait or run at once."""
        return getattr(config, f"{self.name}_queue")

    def op(self, config: AcceleratorConfig) -> data.StructLayout:
        """The layout of an operation."""
        return OPERATIONS[self.name](config)


_TRAITS = (
    QueueTraits(
        name="load",
        memories=(_ANY,),
        writes=1,
        done="load_done",
        early=("wait", "wait_token"),  # `Tokens` looks up what the token has counted.
    ),
    QueueTraits(
        name="execute",
        memories=(_ROWS,) * PRODUCT_HULLS,
        writes=1,
        reads="execute_reads",
        done="execute_done",
        own_reads=True,
    ),
    QueueTraits(name="store", memories=(_ROWS, _PARAMETERS), writes=0, reads="store_reads"),
    QueueTraits(
        name="transform",
        memories=(_ROWS,) * (TRANSFORM_HULLS - TRANSFORM_PARAMETERS)
        + (_PARAMETERS,) * TRANSFORM_PARAMETERS,
        writes=TRANSFORM_WRITES,
        late=TRANSFORM_PARAMETERS,
        reads="transform_reads",
        done="transform_done",
        own_reads=True,
    ),
)


def queues(config: AcceleratorConfig) -> tuple[QueueTraits, ...]:
    """The queues of an accelerator, in the order of reports."""
    traits = {queue.name: queue for queue in _TRAITS}
    return tuple(traits[name] for name in queue_names(config))


def event_names(config: AcceleratorConfig) -> Iterator[str]:
    """The events of all queues, each for one operation, in order."""
    for queue in queues(config):
        yield from queue.events
