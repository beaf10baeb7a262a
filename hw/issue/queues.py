"""The queues of operations, and what hazards want to know of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.lib import data

from celosia.hw.decode.decoder import Kind
from celosia.hw.decode.ops import ExecuteOp, LoadOp, StoreOp
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.decode.transforms import TRANSFORM_HULLS, TRANSFORM_PARAMETERS, TRANSFORM_WRITES
from celosia.isa.config import AcceleratorConfig

__all__ = ["QueueTraits", "event_names", "queues"]


@dataclass(frozen=True, kw_only=True)
class QueueTraits:
    """One queue; its operations start and end in order."""

    name: str
    kind: Kind
    depth: int
    """Operations that may wait or run at once."""
    op: data.StructLayout
    hulls: int
    """Ranges that an operation names."""
    writes: int
    """Of these, so many come first and are written; the others are read."""
    late: int = 0
    """Of those that are read, so many come last and are read even after the event `reads`."""
    reads: str | None
    """The event after which an operation no more reads; None if it never does."""
    done: str | None
    """The event after which it has written; None if it does not write local memories."""
    own_reads: bool = False
    """An operation may read what an earlier one of the same queue still writes."""

    @property
    def end(self) -> str:
        """The event after which its place is free."""
        event = self.done or self.reads
        assert event is not None
        return event


def queues(config: AcceleratorConfig) -> tuple[QueueTraits, ...]:
    """Those of an accelerator, in the order of reports."""
    load = QueueTraits(
        name="load",
        kind=Kind.LOAD,
        depth=config.load_queue,
        op=LoadOp(config),
        hulls=1,
        writes=1,
        reads=None,
        done="load_done",
    )
    execute = QueueTraits(
        name="execute",
        kind=Kind.EXECUTE,
        depth=config.execute_queue,
        op=ExecuteOp(config),
        hulls=4,
        writes=1,
        reads="execute_reads",
        done="execute_done",
        own_reads=True,
    )
    store = QueueTraits(
        name="store",
        kind=Kind.STORE,
        depth=config.store_queue,
        op=StoreOp(config),
        hulls=2,
        writes=0,
        reads="store_reads",
        done=None,
    )
    if not config.normalization:
        return load, execute, store
    transform = QueueTraits(
        name="transform",
        kind=Kind.TRANSFORM,
        depth=config.transform_queue,
        op=TransformOp(config),
        hulls=TRANSFORM_HULLS,
        writes=TRANSFORM_WRITES,
        late=TRANSFORM_PARAMETERS,
        reads="transform_reads",
        done="transform_done",
        own_reads=True,
    )
    return load, execute, store, transform


def event_names(config: AcceleratorConfig) -> Iterator[str]:
    """The events of all queues, each for one operation, in order."""
    for queue in queues(config):
        yield from (event for event in (queue.done, queue.reads) if event)
