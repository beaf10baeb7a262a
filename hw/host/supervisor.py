"""Watches over the accelerator from outside: limits of time, resets, interrupts."""

from typing import Annotated

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import Fault
from celosia.hw.lib.component import Component
from celosia.isa.registers.errors import Cause

__all__ = ["Supervisor"]

BUDGET_BITS = 64
WATCHDOG_BITS = 32


class Supervisor(Component):
    """Stops a program that takes too long, clears, and says when there is something to look at.

    A program is stopped with an error when it is busy for more than ``budget`` cycles in a row, or
    for more than ``patience`` of them in a row without progress.

    Members
    -------
    core_busy : ``In(1)``
        The accelerator.
    ring_busy : ``In(1)``
        The ring.
    halted : ``In(1)``
        An error is recorded.
    progress : ``In(1)``
        Something moved in the cycle before.
    ring_fault : ``In(Fault())``
        An error of the ring.
    budget : ``In(64)``
        Busy cycles in a row; 0: as many as it takes.
    patience : ``In(32)``
        Busy cycles in a row without progress; 0: as many as it takes.
    clear_error : ``In(1)``
        Reset the core.
    clear_counters : ``In(1)``
        Reset the counters.
    busy : ``Out(1)``
        Anything is left to do.
    fault : ``Out(Fault())``
        For the accelerator to record.
    reset_core : ``Out(1)``
        Up in reset and in the cycle after ``clear_error``.
    reset_counters : ``Out(1)``
        Up in reset and in the cycle after ``clear_counters``.
    done : ``Out(1)``
        All work ended in the cycle before, without an error.
    failed : ``Out(1)``
        The error was recorded in the cycle before.
    """

    core_busy: Annotated[Signal, In(1)]
    ring_busy: Annotated[Signal, In(1)]
    halted: Annotated[Signal, In(1)]
    progress: Annotated[Signal, In(1)]
    ring_fault: Annotated[data.View, In(Fault())]
    budget: Annotated[Signal, In(BUDGET_BITS)]
    patience: Annotated[Signal, In(WATCHDOG_BITS)]
    clear_error: Annotated[Signal, In(1)]
    clear_counters: Annotated[Signal, In(1)]
    busy: Annotated[Signal, Out(1)]
    fault: Annotated[data.View, Out(Fault())]
    reset_core: Annotated[Signal, Out(1)]
    reset_counters: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    failed: Annotated[Signal, Out(1)]

    def elaborate(self, platform) -> Module:
        m = Module()
        was_busy, was_halted = Signal(), Signal()
        reset_core, reset_counters = Signal(init=1), Signal(init=1)
        m.d.comb += [
            self.busy.eq(self.core_busy | self.ring_busy),
            self.done.eq(was_busy & ~self.busy & ~self.halted),
            self.failed.eq(self.halted & ~was_halted),
            self.reset_core.eq(reset_core),
            self.reset_counters.eq(reset_counters),
        ]
        m.d.sync += [
            was_busy.eq(self.busy),
            was_halted.eq(self.halted),
            reset_core.eq(self.clear_error),
            reset_counters.eq(self.clear_counters),
        ]
        over_budget = self._limit(m, "budget", self.budget, self.busy)
        stuck = self._limit(m, "patience", self.patience, self.busy & ~self.progress)
        with m.If(over_budget | stuck):
            m.d.comb += [
                self.fault.valid.eq(1),
                self.fault.cause.eq(Mux(over_budget, Cause.CYCLE_BUDGET, Cause.WATCHDOG)),
            ]
        with m.Elif(self.ring_fault.valid):
            m.d.comb += self.fault.eq(self.ring_fault)
        return m

    def _limit(self, m: Module, name: str, limit: Signal, runs: Value) -> Signal:
        """Whether it `runs`, and has done so for `limit` cycles in a row before this one."""
        limited = Signal(name=f"{name}_set")
        left = Signal(len(limit), name=f"{name}_left", reset_less=True)
        passed = Signal(name=f"{name}_passed")
        with m.If(limited):
            m.d.comb += passed.eq(runs & (left == 0))
            m.d.sync += [limited.eq(limit.any()), left.eq(left - 1)]
            with m.If(~runs):
                m.d.sync += left.eq(limit)
        with m.Elif(limit.any()):
            m.d.sync += [limited.eq(1), left.eq(limit)]
        return passed
