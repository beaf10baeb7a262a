"""Units that sleep: nothing in them changes while they have nothing to do."""

from typing import Any

from amaranth import EnableInserter, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring

__all__ = ["AWAKE", "Sleeping", "Wakeful", "sleeper"]

AWAKE = "awake"
"""The name of the enable: `celosia.sim.verilator.netlist.gate` finds it, and makes it a clock."""


class Wakeful:
    """A platform for which nothing sleeps: it would cost an enable at each register.

    What a unit does is the same: nothing would change in it while it sleeps, but what nobody looks
    at.
    """


def sleeper(unit: Any, awake: Signal) -> Any:
    """`unit`, whose registers and memories change in cycles with `awake` only.

    `awake` is high in reset, and its name is `AWAKE`.  A unit that sleeps costs a simulator one
    branch, and whatever depends on its inputs at once.
    """
    assert awake.name == AWAKE
    return EnableInserter(awake)(unit)


class Sleeping(wiring.Component):
    """A component that sleeps, but for what must not: subclasses have `build`, not `elaborate`.

    It never sleeps where the platform is `Wakeful`.
    """

    def elaborate(self, platform) -> Module:
        m, outer = Module(), Module()
        awake = Signal(name=AWAKE)
        outer.submodules.unit = m if isinstance(platform, Wakeful) else sleeper(m, awake)
        outer.d.comb += awake.eq(self.build(m, outer) | ResetSignal())
        return outer

    def build(self, m: Module, outer: Module) -> Value:
        """Fill `m`, which sleeps, and `outer`, which does not; returns whether `m` is awake."""
        raise NotImplementedError
