"""`LoopUnit`: what it does with commands that are not its own."""

from amaranth import Module, Signal, Value

from celosia.hw.loops.stage import LoopUnit
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FENCE, MVIN, PRODUCTS, Command
from tests.support.loops import payload
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=16)
OWN = PRODUCTS.encode()


class _Sieve(LoopUnit):
    """Drops PRODUCTS, which are its own."""

    def build(self, m: Module, outer: Module) -> Value:
        own = Signal()
        outer.d.comb += own.eq(self.i.p.funct == OWN.funct)
        outer.d.comb += self.passing(own)
        return self.i.valid


def test_commands_pass_in_the_same_cycle_but_its_own():
    dut = _Sieve(CONFIG)
    program = [MVIN.encode(dram=8, local_rows=1, local_cols=4), OWN, FENCE.encode(), OWN]

    async def testbench(ctx):
        assert not ctx.get(dut.o.valid)
        ctx.set(dut.i.valid, 1)
        for ready in (0, 1):
            ctx.set(dut.o.ready, ready)
            for command in program:
                ctx.set(dut.i.payload, payload(command))
                assert ctx.get(dut.i.ready) == ready
                assert ctx.get(dut.o.valid) == (command != OWN)
                item = ctx.get(dut.o.payload)
                assert Command(item.funct, item.rs1, item.rs2) == command
                await ctx.tick()

    simulate(dut, testbench)


def test_a_unit_may_have_more_members_than_a_stage():
    dut = _Sieve(CONFIG)
    assert "missing" not in dut.signature.members
    assert {"i", "o", "fenced", "busy", "gained", "lost"} == set(dut.signature.members)
