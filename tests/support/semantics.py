"""A small configuration, and verdicts on commands after others, for tests of the rules."""

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations.semantics import check, step
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState

__all__ = ["ACC", "CONFIG", "DIM", "PARAMETER", "RESET", "SPAD", "acc", "after", "cause_of", "spad"]

CONFIG = AcceleratorConfig(
    dim=4, scratchpad_kib=1, accumulator_kib=1, accumulator_banks=1, parameter_rows=8
)
"""256 scratchpad rows, 64 accumulator rows, at most 16 int8 and 4 int32 blocks."""
DIM = CONFIG.dim
SPAD, ACC, PARAMETER = CONFIG.scratchpad_rows, CONFIG.accumulator_rows, CONFIG.parameter_rows
RESET = ArchState.reset(CONFIG)


def spad(row: int) -> int:
    return LocalAddress(row=row).encode()


def acc(row: int, *, full: bool = False, norm: int = 0) -> int:
    return LocalAddress(row=row, accumulator=True, full=full, norm=norm).encode()


def after(*commands: Command, config: AcceleratorConfig = CONFIG) -> ArchState:
    """The state after `commands`, all of them legal."""
    state = ArchState.reset(config)
    for command in commands:
        done = step(command, state, config)
        assert done.cause is Cause.NONE
        state = done.state
    return state


def cause_of(*commands: Command) -> Cause:
    """What is wrong with the last one of `commands`."""
    return check(commands[-1], after(*commands[:-1]), CONFIG)
