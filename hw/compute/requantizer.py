"""The way out of the accumulator: bias, float32-encoded scale, saturation, activation."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig

__all__ = ["RequantizeRequest", "Requantizer"]

ELEMENT_BITS = 32
MANTISSA_BITS = 24
"""Of a float32, the hidden bit included."""
FRACTION_BITS = MANTISSA_BITS - 1
EXPONENT_BITS = 8
EXPONENT_BIAS = 127
LOW_BITS = ELEMENT_BITS - MANTISSA_BITS
"""Of an int32, those that its float32 rounds away."""

OUTPUT_BITS = 8
SMALLEST_EXPONENT = -2
"""A float32 below 2^-2 stays below one half when its product's top bit adds one to the exponent."""
SHIFT_BITS = (OUTPUT_BITS - SMALLEST_EXPONENT).bit_length()
"""Of a left shift by ``exponent - SMALLEST_EXPONENT``, for exponents of up to `OUTPUT_BITS`."""


class RequantizeRequest(data.StructLayout):
    """A row of int32 and what becomes of it."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "row": data.ArrayLayout(signed(ELEMENT_BITS), config.dim),
            "bias": data.ArrayLayout(signed(ELEMENT_BITS), config.dim),
            "biased": 1,  # Add `bias`, which is meaningless otherwise.
            "raw": 1,  # Leave the sum as it is: no scale, no activation.
            "relu": 1,
            "scale": unsigned(32),  # The bits of a float32.
        })


class Requantizer(wiring.Component):
    """Scales rows of int32 down to int8, exactly as `celosia.isa.numerics.requantize` defines it.

    An element becomes ``requantize(x + bias, scale)``, where the sum wraps at 32 bits, then
    ``relu`` of that; with ``raw`` it becomes ``x + bias``.  There is no floating-point unit: a lane
    normalizes, multiplies 24 by 24 bits, and rounds three times, to float32 twice and then to an
    integer, each to nearest and ties to even.  Every bit pattern is a legal scale (NaN gives 0,
    infinity saturates).

    Latency is `LATENCY` cycles and throughput one row per cycle.  The pipeline runs freely: it
    cannot be stalled, so whoever offers a row has room for the result.  A result stands on
    ``o.payload`` until the next one replaces it, also after ``o.valid``, which lasts one cycle.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    i : ``In(stream.Signature(RequantizeRequest(config), always_ready=True))``
        Rows to scale.
    o : ``Out(stream.Signature(ArrayLayout(signed(32), dim), always_ready=True))``
        Results, in order; an int8 is sign-extended.
    """

    LATENCY = 6

    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        element = signed(ELEMENT_BITS)
        super().__init__({
            "i": In(stream.Signature(RequantizeRequest(config), always_ready=True)),
            "o": Out(stream.Signature(data.ArrayLayout(element, config.dim), always_ready=True)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        valid: list[Value] = [self.i.valid]
        for stage in range(1, self.LATENCY + 1):
            valid.append(Signal(name=f"s{stage}_valid"))
            m.d.sync += valid[stage].eq(valid[stage - 1])
        m.d.comb += self.o.valid.eq(valid[self.LATENCY])

        # What all lanes share: the request without its elements, as each stage holds it.
        request = self.i.payload
        row = _Row(m, request.raw, request.relu, request.scale)
        rows = [row]
        for stage in range(1, self.LATENCY):
            row = row.after(valid[stage - 1], stage)
            rows.append(row)
        s3_multiplier = _register(m, valid[2], 3, "multiplier", rows[2].multiplier())

        for lane in range(self.config.dim):
            # Stage 1: bias.
            bias = Mux(request.biased, request.bias[lane], 0)
            total = (request.row[lane] + bias)[:ELEMENT_BITS].as_signed()
            s1_sum = _register(m, valid[0], 1, f"sum_{lane}", total)

            # Stage 2: sign and magnitude.
            flip = s1_sum[-1] & ~rows[1].raw
            magnitude = Mux(flip, -s1_sum, s1_sum)[:ELEMENT_BITS]
            s2_magnitude = _register(m, valid[1], 2, f"magnitude_{lane}", magnitude)
            negative = s1_sum[-1] ^ rows[1].scale[-1]
            negative = _register(m, valid[1], 2, f"negative_{lane}", negative)

            # Stage 3: to float32.
            mantissa, low, exponent = _to_float(m, s2_magnitude, rows[2].raw)
            s3_mantissa = _register(m, valid[2], 3, f"mantissa_{lane}", mantissa)
            low = _register(m, valid[2], 3, f"low_{lane}", low)
            s3_exponent = _register(m, valid[2], 3, f"exponent_{lane}", exponent)
            negative = _register(m, valid[2], 3, f"negative_{lane}", negative)

            # Stage 4: multiply, and see from the exponents alone what the result cannot be.
            s4_product = _register(m, valid[3], 4, f"product_{lane}", s3_mantissa * s3_multiplier)
            shift, zero, huge = _classify(m, s3_exponent, s3_mantissa[-1], rows[3])
            s4_shift = _register(m, valid[3], 4, f"shift_{lane}", shift)
            s4_zero = _register(m, valid[3], 4, f"zero_{lane}", zero)
            huge = _register(m, valid[3], 4, f"huge_{lane}", huge)
            low = _register(m, valid[3], 4, f"low_{lane}", low)
            negative = _register(m, valid[3], 4, f"negative_{lane}", negative)

            # Stage 5: round the product to float32.
            rounded, carry = _round_product(m, s4_product, rows[4].raw)
            rounded = Mux(s4_zero, 0, rounded)
            s5_product = _register(m, valid[4], 5, f"product_{lane}", rounded)
            s5_shift = _register(m, valid[4], 5, f"shift_{lane}", (s4_shift + carry)[:SHIFT_BITS])
            huge = _register(m, valid[4], 5, f"huge_{lane}", huge)
            low = _register(m, valid[4], 5, f"low_{lane}", low)
            negative = _register(m, valid[4], 5, f"negative_{lane}", negative)

            # Stage 6: to an integer, saturated and activated.
            size = _to_integer(m, s5_product, s5_shift, huge)
            scaled = Mux(negative, Mux(rows[5].relu, 0, -size), size - size[-1])
            raw = Cat(low, s5_product[:MANTISSA_BITS]).as_signed()
            result = Mux(rows[5].raw, raw, scaled)
            s6_result = _register(m, valid[5], 6, f"result_{lane}", result)
            m.d.comb += self.o.payload[lane].eq(s6_result)

        return m


class _Row:
    """What the lanes of a row share, in one stage of the pipeline."""

    def __init__(self, m: Module, raw: Value, relu: Value, scale: Value):
        self._m = m
        self.raw, self.relu, self.scale = raw, relu, scale

    def after(self, enable: Value, stage: int) -> "_Row":
        """The same one stage later."""
        registers = (
            _register(self._m, enable, stage, name, getattr(self, name))
            for name in ("raw", "relu", "scale")
        )
        return _Row(self._m, *registers)

    @property
    def exponent(self) -> Value:
        """The scale's exponent field."""
        return self.scale[FRACTION_BITS:-1]

    def multiplier(self) -> Value:
        """The scale's mantissa; 1.0 for a raw row, which so passes unchanged."""
        one = 1 << FRACTION_BITS
        return Mux(self.raw, one, Cat(self.scale[:FRACTION_BITS], Const(1, 1)))

    def vanishes(self) -> Value:
        """Whether the scale makes everything 0: zero, NaN, or a subnormal (below 2^-126)."""
        return (self.exponent == 0) | (self.exponent.all() & self.scale[:FRACTION_BITS].any())


def _register(m: Module, enable: Value, stage: int, name: str, value: Value) -> Signal:
    """A register at the end of `stage`, without reset, that keeps its value unless `enable`."""
    register = Signal(value.shape(), name=f"s{stage}_{name}", reset_less=True)
    with m.If(enable):
        m.d.sync += register.eq(value)
    return register


def _wire(m: Module, value: Value, name: str) -> Signal:
    """`value` with a name: a value that is used often would be built once per use."""
    wire = Signal(value.shape(), name=name)
    m.d.comb += wire.eq(value)
    return wire


def _to_float(m: Module, magnitude: Value, raw: Value) -> tuple[Value, Value, Value]:
    """Mantissa, the bits that fell off below it, and exponent of ``float32(magnitude)``.

    The mantissa of 0 is 0; any other has its top bit set.  A `raw` value is cut into its upper and
    lower bits as it is.
    """
    exponent = []  # 31 less the number of leading zeros, the highest bit first.
    for step in (16, 8, 4, 2, 1):
        filled = _wire(m, magnitude[-step:].any() | raw, f"filled_{step}")
        shifted = Mux(filled, magnitude, magnitude << step)[:ELEMENT_BITS]
        magnitude = _wire(m, shifted, f"shifted_{step}")
        exponent.append(filled)
    kept, lost = magnitude[LOW_BITS:], magnitude[:LOW_BITS]
    up = lost[-1] & (lost[:-1].any() | kept[0]) & ~raw
    rounded = _wire(m, kept + up, "rounded")  # 2^24 when it carries; the mantissa is then 2^23.
    carry = rounded[MANTISSA_BITS]
    mantissa = Cat(rounded[:FRACTION_BITS], rounded[FRACTION_BITS] | carry)
    return mantissa, lost, Cat(reversed(exponent)) + carry


def _classify(m: Module, exponent: Value, nonzero: Value, row: _Row) -> tuple[Value, Value, Value]:
    """The shift that makes an integer of the product, and whether it is surely 0 or too large."""
    shift = exponent + row.exponent - (EXPONENT_BIAS + SMALLEST_EXPONENT)
    shift = _wire(m, shift, "shift")
    zero = (row.vanishes() | (shift < 0)) & ~row.raw
    huge = ~row.vanishes() & nonzero & (shift >= OUTPUT_BITS - SMALLEST_EXPONENT)
    return shift[:SHIFT_BITS], zero, huge


def _round_product(m: Module, product: Value, raw: Value) -> tuple[Value, Value]:
    """The product rounded to `MANTISSA_BITS` bits, and whether its own top bit is set.

    The product of two mantissas has its top bit at 46 or 47.  Rounding may carry into a 25th bit.
    """
    carry = _wire(m, product[-1] & ~raw, "carry")
    kept = Mux(carry, product[MANTISSA_BITS:], product[FRACTION_BITS:-1])
    kept = _wire(m, kept, "kept")
    half = Mux(carry, product[FRACTION_BITS], product[FRACTION_BITS - 1])
    rest = product[: FRACTION_BITS - 1].any() | (carry & product[FRACTION_BITS - 1])
    return kept + (half & (rest | kept[0])), carry


def _to_integer(m: Module, mantissa: Value, shift: Value, huge: Value) -> Value:
    """``mantissa * 2^(shift - point)`` rounded to an integer of at most 2^7."""
    point = FRACTION_BITS - SMALLEST_EXPONENT
    fixed = _wire(m, mantissa << shift, "fixed")
    whole, lost = fixed[point:], fixed[:point]
    rounded = _wire(m, whole + (lost[-1] & (lost[:-1].any() | whole[0])), "rounded")
    top = 1 << (OUTPUT_BITS - 1)
    saturated = Mux(huge | (rounded >= top), top, rounded)
    return _wire(m, saturated[:OUTPUT_BITS], "size")
