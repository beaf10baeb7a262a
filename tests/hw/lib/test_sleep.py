"""`Sleeping`: what sleeps stands still, and what does not runs on."""

from amaranth import Module, Signal, Value
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.sleep import Sleeping
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


def test_what_sleeps_stands_still():
    dut = Counters()

    async def testbench(ctx):
        wakes = [0, 0, 1, 0, 1, 1, 0]
        for cycle, wake in enumerate(wakes):
            assert ctx.get(dut.cycles) == cycle
            assert ctx.get(dut.awake) == sum(wakes[:cycle])
            ctx.set(dut.wake, wake)
            await ctx.tick()

    simulate(dut, testbench)
