"""Units that sleep: nothing in them changes while they have nothing to do."""

from typing import Any

from amaranth import EnableInserter, Signal

__all__ = ["AWAKE", "sleeper"]

AWAKE = "awake"
"""The name of the enable: `celosia.sim.verilator.netlist.gate` finds it, and makes it a clock."""


def sleeper(unit: Any, awake: Signal) -> Any:
    """`unit`, whose registers and memories change in cycles with `awake` only.

    `awake` is high in reset, and its name is `AWAKE`.  A unit that sleeps costs a simulator one
    branch, and whatever depends on its inputs at once.
    """
    assert awake.name == AWAKE
    return EnableInserter(awake)(unit)
