"""`FloatScaler` with scales of any length and any stages, against exact fractions."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from amaranth import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.float32 import Float32
from celosia.hw.lib.float_scaler import FloatScaler, Scale, ScalerShape, scale_shift
from celosia.hw.lib.stages import Stages
from celosia.isa.numerics.float32 import MANTISSA_BITS
from tests.support.streams import simulate

LONG = ScalerShape(
    element_bits=32, result_bits=16, magnitude=1, sign=3, normalize=(2, 3), to_float=4, multiply=5,
    add=6, round=7, align=7, integer=8, result=9,
)  # fmt: skip
GAPS = replace(
    LONG, normalize=(2, 5), to_float=5, multiply=7, add=8, sign=7, round=9, align=10, integer=11,
    result=12,
)  # fmt: skip
SHORT = replace(
    LONG, sign=1, normalize=(1, 1), to_float=1, multiply=2, add=2, round=2, align=3, integer=3,
    result=3,
)  # fmt: skip
NARROW = replace(SHORT, element_bits=8, result_bits=8, normalize=(1,), multiply=1)
SHAPES = {"long": LONG, "gaps": GAPS, "short": SHORT, "narrow": NARROW}
SPECIAL = [0, 1, 0x7F_FFFF, 0x80_0000, 0x3F80_0000, 0x3F7F_FFFF, 0x3EFF_FFFF, 0x3F00_0001,
           0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7F7F_FFFF, 0xFF80_0000]  # fmt: skip
"""Zero, subnormals, around 1 and 1/2, infinities and what is no number."""


class Probe(wiring.Component):
    """One lane, with a scale of its own for each element."""

    advance: Signal
    valid: Signal
    element: Signal
    bits: Signal
    done: Signal
    result: Signal

    def __init__(self, shape: ScalerShape):
        self.shape = shape
        super().__init__({
            "advance": In(1),
            "valid": In(1),
            "element": In(signed(shape.element_bits)),
            "bits": In(32),
            "done": Out(1),
            "result": Out(signed(shape.result_bits)),
        })

    def elaborate(self, platform) -> Module:
        m, shape = Module(), self.shape
        stages = Stages(m, self.valid, shape.result - 1, advance=self.advance)
        bits = stages.line("bits", self.bits)
        factor = Float32(bits[shape.multiply - 1], shape.scale_bits)
        scale = Scale(
            negative=bits[shape.sign - 1][-1],
            mantissa=factor.mantissa,
            shift=scale_shift(factor),
            nan=Float32(bits[shape.add - 1]).nan,
        )
        element = stages.line("element", self.element)[shape.magnitude - 1]
        scaled = FloatScaler(stages, shape).scaled(element, scale)
        m.d.comb += [self.done.eq(stages.valid[-1]), self.result.eq(scaled.integer())]
        return m


def to_float(value: Fraction) -> Fraction:
    """`value`, rounded to a mantissa of 24 bits."""
    if not value:
        return value
    unit = Fraction(1)
    while abs(value) >= unit * 2**MANTISSA_BITS:
        unit *= 2
    while abs(value) < unit * 2 ** (MANTISSA_BITS - 1):
        unit /= 2
    return round(value / unit) * unit


def expected(shape: ScalerShape, element: int, bits: int) -> int:
    exponent, fraction = bits >> 23 & 255, bits & 0x7F_FFFF
    if exponent == 0 or (exponent == 255 and fraction):
        return 0
    dropped = MANTISSA_BITS - shape.scale_bits
    mantissa = (fraction | 1 << 23) >> dropped << dropped
    scale = Fraction(mantissa, 1 << 23) * Fraction(2) ** (exponent - 127)
    product = to_float(Fraction(element)) * (-scale if bits >> 31 else scale)
    bound = 1 << shape.result_bits - 1
    return min(max(round(to_float(product)), -bound), bound - 1)


def cases(shape: ScalerShape, seed: int) -> list[tuple[int, int]]:
    """Elements of every size, with scales that bring them near the bounds of a result."""
    rng, top = random.Random(seed), 1 << shape.element_bits - 1
    found = [(element, bits) for element in (-top, -1, 0, 1, top - 1) for bits in SPECIAL]
    for _ in range(600):
        size = rng.getrandbits(rng.randrange(shape.element_bits)) + rng.randrange(2)
        element = max(-top, min(top - 1, rng.choice((-1, 1)) * size))
        exponent = 127 - size.bit_length() + rng.randrange(-2, shape.result_bits + 2)
        fraction = rng.getrandbits(23) & rng.choice((-1, -1 << 12, -1 << 20))
        found.append((element, rng.getrandbits(1) << 31 | exponent << 23 | fraction))
    return found


@pytest.mark.parametrize("scale_bits", [8, 11, 16, 24])
@pytest.mark.parametrize("name", SHAPES)
def test_every_rounding_is_to_nearest_and_ties_to_even(name, scale_bits):
    shape = replace(SHAPES[name], scale_bits=scale_bits)
    dut, pairs, results = Probe(shape), cases(shape, scale_bits), []

    async def testbench(ctx):
        rng, left = random.Random(1), list(pairs)
        while len(results) < len(pairs):
            advance, valid = rng.random() < 0.9, bool(left) and rng.random() < 0.9
            ctx.set(dut.advance, advance)
            ctx.set(dut.valid, valid)
            element, bits = left[0] if valid else (rng.getrandbits(7), rng.getrandbits(32))
            ctx.set(dut.element, element)
            ctx.set(dut.bits, bits)
            if advance and ctx.get(dut.done):
                results.append(ctx.get(dut.result))
            if advance and valid:
                left.pop(0)
            await ctx.tick()

    simulate(dut, testbench)
    for (element, bits), result in zip(pairs, results, strict=True):
        assert result == expected(shape, element, bits), (element, hex(bits))


@pytest.mark.parametrize("name", SHAPES)
def test_a_result_comes_with_its_stage(name):
    dut = Probe(SHAPES[name])

    async def testbench(ctx):
        ctx.set(dut.advance, 1)
        ctx.set(dut.valid, 1)
        for moves in range(dut.shape.result):
            assert ctx.get(dut.done) == (moves == dut.shape.result - 1)
            await ctx.tick()
            ctx.set(dut.valid, 0)
        assert not ctx.get(dut.done)

    simulate(dut, testbench)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"element_bits": 16}, "element_bits: 16 is neither 8 nor 32"),
        ({"scale_bits": 7}, "scale_bits: 7 is not in 8..24"),
        ({"scale_bits": 25}, "scale_bits: 25 is not in 8..24"),
        ({"normalize": (2,)}, r"normalize: \(2,\) are not 2 stages"),
        ({"round": 4}, "are not in order"),
        ({"sign": 0}, "and 0 for signs, are not in order"),
    ],
)
def test_wrong_shapes(change, message):
    with pytest.raises(ValueError, match=message):
        replace(LONG, **change)
