"""Units with operands that nobody recorded: zeros, and random ones."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from celosia.sim.export.silicon.power.gates import Bits, Stimulus, simulate
from celosia.sim.export.silicon.power.netlist import GateNetlist

__all__ = ["PERIOD", "PULSE", "Operands", "spent_with"]

_CYCLES: Final = 256
_FIRST: Final = 64
"""Cycles until pipelines are full."""

Operands = Mapping[str, int | None]
"""A value of each port in all cycles; None: a random one in each.  Others are zero."""
PULSE: Final = -1
"""In place of a value: 1 in one of `PERIOD` cycles, else 0."""
PERIOD: Final = 32


def spent_with(
    netlist: GateNetlist, operands: Operands, holding: str | None = None, seed: int = 0
) -> float:
    """Picojoules of a cycle with `operands`, clock pins apart, when pipelines are full.

    Registers whose names begin with `holding` begin with random values, all others with zero.
    """
    draw = np.random.default_rng(seed)
    driven: dict[str, Bits] = {}
    for port in netlist.driven:
        value, width = operands.get(port.name, 0), len(port.nets)
        if value == PULSE:
            pulses = np.arange(_CYCLES) % PERIOD == 0
            driven[port.name] = pulses.astype(np.uint8).reshape(-1, 1)
        elif value is None:
            driven[port.name] = draw.integers(0, 2, (_CYCLES, width), np.uint8)
        else:
            row = [value >> place & 1 for place in range(width)]
            driven[port.name] = np.tile(np.array(row, np.uint8), (_CYCLES, 1))
    first = {
        register.name: draw.integers(0, 2, (1, len(register.nets)), np.uint8)
        for register in netlist.registers
        if holding is not None and register.name.startswith(holding)
    }
    (done,) = simulate(netlist, [Stimulus(driven, {}, first)])
    return float(done.pj[_FIRST - 1 :].mean())
