"""Which load the first product or transform that uses its rows has waited for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations.operations import Load, Operation, Product
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.state.state import ArchState
from celosia.sim.profile.instructions import Unit
from celosia.sim.profile.profile import Profile

__all__ = ["Arrow", "arrows", "first_uses"]

_NOBODY = -1


@dataclass(frozen=True)
class Arrow:
    """A load, and the first operation that uses what it has loaded; both have run."""

    load: int
    user: int
    """The indices of the commands of load and user."""
    queue: str
    """The name of the user's queue."""
    end: int
    """The cycle behind the last one of the load."""
    begin: int
    """The first cycle of the user."""


def arrows(profile: Profile, config: AcceleratorConfig, units: Mapping[str, Unit]) -> list[Arrow]:
    """The arrows of a run, in the order of what uses the loads; `units`: its `unit_operations`."""
    if "load" not in units:
        return []
    ends = _cycles(units["load"].command, units["load"].end)
    begins = {
        command: (queue, begin)
        for queue, unit in units.items()
        for command, begin in _cycles(unit.command, unit.begin).items()
    }
    return [
        Arrow(load, user, begins[user][0], ends[load], begins[user][1])
        for load, user in first_uses(profile.commands, config).items()
        if load in ends and user in begins
    ]


def _cycles(commands: np.ndarray, cycles: np.ndarray) -> dict[int, int]:
    return dict(zip(commands.tolist(), cycles.tolist(), strict=True))


def first_uses(program: Sequence[Command], config: AcceleratorConfig) -> dict[int, int]:
    """The index of the first command that reads a load's rows, by the index of the load.

    Only loads into the scratchpad count.  Loads that nobody reads are left out, and so is
    everything from a command on that breaks a rule.
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
