"""`Sleeping`: what sleeps stands still, and what does not runs on; `Wakeful`: nothing sleeps."""

import pytest
from amaranth import Module, Signal, Value
from amaranth.hdl import Fragment
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.sleep import Sleeping, Wakeful
from tests.support.streams import simulate


class Counters(Sleeping):
    """Counts cycles, and those in which it is awake."""

    wake: Signal
    cycles: Signal
    days: Signal

    def __init__(self) -> None:
        super().__init__({"wake": In(1), "cycles": Out(8), "days": Out(8)})

    def build(self, m: Module, outer: Module) -> Value:
        outer.d.sync += self.cycles.eq(self.cycles + 1)
        m.d.sync += self.days.eq(self.days + 1)
        return self.wake


@pytest.mark.parametrize("platform", [None, Wakeful()])
def test_what_sleeps_stands_still(platform):
    dut = Counters()

    async def testbench(ctx):
        wakes = [0, 0, 1, 0, 1, 1, 0]
        for cycle, wake in enumerate(wakes):
            assert ctx.get(dut.cycles) == cycle
            assert ctx.get(dut.days) == (cycle if platform else sum(wakes[:cycle]))
            ctx.set(dut.wake, wake)
            await ctx.tick()

    simulate(Fragment.get(dut, platform), testbench)


def test_no_port_has_the_name_of_the_enable():
    """Simulators find units that sleep by it."""

    class Confused(Sleeping):
        awake: Signal

        def __init__(self) -> None:
            super().__init__({"awake": In(1)})

    with pytest.raises(AssertionError, match=r"Confused\.awake: rename it"):
        Confused().elaborate(None)
