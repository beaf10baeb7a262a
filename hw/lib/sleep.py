"""Units that sleep: nothing in them changes while they have nothing to do."""

from typing import Any

from amaranth import Const, EnableInserter, Module, ResetSignal, Signal, Value

from celosia.hw.lib.component import Component

__all__ = ["AWAKE", "Sleeping", "Wakeful", "resting", "sleeper"]

AWAKE = "awake"
"""The name of the enable: `celosia.sim.verilator.netlist.gate` finds it, and makes it a clock."""


class Wakeful:
    """A platform for which nothing sleeps: it would cost an enable at each register.

    What a unit does is the same: nothing would change in it while it sleeps, but what nobody looks
    at.
    """


def resting(platform: object, moves: Value) -> Value:
    """When registers move that need not stand else: with `moves`, or always if it is `Wakeful`.

    To move in vain costs a simulator time, and hardware less than an enable.
    """
    return Const(1) if isinstance(platform, Wakeful) else moves


def sleeper(unit: Any, awake: Signal) -> Any:
    """`unit`, whose registers and memories change in cycles with `awake` only.

    `awake` is high in reset, and its name is `AWAKE`.  A unit that sleeps costs a simulator one
    branch, and whatever depends on its inputs at once.
    """
    assert awake.name == AWAKE
    return EnableInserter(awake)(unit)


class Sleeping(Component):
    """A component that sleeps, but for what must not: subclasses have `build`, not `elaborate`.

    It never sleeps where the platform is `Wakeful`.
    """

    def elaborate(self, platform) -> Module:
        # Of two ports of one name one gets another, and simulators would find no unit that sleeps.
        assert AWAKE not in self.signature.members, f"{type(self).__name__}.{AWAKE}: rename it"
        m, outer = Module(), Module()
        awake = Signal(name=AWAKE)
        outer.submodules.unit = m if isinstance(platform, Wakeful) else sleeper(m, awake)
        outer.d.comb += awake.eq(self.build(m, outer) | ResetSignal())
        return outer

    def build(self, m: Module, outer: Module) -> Value:
        """Fill `m`, which sleeps, and `outer`, which does not; returns whether `m` is awake."""
        raise NotImplementedError
