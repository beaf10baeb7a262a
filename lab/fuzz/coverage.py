"""What random programs have exercised: instructions, and pairs of operations in conflict."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_BERT, INSTRUCTIONS, Command, Function, identify
from celosia.isa.operations.loops import expand
from celosia.isa.operations.operations import (
    Load,
    LoadParameters,
    Operand,
    Operation,
    Product,
    Store,
)
from celosia.isa.operations.semantics import functs_not_built, step
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.events import TABLES
from celosia.isa.registers.queues import QUEUES
from celosia.isa.state.state import ArchState

__all__ = ["all_points", "owner_points", "points"]

_Rows = tuple[str, int, int]
_DISTANCE: Final = 8
"""Operations further apart are seldom in flight together."""
_WRITING: Final = ("load", "execute", "transform")


def all_points(config: AcceleratorConfig) -> set[str]:
    """What can be exercised.

    ``instruction NAME``, ``transform NAME``, ``hazard KIND OLD NEW``, and ``owner NAME``: what a
    unit does in a cycle, or waits for (docs/counters.md).
    """
    transforms = config.normalization
    kinds = [kind for kind in QUEUES if transforms or kind != "transform"]
    missing = functs_not_built(config)
    built = [known for known in INSTRUCTIONS.values() if known.funct not in missing]
    found = {f"instruction {known.name}" for known in built if config.bert or known != CONFIG_BERT}
    if transforms:
        found |= {f"transform {function.name.lower()}" for function in Function}
    found |= {f"owner {owner.name}" for table in TABLES for owner in table.owners}
    for old, new in product(kinds, kinds):
        if old in _WRITING and new != "load":
            found.add(f"hazard raw {old} {new}")
        if old != "load" and new in _WRITING:
            found.add(f"hazard war {old} {new}")
        if old in _WRITING and new in _WRITING:
            found.add(f"hazard waw {old} {new}")
    return found


def owner_points(counters: Mapping[str, int]) -> Counter[str]:
    """The owners that had cycles."""
    names = (owner.name for table in TABLES for owner in table.owners)
    return Counter(f"owner {name}" for name in names if counters.get(name))


def points(commands: Sequence[Command], config: AcceleratorConfig) -> Counter[str]:
    """What `commands`, a legal program, exercises, and how often."""
    state, found = ArchState.reset(config), Counter[str]()
    recent: list[tuple[str, list[_Rows], list[_Rows]]] = []
    for command in commands:
        instruction = identify(command)
        assert instruction is not None
        found[f"instruction {instruction.name}"] += 1
    for _, command in expand(commands, config):
        done = step(command, state, config)
        state = done.state
        if done.operation is None:
            continue
        if isinstance(done.operation, Transform):
            found[f"transform {Function(done.operation.setting('function')).name.lower()}"] += 1
        kind = _kind(done.operation)
        reads = list(_reads(done.operation, config))
        writes = list(_writes(done.operation, config))
        for older, old_reads, old_writes in recent:
            for name, ones, others in (
                ("raw", old_writes, reads),
                ("war", old_reads, writes),
                ("waw", old_writes, writes),
            ):
                if _meet(ones, others):
                    found[f"hazard {name} {older} {kind}"] += 1
        recent = [*recent[1 - _DISTANCE :], (kind, reads, writes)]
    return found


def _kind(operation: Operation) -> str:
    match operation:
        case Load() | LoadParameters():
            return "load"
        case Product():
            return "execute"
        case Store():
            return "store"
        case Transform():
            return "transform"


def _meet(ones: Iterable[_Rows], others: Iterable[_Rows]) -> bool:
    others = list(others)
    return any(
        a == b and first <= other_last and other_first <= last
        for a, first, last in ones
        for b, other_first, other_last in others
    )


def _space(accumulator: bool) -> str:
    return "accumulator" if accumulator else "scratchpad"


def _operand(operand: Operand | None) -> Iterator[_Rows]:
    if operand is not None and operand.lines:
        yield _space(operand.local.accumulator), operand.local.row, operand.last


def _writes(operation: Operation, config: AcceleratorConfig) -> Iterator[_Rows]:
    dim = config.dim
    match operation:
        case LoadParameters(row=row, count=count):
            yield "parameters", row, row - 1 - -count // dim
        case Load():
            last = operation.local.row + operation.rows - 1
            last += (operation.blocks(dim) - 1) * operation.pitch
            yield _space(operation.local.accumulator), operation.local.row, last
        case Product():
            yield from _operand(operation.c)
        case Transform():
            for result in operation.results(dim):
                yield "scratchpad", result.local.row, result.last(operation.rows)


def _reads(operation: Operation, config: AcceleratorConfig) -> Iterator[_Rows]:
    dim = config.dim
    match operation:
        case Product():
            for operand in (operation.a, operation.w, operation.d):
                yield from _operand(operand)
        case Store():
            blocks = operation.blocks(dim)
            last = operation.local.row + operation.rows - 1 + (blocks - 1) * operation.pitch
            yield _space(operation.local.accumulator), operation.local.row, last
            if (row := operation.bias_row) is not None:
                yield "parameters", row, row + blocks - 1
        case Transform():
            residual = operation.residual(dim)
            for matrix in [operation.source(dim)] + ([residual] if residual else []):
                space = _space(matrix.local.accumulator)
                yield space, matrix.local.row, matrix.last(operation.rows)
            for row, count in operation.parameters(dim):
                yield "parameters", row, row + count - 1
