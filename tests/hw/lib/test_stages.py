"""`Stages` in what their users do not show: a pipeline that stops, names, and wires."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.stages import Stages
from tests.support.streams import simulate


class Doubler(wiring.Component):
    """Two stages: the value doubled on a wire of the first, and what the second keeps of it.

    Behind the first stage, ``odd`` moves with odd values only, and ``held`` stands without any.
    """

    advance: Signal
    enable: Signal
    value: Signal
    wire: Signal
    result: Signal
    held: Signal
    odd: Signal
    done: Signal

    def __init__(self, *, free: bool = False) -> None:
        self.free = free
        super().__init__({
            "advance": In(1),
            "enable": In(1),
            "value": In(8),
            "wire": Out(8),
            "result": Out(8),
            "held": Out(8),
            "odd": Out(8),
            "done": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        advance = None if self.free else self.advance
        stages = Stages(m, self.enable, 2, advance=advance, free=self.free)
        double = stages.wire(1, "double", (self.value << 1)[:8])
        odd = stages.branch("odd", self.value[0]).line("double", double)
        m.d.comb += [
            self.wire.eq(double),
            self.result.eq(stages.line("double", double)[2]),
            self.held.eq(stages.held(2, "held", stages.line("again", double)[1])),
            self.odd.eq(odd[2]),
            self.done.eq(stages.valid[2]),
        ]
        return m


def test_what_is_in_the_stages_stands_while_they_do_not_advance():
    dut = Doubler()

    async def testbench(ctx):
        seen = []
        ctx.set(dut.enable, 1)
        for cycle in range(40):
            ctx.set(dut.value, cycle)
            ctx.set(dut.advance, moves := cycle % 3 != 1)
            seen += [cycle] if moves else []
            await ctx.tick()
            if len(seen) > 1:
                assert ctx.get(dut.done)
                assert ctx.get(dut.result) == 2 * seen[-2]
                odd = [cycle for cycle in seen[:-1] if cycle & 1]
                assert ctx.get(dut.odd) == (2 * odd[-1] if odd else 0)

    simulate(dut, testbench)


def test_nothing_changes_in_a_stage_that_has_nothing():
    dut = Doubler()

    async def testbench(ctx):
        ctx.set(dut.advance, 1)
        ctx.set(dut.value, 21)
        for _ in range(3):
            assert ctx.get(dut.wire) == ctx.get(dut.result) == ctx.get(dut.done) == 0
            await ctx.tick()
        ctx.set(dut.enable, 1)
        assert ctx.get(dut.wire) == 42
        await ctx.tick()
        ctx.set(dut.enable, 0)
        ctx.set(dut.value, 1)
        await ctx.tick().repeat(3)
        assert ctx.get(dut.result) == 42
        assert not ctx.get(dut.done)

    simulate(dut, testbench)


def test_what_is_free_moves_in_every_cycle_and_what_is_held_does_not():
    dut = Doubler(free=True)

    async def testbench(ctx):
        given = [(21, 1), (22, 1), (0, 0), (0, 0), (23, 1), (0, 0), (0, 0), (0, 0)]
        held = 0
        for cycle, (value, enable) in enumerate(given):
            ctx.set(dut.value, value)
            ctx.set(dut.enable, enable)
            if cycle > 1:
                before, moved = given[cycle - 2]
                held = 2 * before if moved else held
                assert ctx.get(dut.done) == moved
                assert ctx.get(dut.result) == 2 * before  # A wire is 0 while there is nothing.
                assert ctx.get(dut.held) == held
            await ctx.tick()

    simulate(dut, testbench)


def test_names_end_in_the_part():
    stages = Stages(Module(), Signal(), 3)
    branch = stages.branch("branch", Signal())
    assert stages.part(3).register(2, "sum", Signal(4)).name == "s2_sum_3"
    assert branch.part("upper").line("sum", Signal(4))[1].name == "s1_sum_upper"
    assert stages.part(1).branch("other", Signal()).register(1, "sum", Signal()).name == "s1_sum_1"
    assert branch.register(2, "sum", Signal(4)).name == "s2_sum"
