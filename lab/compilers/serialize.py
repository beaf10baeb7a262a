"""Commands whose units take turns: no latency is hidden.

Assumes the operations of a lowered graph.  Guarantees commands with the same results, in the same
order, with a fence wherever another unit goes on: each then begins when all before it is over.
Some units may go on beside the others: they take no turn, and end none.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from celosia.isa import encoding
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.sw.ir.graph import Tensor
from celosia.sw.ir.program import Load, Op
from celosia.sw.passes.lower_program import Lowering

__all__ = ["Unit", "serialize"]

Unit = Literal["load", "execute", "transform", "store"]


def serialize(
    ops: Sequence[Op],
    config: AcceleratorConfig,
    tensors: Mapping[str, Tensor],
    addresses: Mapping[str, int],
    beside: Collection[Unit] = (),
) -> Iterator[tuple[Command, ...]]:
    """The commands that the program begins with, then those of each of `ops`, fences before them.

    Units `beside` the others take no turns.  Fences keep the order of memory, so that no load waits
    for a counter.
    """
    alone = [replace(op, after=0) if isinstance(op, Load) else op for op in ops]
    first, *commands = Lowering(config=config, tensors=tensors, addresses=addresses).program(alone)
    yield first
    turn: Unit | None = None
    stores = awaited = 0  # All so far, and those before the last fence.
    for op, own in zip(ops, commands, strict=True):
        unit = op.unit.value
        fenced = unit not in beside and turn not in (None, unit)
        if fenced or (isinstance(op, Load) and op.after > awaited):
            awaited = stores
            yield (encoding.FENCE.encode(), *own)
        else:
            yield own
        stores += unit == "store"
        turn = turn if unit in beside else unit
