"""What STRIDE adds, lane by lane, beside the contract's."""

import random

from amaranth import Elaboratable, Module, Signal

from celosia.hw.loops.advance import ADVANCE, advanced, lane_sums
from celosia.isa.encoding.loops import ADDEND_BITS, LANES, WRAP_BITS
from celosia.isa.operations.loops import advance
from tests.support.streams import simulate


class Advance(Elaboratable):
    """An operand, combinationally."""

    def __init__(self):
        self.operand, self.addend = Signal(64), Signal(ADDEND_BITS)
        self.wraps, self.result = Signal(LANES * WRAP_BITS), Signal(64)

    def elaborate(self, platform) -> Module:
        """Wire it."""
        m = Module()
        m.d.sync += Signal().eq(1)  # A clock to simulate with.
        wraps = [self.wraps.word_select(lane, WRAP_BITS) for lane in range(LANES)]
        step = Signal(ADVANCE)
        m.d.comb += [
            step.as_value().eq(lane_sums(self.operand, self.addend, wraps)),
            self.result.eq(advanced(m, self.operand, step, "x")),
        ]
        return m


def cases():
    """Random ones, and carries that run through lanes whose ends are all ones, of both signs."""
    ones = (1 << 64) - 1
    for operand in (0, ones, 0xFFFF, 0x7FFF_FFFF_FFFF_FFFF, 1 << 47):
        for addend in (0, 1, 0xFFFF, 1 << 16, 1 << 46, (1 << 47) - 1, 1 << 47, (1 << 48) - 1):
            for wraps in ((0, 0, 0), (15, 0, 0), (0, 1, 0), (0, 0, 4), (3, 15, 1)):
                yield operand, addend, wraps
    draw = random.Random(3)
    for _ in range(400):
        wraps = tuple(draw.choice((0, 0, draw.randrange(16))) for _ in range(LANES))
        yield draw.getrandbits(64), draw.getrandbits(ADDEND_BITS), wraps


def test_every_lane_is_the_contracts():
    dut = Advance()

    async def bench(ctx):
        for operand, addend, wraps in cases():
            ctx.set(dut.operand, operand)
            ctx.set(dut.addend, addend)
            ctx.set(dut.wraps, sum(wrap << 4 * lane for lane, wrap in enumerate(wraps)))
            await ctx.delay(1e-9)
            found = ctx.get(dut.result)
            assert found == advance(operand, addend, wraps), (hex(operand), hex(addend), wraps)

    simulate(dut, bench)
