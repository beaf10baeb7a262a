"""What hardware guarantees to be over when an operation of a program begins.

An operation begins when all before it in its queue have begun, and when all that it depends on is
over: rows of local memories by hazards, and for a load the stores that it waits for by tokens.
Loads end in order, and so do stores.  Nothing else orders the accesses to memory outside: a store
never waits for a load, unless what it stores was computed from that load, or from a later one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import Load, LoadParameters, Op, Store, Unit
from celosia.sw.scheduling.dependences import dependences

__all__ = ["Access", "before", "loads_over", "stored_and_loaded"]


@dataclass(frozen=True)
class Access:
    """A load or a store of a program."""

    index: int
    """Its place in the program."""
    number: int
    """Its place among the loads, or among the stores; the first one is 1."""
    view: View
    stores: bool


def stored_and_loaded(ops: Sequence[Op]) -> Iterator[Access]:
    """All accesses of a program to memory."""
    loads = stores = 0
    for index, op in enumerate(ops):
        match op:
            case Load() | LoadParameters():
                loads += 1
                yield Access(index, loads, op.view, stores=False)
            case Store():
                stores += 1
                yield Access(index, stores, op.view, stores=True)
            case _:
                pass


def before(
    ops: Sequence[Op], config: AcceleratorConfig, moving: Collection[str] = ()
) -> list[tuple[int, ...]]:
    """The operations that are over when each one begins, or that begin before it does.

    Of those, a load is always over: an operation only follows a load that it depends on, or one
    before a load that is over.
    """
    found: list[tuple[int, ...]] = []
    last: dict[Unit, int] = {}
    needed = dependences(ops, config, moving, by_hardware=True)
    for index, (op, needs) in enumerate(zip(ops, needed, strict=True)):
        found.append((*needs, last[op.unit]) if op.unit in last else needs)
        last[op.unit] = index
    return found


def loads_over(ops: Sequence[Op], order: Sequence[tuple[int, ...]]) -> list[int]:
    """For each store, in order: the loads, from the first on, that are over when it begins."""
    over: list[int] = []
    """The same for each operation; for a load, those that are over when it is."""
    loads = 0
    for op, earlier in zip(ops, order, strict=True):
        most = max((over[each] for each in earlier), default=0)
        if op.unit is Unit.LOAD:
            loads += 1
            most = loads
        over.append(most)
    return [most for op, most in zip(ops, over, strict=True) if isinstance(op, Store)]
