"""Which load the first product or transform that uses its rows has waited for."""

from collections.abc import Iterator, Sequence

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations import Load, Operation, Product
from celosia.isa.semantics import step
from celosia.isa.state import ArchState
from celosia.isa.transforms import Transform

__all__ = ["first_uses"]

_NOBODY = -1


def first_uses(program: Sequence[Command], config: AcceleratorConfig) -> dict[int, int]:
    """By the index of a load into the scratchpad: that of the first command that reads its rows.

    Loads that nobody reads are left out, and so is everything from a command on that breaks a rule.
    """
    state = ArchState.reset(config)
    writer = np.full(config.scratchpad_rows, _NOBODY, np.int64)
    uses: dict[int, int] = {}
    for index, command in enumerate(program):
        done = step(command, state, config)
        if done.cause:
            break
        state = done.state
        if done.operation is None:
            continue
        for first, last in _reads(done.operation, config.dim):
            for load in {int(writer[first]), int(writer[last])}:
                if load != _NOBODY:
                    uses.setdefault(load, index)
        for first, end in _writes(done.operation, config.dim):
            writer[first:end] = index if isinstance(done.operation, Load) else _NOBODY
    return uses


def _reads(operation: Operation, dim: int) -> Iterator[tuple[int, int]]:
    """First and last row of what is read from the scratchpad."""
    match operation:
        case Product():
            for operand in (operation.a, operation.w, operation.d):
                if operand is not None and operand.lines:
                    yield operand.local.row, operand.last
        case Transform():
            for rows in (operation.source(dim), operation.residual(dim)):
                if rows is not None and not rows.local.accumulator:
                    yield rows.local.row, rows.last(operation.rows)
        case _:
            pass


def _writes(operation: Operation, dim: int) -> Iterator[tuple[int, int]]:
    """First row and row behind the last of what is written to the scratchpad."""
    match operation:
        case Load() if not operation.local.accumulator:
            for block in range(operation.blocks(dim)):
                first = operation.local.row + block * operation.pitch
                yield first, first + operation.rows
        case Product() if operation.c is not None and not operation.c.local.accumulator:
            yield operation.c.local.row, operation.c.last + 1
        case Transform():
            for rows in operation.results(dim):
                yield rows.local.row, rows.last(operation.rows) + 1
        case _:
            pass
