"""Scaling of int8 elements on their way into the local memories."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig

__all__ = ["LoadScaler", "scaler_lanes"]

ELEMENT_BITS = 8
FRACTION_BITS = 23
MANTISSA_BITS = FRACTION_BITS + 1
"""Of a float32, the hidden bit included."""
EXPONENT_BITS = 8
EXPONENT_BIAS = 127

SMALLEST_EXPONENT = -8
"""Below 2^-8, a scale makes less than one half of every element."""
LARGEST_EXPONENT = 6
"""From 2^7 on, a scale makes at least 128 of every element but 0."""

PRODUCT_BITS = ELEMENT_BITS + MANTISSA_BITS
"""Of a magnitude of up to 128 and a mantissa, one for a carry out of rounding included."""
DROPPED_BITS = ELEMENT_BITS - 1
"""Most bits that rounding a product to 24 bits drops."""
POINT = FRACTION_BITS - SMALLEST_EXPONENT
"""Fraction bits of a rounded product shifted left by ``exponent - SMALLEST_EXPONENT``."""


def scaler_lanes(config: AcceleratorConfig) -> int:
    """Elements per step: as many int8 as one beat brings, but no more than fit a row."""
    return min(config.bus_bytes, config.dim)


class LoadScaler(wiring.Component):
    """Scales int8 elements, exactly as `celosia.isa.numerics.mvin_scale` defines it.

    Every bit pattern is a legal scale (NaN gives 0, infinity saturates).  There is no
    floating-point unit: an 8 x 24-bit product, a rounding to 24 bits and a shift with rounding per
    lane.

    The pipeline is rigid: it moves when ``advance`` says so, and results are those of the elements
    that were there `LATENCY` moves earlier.  Elements without ``enable`` leave every lane alone (a
    scale of 1 costs nothing if its user goes round), and their results mean nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies the number of lanes, `scaler_lanes`.

    Members
    -------
    advance : ``In(1)``
        Move.
    enable : ``In(1)``
        Scale ``elements``.
    scale : ``In(unsigned(32))``
        The bits of a float32.
    elements : ``In(ArrayLayout(signed(8), lanes))``
        What to scale.
    results : ``Out(signed(8)).array(lanes)``
        The elements of `LATENCY` moves ago, scaled.
    """

    LATENCY = 2

    advance: Signal
    enable: Signal
    scale: Signal
    elements: data.View
    results: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.lanes = scaler_lanes(config)
        elements = data.ArrayLayout(signed(ELEMENT_BITS), self.lanes)
        super().__init__({
            "advance": In(1),
            "enable": In(1),
            "scale": In(unsigned(32)),
            "elements": In(elements),
            "results": Out(signed(ELEMENT_BITS)).array(self.lanes),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        s1_enable, s2_enable = Signal(), Signal()
        with m.If(self.advance):
            m.d.sync += [s1_enable.eq(self.enable), s2_enable.eq(s1_enable)]
        move_1, move_2 = Signal(), Signal()
        m.d.comb += [
            move_1.eq(self.advance & self.enable),
            move_2.eq(self.advance & s1_enable),
        ]

        # What all lanes share: the mantissa goes into stage 1, the exponent into stage 3.
        mantissa, *exponent = _decode(self.scale)
        negative = self.scale[-1]
        for stage, move in ((1, move_1), (2, move_2)):
            kept = [
                Signal(value.shape(), name=f"s{stage}_{name}", reset_less=True)
                for value, name in zip(exponent, ("shift", "tiny", "huge"), strict=True)
            ]
            with m.If(move):
                m.d.sync += [new.eq(old) for new, old in zip(kept, exponent, strict=True)]
            exponent = kept

        for lane in range(self.lanes):
            # Stage 1: multiply.  Exact: 128 times 24 bits.
            element = self.elements[lane]
            s1_negative = Signal(name=f"s1_negative_{lane}", reset_less=True)
            s1_product = Signal(PRODUCT_BITS, name=f"s1_product_{lane}", reset_less=True)
            with m.If(move_1):
                m.d.sync += s1_negative.eq((element < 0) ^ negative)
                m.d.sync += s1_product.eq(_magnitude(element) * mantissa)

            # Stage 2: round to a float32's 24 bits.
            s2_negative = Signal(name=f"s2_negative_{lane}", reset_less=True)
            s2_product = Signal(PRODUCT_BITS, name=f"s2_product_{lane}", reset_less=True)
            with m.If(move_2):
                m.d.sync += s2_negative.eq(s1_negative)
                m.d.sync += s2_product.eq(_round_to_float(m, s1_product, lane))

            # Stage 3, to be registered by the user: to an integer.  Evaluated only when needed.
            with m.If(s2_enable):
                result = _to_integer(m, s2_product, s2_negative, exponent, lane)
                m.d.comb += self.results[lane].eq(result)

        return m


def _decode(scale: Value) -> tuple[Value, Value, Value, Value]:
    """Mantissa and shift of a scale, and whether all its results are 0, or all but 0 saturate."""
    fraction = scale[:FRACTION_BITS]
    biased = scale[FRACTION_BITS : FRACTION_BITS + EXPONENT_BITS]
    is_nan = biased.all() & fraction.any()
    tiny = is_nan | (biased < EXPONENT_BIAS + SMALLEST_EXPONENT)
    huge = ~is_nan & (biased > EXPONENT_BIAS + LARGEST_EXPONENT)
    shift_bits = (LARGEST_EXPONENT - SMALLEST_EXPONENT).bit_length()
    shift = (biased - (EXPONENT_BIAS + SMALLEST_EXPONENT))[:shift_bits]
    # Zero and subnormals are tiny, so the hidden bit is always there.
    return Cat(fraction, 1), shift, tiny, huge


def _magnitude(element: Value) -> Value:
    return Mux(element < 0, -element, element)[:ELEMENT_BITS]


def _round_to_float(m: Module, product: Value, lane: int) -> Value:
    """`product` to its leading 24 bits, to nearest, ties to even; the bits dropped become 0."""
    # Bit k: the leading one is at least k + 1 places too high, so that bit k is dropped.
    dropped = Signal(DROPPED_BITS, name=f"s2_dropped_{lane}")
    rounded = Signal(PRODUCT_BITS + 1, name=f"s2_rounded_{lane}")
    excess = product[MANTISSA_BITS : MANTISSA_BITS + DROPPED_BITS]
    last_dropped = dropped & ~(dropped >> 1)
    odd = (last_dropped & product[1 : DROPPED_BITS + 1]).any()
    m.d.comb += [
        dropped.eq(Cat(excess[place:].any() for place in range(DROPPED_BITS))),
        rounded.eq(product + (dropped >> 1) + odd),
    ]
    return Cat(rounded[:DROPPED_BITS] & ~dropped, rounded[DROPPED_BITS:PRODUCT_BITS])


def _to_integer(
    m: Module, product: Value, negative: Value, exponent: Sequence[Value], lane: int
) -> Value:
    """The result: to nearest, ties to even, saturated."""
    shift, tiny, huge = exponent
    shifted = Signal((product << shift).shape(), name=f"s3_shifted_{lane}")
    rounded = Signal(len(shifted) - POINT + 1, name=f"s3_rounded_{lane}")
    magnitude = Signal(ELEMENT_BITS, name=f"s3_magnitude_{lane}")

    whole, fraction = shifted[POINT:], shifted[:POINT]
    up = fraction[-1] & (fraction[:-1].any() | whole[0])
    top = (1 << (ELEMENT_BITS - 1)) - 1 + negative
    saturates = (rounded > top) | (huge & product.any())
    m.d.comb += [
        shifted.eq(product << shift),
        rounded.eq(whole + up),
        magnitude.eq(Mux(tiny, 0, Mux(saturates, top, rounded))),
    ]
    return Mux(negative, -magnitude, magnitude)
