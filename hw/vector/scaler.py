"""Requantization of rows of int32: the same arithmetic on every way in and out."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.stages import Line, Stages
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["ELEMENT_BITS", "ScaleRequest", "Scaler"]

ELEMENT_BITS = 32
MANTISSA_BITS = 24
"""Of a float32, the hidden bit included."""
FRACTION_BITS = MANTISSA_BITS - 1
EXPONENT_BIAS = 127
LOW_BITS = ELEMENT_BITS - MANTISSA_BITS
"""Of an int32, those that its float32 rounds away."""

INTEGER_BITS = 16
"""Of the widest output.  Others saturate to it first, which leaves room for a zero point."""
SMALLEST_EXPONENT = -2
"""Of a product that may still become 1: its top bit may stand one higher than its factors say."""
SHIFT_BITS = (INTEGER_BITS - SMALLEST_EXPONENT).bit_length()
"""Of a left shift by exponent - SMALLEST_EXPONENT, for exponents of up to INTEGER_BITS."""
POINT = FRACTION_BITS - SMALLEST_EXPONENT
"""Bits after the binary point of a product after this shift."""

SCALE_STAGE = 4
"""Where scales arrive."""


class ScaleRequest(data.StructLayout):
    """What becomes of a row.  `kind`, `relu` and `zero_point` only matter where bytes leave."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "raw": 1,  # It stays as it is, whatever else is asked.
            "kind": unsigned(2),  # An ElementType of at most 16 bits: what it saturates to.
            "relu": 1,
            "zero_point": unsigned(8),  # Added to uint8 only.
            "by_column": 1,  # The scales are a row of parameters.
            "scale": unsigned(32),  # Else: the bits of a float32.
            "scale_row": row_shape(config.parameter_rows),
        })


class Scaler(wiring.Component):
    """Scales rows of int32, exactly as `celosia.isa.numerics.requantize_to` defines it.

    There is no floating-point unit: a lane normalizes, multiplies, and rounds three times, to
    float32 twice and then to an integer, each to nearest and ties to even.  Every bit pattern is a
    legal scale.  A raw row passes unchanged, beside all that.

    Without `every_kind`, everything that is not raw becomes int16, without ReLU.

    Latency is `latency` cycles (10, or 9 without `every_kind`) and throughput one row per cycle; it
    cannot be stalled.  ``valid`` lasts one cycle; the result stands until the next one.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``parameter_rows``.
    every_kind : bool
        Also make int8 and uint8, activate, and add zero points.

    Members
    -------
    start : ``In(1)``
        There is a row in this cycle.
    request : ``In(ScaleRequest(config))``
        What becomes of it.
    row : ``In(signed(32)).array(dim)``
        Its elements.
    scales : ``Out(RowRead(row, elements))``
        Reads scales of columns, as the bits of float32; never waits.
    valid : ``Out(1)``
        There is a new result.
    elements : ``Out(signed(32)).array(dim)``
        The result.
    """

    start: Signal
    request: data.View
    row: list[Signal]
    scales: RowReadInterface
    valid: Signal
    elements: list[Signal]

    def __init__(self, config: AcceleratorConfig, *, every_kind: bool = True):
        self.config = config
        self.every_kind = every_kind
        self.latency = 10 if every_kind else 9
        scales = data.ArrayLayout(signed(32), config.dim)
        super().__init__({
            "start": In(1),
            "request": In(ScaleRequest(config)),
            "row": In(signed(ELEMENT_BITS)).array(config.dim),
            "scales": Out(RowRead(row_shape(config.parameter_rows), scales)),
            "valid": Out(1),
            "elements": Out(signed(ELEMENT_BITS)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        stages = Stages(m, self.start, self.latency)
        scaling = stages.branch("scaling", ~self.request.raw)
        passing = stages.branch("passing", self.request.raw)
        requests = scaling.line("request", self.request)
        asked = SCALE_STAGE - 1 - LOCAL_READ_LATENCY
        m.d.comb += [
            self.valid.eq(stages.valid[-1]),
            self.scales.valid.eq(scaling.valid[asked] & requests[asked].by_column),
            self.scales.row.eq(requests[asked].scale_row),
        ]
        end = self.latency
        ending = _Bytes(scaling, requests) if self.every_kind else None
        for index, row in enumerate(self.row):
            lane = _Lane(scaling.part(index), requests)
            lane.multiply(row, self.scales.data[index])
            lane.round()
            scaled = ending.element(lane) if ending else lane.integer()
            # The last stage: what was scaled, or what only passed.
            passed = passing.part(index).line("passed", row)[end - 1]
            element = Mux(scaling.valid[end - 1], scaled, passed)[:ELEMENT_BITS].as_signed()
            element = stages.part(index).register(end, "element", element)
            m.d.comb += self.elements[index].eq(element)
        return m


class _Lane:
    """Stages 1 to 8.  A value that is used more than once is a register of an earlier stage."""

    negative: Value
    product: Value
    shift: Value
    nan: Value
    size: Value

    def __init__(self, stages: Stages, requests: Line):
        self.stages = stages
        self.register = stages.register
        self.requests = requests

    def multiply(self, element: Value, column_scale: Value) -> None:
        """Stages 1 to 5: to a product of two mantissas, and the shift that it needs."""
        register, requests = self.register, self.requests

        # Stage 1: sign and magnitude.
        magnitude = Mux(element[-1], -element, element)[:ELEMENT_BITS]
        magnitude = register(1, "magnitude", magnitude)
        negative = self.stages.line("negative", register(1, "negative", element[-1]), 1)

        # Stages 2 and 3: leave at most one zero above the highest one.
        magnitude, bytes_left = self._normalized(2, magnitude, 8)
        magnitude, pairs_left = self._normalized(3, magnitude, 2)
        bytes_left = register(3, "left_8", bytes_left)

        # Stage 4: to float32.  Its mantissa may be 2^24, and is 0 for 0 only.
        rounded = Mux(magnitude[-1], _cut(magnitude, LOW_BITS), _cut(magnitude[:-1], LOW_BITS - 1))
        mantissa = register(4, "mantissa", rounded)
        exponent = register(4, "exponent", Cat(magnitude[-1], pairs_left, bytes_left))
        scale = Mux(requests[3].by_column, column_scale.as_unsigned(), requests[3].scale)
        scale = register(4, "scale", scale)

        # Stage 5: multiply.  Not even 2^24 times the largest mantissa needs another bit.
        factor = Cat(scale[:FRACTION_BITS], Const(1, 1))
        self.product = register(5, "product", (mantissa * factor)[: 2 * MANTISSA_BITS])
        shift = exponent + scale[FRACTION_BITS:-1] - (EXPONENT_BIAS + SMALLEST_EXPONENT)
        self.shift = register(5, "shift", shift)
        nan = scale[FRACTION_BITS:-1].all() & scale[:FRACTION_BITS].any()
        self.nan = register(5, "nan", nan)
        self.negative = register(5, "sign", negative[4] ^ scale[-1])

    def round(self) -> None:
        """Stages 6 to 8: to an integer of at most -INT16_MIN."""
        register, product, shift = self.register, self.product, self.shift

        # Stage 6: the product to float32.  Its top bit is bit 46 or bit 47.
        carry = product[-1]
        kept = Mux(carry, _cut(product, MANTISSA_BITS), _cut(product[:-1], FRACTION_BITS))
        zero = self.nan | shift[-1]
        mantissa = register(6, "rounded", Mux(zero, 0, kept))
        large = (shift >= INTEGER_BITS - SMALLEST_EXPONENT) & product[-2:].any() & ~self.nan
        large = register(6, "large", large)
        shift = register(6, "shift", (shift + carry)[:SHIFT_BITS])

        # Stage 7: to fixed point.
        fixed = register(7, "fixed", (mantissa << shift)[: POINT + INTEGER_BITS + 2])
        large = register(7, "large", large)

        # Stage 8: to an integer.
        above = large | fixed[POINT + INTEGER_BITS - 1 :].any()
        size = _cut(fixed[: POINT + INTEGER_BITS - 1], POINT)
        size = Mux(above, 1 << INTEGER_BITS - 1, size)
        self.size = register(8, "size", size[:INTEGER_BITS])
        negative = self.stages.line("sign", self.negative, 5)
        self.negative = negative[8]

    def integer(self) -> Value:
        """As int16."""
        return Mux(self.negative, -self.size, self.size - self.size[-1])

    def _normalized(self, stage: int, value: Value, step: int) -> tuple[Value, Value]:
        """`value`, shifted left by `step` bits up to 3 times, while its upper `step` bits are 0.

        The second result is 3 less the number of steps.
        """
        width = len(value)
        choices: Value = Cat(Const(0, 3 * step), value[: -3 * step], Const(0, 2))
        for left in (1, 2, 3):
            steps = 3 - left
            shifted = Cat(Const(0, steps * step), value[: width - steps * step], Const(left, 2))
            fits = value[width - (steps + 1) * step :].any()
            choices = Mux(fits, shifted, choices)
        both = self.register(stage, f"normalized_{step}", choices)
        return both[:width], both[width:]


class _Bytes:
    """Stages 9 and 10 for every kind of element: activation, zero point, saturation."""

    def __init__(self, stages: Stages, requests: Line):
        kind = requests[7].kind
        offset = Mux(kind == ElementType.UINT8, requests[7].zero_point, 0)
        self.relu = stages.register(8, "relu", requests[7].relu)
        self.offset = stages.register(8, "offset", offset)
        kind = requests[8].kind
        low: Value = Const(-(1 << INTEGER_BITS - 1))
        high: Value = Const((1 << INTEGER_BITS - 1) - 1)
        for byte, least, most in (
            (ElementType.INT8, -(1 << 7), (1 << 7) - 1),
            (ElementType.UINT8, 0, (1 << 8) - 1),
        ):
            low, high = Mux(kind == byte, least, low), Mux(kind == byte, most, high)
        self.low = stages.register(9, "lowest", low)
        self.high = stages.register(9, "highest", high)

    def element(self, lane: _Lane) -> Value:
        """What stage 10 makes of `lane`."""
        # Stage 9: sign, activation and zero point.
        total = Mux(lane.negative, Mux(self.relu, 0, -lane.size), lane.size) + self.offset
        total = lane.register(9, "total", total)
        # Stage 10: saturate.
        return Mux(total < self.low, self.low, Mux(total > self.high, self.high, total))


def _cut(value: Value, bits: int) -> Value:
    """``value / 2^bits`` to nearest, ties to even."""
    kept, half, rest = value[bits:], value[bits - 1], value[: bits - 1]
    return kept + (half & (rest.any() | kept[0]))
