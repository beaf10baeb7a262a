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
    awake: Signal

    def __init__(self) -> None:
        super().__init__({"wake": In(1), "cycles": Out(8), "awake": Out(8)})

    def build(self, m: Module, outer: Module) -> Value:
        outer.d.sync += self.cycles.eq(self.cycles + 1)
        m.d.sync += self.awake.eq(self.awake + 1)
        return self.wake


@pytest.mark.parametrize("platform", [None, Wakeful()])
def test_what_sleeps_stands_still(platform):
    dut = Counters()

    async def testbench(ctx):
        wakes = [0, 0, 1, 0, 1, 1, 0]
        for cycle, wake in enumerate(wakes):
            assert ctx.get(dut.cycles) == cycle
            assert ctx.get(dut.awake) == (cycle if platform else sum(wakes[:cycle]))
            ctx.set(dut.wake, wake)
            await ctx.tick()

    simulate(Fragment.get(dut, platform), testbench)
