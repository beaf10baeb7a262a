"""Commands whose units take turns: no latency is hidden.

Assumes the operations of a lowered graph.  Guarantees commands with the same results, in the same
order, with a fence wherever another unit goes on: each then begins when all before it is over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from celosia.isa import encoding
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.sw.ir.graph import Tensor
from celosia.sw.ir.program import Load, LoadParameters, Multiply, Op, Products, Store, Transform
from celosia.sw.passes.lower_program import lower_program

__all__ = ["serialize"]


def serialize(
    ops: Sequence[Op],
    config: AcceleratorConfig,
    tensors: Mapping[str, Tensor],
    addresses: Mapping[str, int],
) -> Iterator[tuple[Command, ...]]:
    """The commands that the program begins with, then those of each of `ops`, fences before them.

    Fences keep the order of memory, so that no load waits for a counter.
    """
    alone = [replace(op, after=0) if isinstance(op, Load) else op for op in ops]
    first, *commands = lower_program(alone, config, tensors, addresses)
    yield first
    unit = None
    for op, own in zip(alone, commands, strict=True):
        fence = (encoding.FENCE.encode(),) if unit not in (None, _unit(op)) else ()
        unit = _unit(op)
        yield (*fence, *own)


def _unit(op: Op) -> str:
    match op:
        case Load() | LoadParameters():
            return "load"
        case Multiply() | Products():
            return "execute"
        case Transform():
            return "transform"
        case Store():
            return "store"
