"""Leaving nothing behind: commands that overwrite all that a program may have kept on the chip."""

from typing import Final

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_LD,
    CONFIG_NORM,
    CONFIG_TOKEN,
    CONFIG_TRANSFORM,
    FENCE,
    MVIN,
    MVIN_PARAM,
    PRELOAD,
    TRANSFORM,
    Command,
    Function,
)

__all__ = ["clear_commands", "zeros_needed"]

_MOST_ROWS: Final = 1 << 14
"""The most rows that one command clears."""


def zeros_needed(config: AcceleratorConfig) -> int:
    """Bytes of zeros in memory that `clear_commands` loads from."""
    return config.parameter_rows * config.accumulator_row_bytes


def clear_commands(config: AcceleratorConfig, zeros: int) -> list[Command]:
    """Commands that zero scratchpad, accumulator, parameters and weights, and end with a FENCE.

    They also give every slot of statistics the values of a row of zeros.  `zeros` is the address of
    `zeros_needed` bytes of zeros, because parameters have no load that reads nothing.  What
    configuration commands have set stays: a clear of the error, or a reset, forgets that.
    """
    commands = [CONFIG_TOKEN.encode(), CONFIG_LD.encode(block_stride=config.dim)]
    for accumulator, rows in ((False, config.scratchpad_rows), (True, config.accumulator_rows)):
        for first in range(0, rows, _MOST_ROWS):
            local = LocalAddress(row=first, accumulator=accumulator).encode()
            count = min(_MOST_ROWS, rows - first)
            commands.append(
                MVIN.encode(dram=0, local=local, local_cols=config.dim, local_rows=count)
            )
    count = config.parameter_rows * config.accumulator_row_bytes // ACC_BYTES
    most = (1 << 16) // config.dim * config.dim - config.dim
    for first in range(0, count, most):
        commands.append(
            MVIN_PARAM.encode(
                dram=zeros + ACC_BYTES * first,
                row=first // config.dim,
                count=min(most, count - first),
            )
        )
    commands += [
        PRELOAD.encode(b=GARBAGE, c=GARBAGE),
        COMPUTE_PRELOADED.encode(a=GARBAGE, d=GARBAGE),
    ]
    if config.normalization:
        commands += _statistics(config)
    return [*commands, FENCE.encode()]


def _statistics(config: AcceleratorConfig) -> list[Command]:
    commands = [CONFIG_NORM.encode(channels=config.dim)]
    for function, accumulator in ((Function.MAXIMUM, True), (Function.MOMENTS, False)):
        source = LocalAddress(row=0, accumulator=accumulator).encode()
        rows = config.accumulator_rows if accumulator else config.scratchpad_rows
        for first in range(0, config.statistics_rows, rows):
            count = min(rows, config.statistics_rows - first)
            commands += [
                CONFIG_TRANSFORM.encode(function=function, start=1, finish=1, statistics=first),
                TRANSFORM.encode(local=source, local_rows=count, local_cols=1),
            ]
    return commands
