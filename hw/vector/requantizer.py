"""The way out of the local memories: bias, float32-encoded scale, saturation, activation."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig

__all__ = ["RequantizeRequest", "Requantizer"]

ELEMENT_BITS = 32
MANTISSA_BITS = 24
"""Of a float32, the hidden bit included."""
FRACTION_BITS = MANTISSA_BITS - 1
EXPONENT_BIAS = 127
LOW_BITS = ELEMENT_BITS - MANTISSA_BITS
"""Of an int32, those that its float32 may round away."""

OUTPUT_BITS = 8
SMALLEST_EXPONENT = -2
"""Of a product that may still become 1: its top bit may stand one higher than its factors say."""
SHIFT_BITS = (OUTPUT_BITS - SMALLEST_EXPONENT).bit_length()
"""Of a left shift by exponent - SMALLEST_EXPONENT, for exponents of up to OUTPUT_BITS."""
POINT = FRACTION_BITS - SMALLEST_EXPONENT
"""Bits after the binary point of a product after this shift."""


class RequantizeRequest(data.StructLayout):
    """What becomes of the row that is there in this cycle."""

    def __init__(self) -> None:
        super().__init__({
            "valid": 1,
            "as_it_is": 1,  # Take the row from `bytes`; it is raw.
            "raw": 1,  # Neither scale nor activate it.
            "biased": 1,  # Add `bias`.  Not to `bytes`.
            "relu": 1,
            "scale": unsigned(32),  # The bits of a float32.
        })


class Requantizer(wiring.Component):
    """Scales rows of int32 down to int8, exactly as `celosia.isa.numerics.requantize` defines it.

    An element x of ``row`` becomes ``requantize(x + bias, scale)``, where the sum wraps at 32 bits,
    and then its `relu` if asked; a raw one becomes ``x + bias``.  There is no floating-point unit:
    a lane normalizes, multiplies, and rounds three times, to float32 twice and then to an integer,
    each to nearest and ties to even.  Every bit pattern is a legal scale (NaN gives 0, infinity
    saturates).  An element of ``bytes`` counts as raw.

    Latency is `LATENCY` cycles and throughput one row per cycle.  The pipeline runs freely: it
    cannot be stalled, so whoever makes a request has room for the result.  ``valid`` lasts one
    cycle; the result stands until the next one, on ``wide`` until the next raw one.

    A value that is used more than once is a register: so nothing is computed outside the enable of
    its stage, and a stage without a row costs a simulator one branch.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    request : ``In(RequantizeRequest())``
        What to do with the row that is there in this cycle.
    row : ``In(ArrayLayout(signed(32), dim))``
        Elements to scale.
    bias : ``In(ArrayLayout(signed(32), dim))``
        What to add to them first.
    bytes : ``In(ArrayLayout(unsigned(8), dim))``
        Elements that stay as they are.
    valid : ``Out(1)``
        There is a new result.
    narrow : ``Out(signed(8)).array(dim)``
        The result as int8; of a raw row its low bytes.
    wide : ``Out(signed(32)).array(dim)``
        The result of a raw row.
    """

    LATENCY = 10

    request: data.View
    row: data.View
    bias: data.View
    bytes: data.View
    valid: Signal
    narrow: list[Signal]
    wide: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        elements = data.ArrayLayout(signed(ELEMENT_BITS), config.dim)
        super().__init__({
            "request": In(RequantizeRequest()),
            "row": In(elements),
            "bias": In(elements),
            "bytes": In(data.ArrayLayout(unsigned(OUTPUT_BITS), config.dim)),
            "valid": Out(1),
            "narrow": Out(signed(OUTPUT_BITS)).array(config.dim),
            "wide": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        pipe = _Pipeline(m, self.request, self.LATENCY)
        m.d.comb += self.valid.eq(pipe.valid[-1])
        for lane in range(self.config.dim):
            pipe.suffix = f"_{lane}"
            # Stage 1: bias.
            element = Mux(self.request.as_it_is, self.bytes[lane].as_signed(), self.row[lane])
            total = element + Mux(self.request.biased, self.bias[lane], 0)
            total = pipe.register(1, "total", total[:ELEMENT_BITS].as_signed())
            _requantize(pipe, total, self.narrow[lane], self.wide[lane])
        return m


class _Pipeline:
    """Registers of the stages, and what all lanes of a stage share."""

    def __init__(self, m: Module, request: data.View, stages: int):
        self.m = m
        self.suffix = ""
        self.valid: list[Value] = [request.valid]  # That of the row that enters stage n + 1.
        for stage in range(1, stages + 1):
            self.valid.append(Signal(name=f"s{stage}_valid"))
            m.d.sync += self.valid[stage].eq(self.valid[stage - 1])
        self.raw = self._delayed(request.raw | request.as_it_is, "raw", stages - 1)
        self.relu = self._delayed(request.relu, "relu", stages - 1)
        self.scale = self._delayed(request.scale, "scale", 5)
        # Stage 5: the mantissa; that of 1.0 for a raw row, which so passes unchanged.
        scale = self.scale[4]
        mantissa = Cat(scale[:FRACTION_BITS], Const(1, 1))
        one = Const(1 << FRACTION_BITS, MANTISSA_BITS)
        self.mantissa = self.register(5, "scale_mantissa", Mux(self.raw[4], one, mantissa))
        # Stage 5: the part of the shift that is due to the scale.
        exponent = scale[FRACTION_BITS:-1]
        shift = exponent - (EXPONENT_BIAS + SMALLEST_EXPONENT)
        self.shift = self.register(5, "scale_shift", shift)
        # Stage 6: NaN makes everything 0.  Zero and subnormals do so too, being so small.
        scale = self.scale[5]
        nan = scale[FRACTION_BITS:-1].all() & scale[:FRACTION_BITS].any()
        self.nan = self.register(6, "scale_nan", nan & ~self.raw[5])

    def register(self, stage: int, name: str, value: Value, enable: Value | int = 1) -> Signal:
        """`value` at the end of `stage`.  Without a row in it, or `enable`, nothing changes."""
        name = f"s{stage}_{name}{self.suffix}"
        register = Signal(value.shape(), name=name, reset_less=True)
        with self.m.If(self.valid[stage - 1] & enable):
            self.m.d.sync += register.eq(value)
        return register

    def normalized(self, stage: int, value: Value, step: int) -> tuple[Value, Value]:
        """`value`, shifted left by `step` bits up to 3 times, while its upper `step` bits are 0.

        The second result is 3 less the number of steps.  A raw value is not shifted.
        """
        width = len(value)
        choices: Value = Cat(Const(0, 3 * step), value[: -3 * step], Const(0, 2))
        for left in (1, 2, 3):
            steps = 3 - left
            shifted = Cat(Const(0, steps * step), value[: width - steps * step], Const(left, 2))
            fits = value[width - (steps + 1) * step :].any()
            if not steps:
                fits |= self.raw[stage - 1]
            choices = Mux(fits, shifted, choices)
        both = self.register(stage, f"normalized_{step}", choices)
        return both[:width], both[width:]

    def _delayed(self, value: Value, name: str, stages: int) -> list[Value]:
        """`value` as each of the first `stages` stages leaves it, and before."""
        values = [value]
        for stage in range(1, stages + 1):
            values.append(self.register(stage, name, values[-1]))
        return values


def _requantize(pipe: _Pipeline, total: Value, narrow: Value, wide: Value) -> None:
    """Stages 2 to 10 of a lane."""
    register, raw = pipe.register, pipe.raw

    # Stage 2: sign and magnitude.
    flip = total[-1] & ~raw[1]
    magnitude = register(2, "magnitude", Mux(flip, -total, total)[:ELEMENT_BITS])
    negative: Value = register(2, "negative", total[-1] ^ pipe.scale[1][-1])

    # Stages 3 and 4: leave at most one zero above the highest one.
    magnitude, bytes_left = pipe.normalized(3, magnitude, 8)
    magnitude, pairs_left = pipe.normalized(4, magnitude, 2)
    for stage in (3, 4, 5, 6, 7, 8, 9):
        negative = register(stage, "negative", negative)
    bytes_left = register(4, "left_8", bytes_left)

    # Stage 5: to float32.  Its mantissa may be 2^24, and is 0 for 0 only.
    exact = magnitude[LOW_BITS:]
    rounded = Mux(magnitude[-1], _cut(magnitude, LOW_BITS), _cut(magnitude[:-1], LOW_BITS - 1))
    mantissa = register(5, "mantissa", Mux(raw[4], exact, rounded))
    low: Value = register(5, "low", magnitude[:LOW_BITS])
    exponent = register(5, "exponent", Cat(magnitude[-1], pairs_left, bytes_left))

    # Stage 6: multiply.  Not even 2^24 times the largest mantissa needs another bit.
    product = mantissa * pipe.mantissa
    product = register(6, "product", product[: 2 * MANTISSA_BITS])
    low = register(6, "low", low)
    shift = register(6, "shift", exponent + pipe.shift)

    # Stage 7: the product to float32.  Its top bit is bit 46 or bit 47.
    carry = product[-1]
    kept = Mux(carry, _cut(product, MANTISSA_BITS), _cut(product[:-1], FRACTION_BITS))
    zero = pipe.nan | (shift[-1] & ~raw[6])
    mantissa = register(7, "mantissa", Mux(zero, 0, kept))
    low = register(7, "low", low)
    large = (shift >= OUTPUT_BITS - SMALLEST_EXPONENT) & product[-2:].any() & ~pipe.nan
    large = register(7, "large", large)
    shift = register(7, "shift", (shift + carry)[:SHIFT_BITS])

    # Stage 8: to fixed point.
    whole = Cat(low, mantissa[:MANTISSA_BITS])
    shifted = (mantissa << shift)[: POINT + OUTPUT_BITS + 2]
    fixed = register(8, "fixed", Mux(raw[7], whole, shifted))
    large = register(8, "large", large)

    # Stage 9: to an integer, of at most -INT8_MIN.
    top = 1 << (OUTPUT_BITS - 1)
    above = large | fixed[POINT + OUTPUT_BITS - 1 :].any()
    size = Mux(above, top, _cut(fixed[: POINT + OUTPUT_BITS - 1], POINT))
    size = register(9, "size", size[:OUTPUT_BITS])
    whole = register(9, "whole", fixed[:ELEMENT_BITS], raw[8])

    # Stage 10: sign and activation.
    scaled = Mux(negative, Mux(pipe.relu[9], 0, -size), size - size[-1])
    result = Mux(raw[9], whole[:OUTPUT_BITS], scaled)
    m = pipe.m
    m.d.comb += narrow.eq(register(10, "narrow", result[:OUTPUT_BITS].as_signed()))
    m.d.comb += wide.eq(register(10, "wide", whole.as_signed(), raw[9]))


def _cut(value: Value, bits: int) -> Value:
    """``value / 2^bits`` to nearest, ties to even."""
    kept, half, rest = value[bits:], value[bits - 1], value[: bits - 1]
    return kept + (half & (rest.any() | kept[0]))
