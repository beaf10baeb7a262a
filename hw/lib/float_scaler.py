"""Integers times a float32, rounded to integers: one lane, without a floating-point unit."""

from dataclasses import dataclass
from typing import NamedTuple

from amaranth import Cat, Const, Mux, Value

from celosia.hw.lib.float32 import (
    EXPONENT_BIAS,
    Float32,
    round_leading,
    round_off,
    split_leading,
)
from celosia.hw.lib.stages import Stages
from celosia.isa.config import LEAST_SCALE_BITS
from celosia.isa.numerics.float32 import MANTISSA_BITS

__all__ = ["FloatScaler", "Scale", "Scaled", "ScalerShape", "scale_shift"]

ROUNDED_BITS = 2
"""Bits behind the point that are rounded off: the half, and whether there is more."""
SMALLEST_EXPONENT = -2
"""Smallest exponent of a product that can still round to 1: the sum of those of its factors."""


@dataclass(frozen=True, kw_only=True)
class ScalerShape:
    """The widths of a scaler, and the stage of the pipeline in which each of its steps is done.

    Steps of one stage are computed one behind the other; between stages there are registers.
    """

    element_bits: int
    """Width of a signed element, in bits: 8 or 32."""
    result_bits: int
    """Width of a signed result, in bits; larger values saturate to it."""
    scale_bits: int = MANTISSA_BITS
    """Bits, 8 to 24, of the mantissa of the scale, which is cut to them."""

    magnitude: int
    """The stage that takes the magnitude of the element."""
    normalize: tuple[int, ...]
    """The stages that shift left, by 8 bits and by 2 for an element of 32 bits, else by 2."""
    to_float: int
    """The stage that rounds the magnitude to a float."""
    multiply: int
    """The stage that multiplies by the scale's mantissa: long elements by its halves."""
    add: int
    """The stage that adds what the halves have made, and finds the leading bits of the product."""
    sign: int
    """The stage in which the sign of the scale is there; not before `magnitude`."""
    round: int
    """The stage that rounds the product to a float."""
    align: int
    """The stage that makes the rounded product a fixed-point number."""
    integer: int
    """The stage that rounds the fixed-point number to an integer."""
    result: int
    """The stage that uses the result."""

    def __post_init__(self) -> None:
        if self.element_bits not in (8, 32):
            raise ValueError(f"element_bits: {self.element_bits} is neither 8 nor 32")
        if not LEAST_SCALE_BITS <= self.scale_bits <= MANTISSA_BITS:
            limits = f"{LEAST_SCALE_BITS}..{MANTISSA_BITS}"
            raise ValueError(f"scale_bits: {self.scale_bits} is not in {limits}")
        if len(self.normalize) != len(self.steps):
            raise ValueError(f"normalize: {self.normalize} are not {len(self.steps)} stages")
        order = (
            self.magnitude, *self.normalize, self.to_float, self.multiply, self.add, self.round,
            self.align, self.integer, self.result,
        )  # fmt: skip
        if list(order) != sorted(order) or not self.magnitude <= self.sign <= self.result:
            raise ValueError(f"stages: {order}, and {self.sign} for signs, are not in order")

    @property
    def steps(self) -> tuple[int, ...]:
        """Bits that each step of normalization shifts by, up to three times."""
        return (8, 2) if self.element_bits == 32 else (2,)

    @property
    def point(self) -> int:
        """Bits behind the point of the fixed-point number."""
        return MANTISSA_BITS - 1 - SMALLEST_EXPONENT

    @property
    def low_bits(self) -> int:
        """Bits of an element that its float may round away."""
        return max(self.element_bits - MANTISSA_BITS, 0)


class Scale(NamedTuple):
    """The parts of a float32 that a scaler wants, each in the stage that uses it."""

    negative: Value
    """Whether the scale is negative, in the stage `sign`."""
    mantissa: Value
    """Mantissa of the scale, in the stage `multiply`."""
    shift: Value
    """The `scale_shift` of the scale, in the stage `multiply`."""
    nan: Value
    """Whether the scale is NaN, in the stage `add`."""


class Scaled(NamedTuple):
    """What a scaler makes, in the stage `result`."""

    size: Value
    """The magnitude, which is at most ``2**(result_bits - 1)``."""
    negative: Value
    unscaled: Value
    """The bits of an element that stays as it is, in the stage `integer`."""

    def integer(self) -> Value:
        """The result, saturated to `result_bits`."""
        return Mux(self.negative, -self.size, self.size - self.size[-1])


def scale_shift(scale: Float32) -> Value:
    """How far `scale` shifts a product to the left, from the smallest one that counts."""
    return scale.exponent - (EXPONENT_BIAS + SMALLEST_EXPONENT)


class FloatScaler:
    """Scales integers as `celosia.isa.numerics.requantize` defines it, in the steps of a `shape`.

    It normalizes, multiplies, and rounds three times, to a float twice and then to an integer, each
    to nearest and ties to even.  Every bit pattern is a legal scale: NaN, zero and subnormals give
    0, and infinity saturates.

    What enters `unscaled`, a branch of `stages`, stays as it is if the mantissa of its scale is
    that of 1: it goes through the same registers.
    """

    def __init__(self, stages: Stages, shape: ScalerShape, unscaled: Stages | None = None):
        assert unscaled is None or shape.low_bits, "nothing stands beside the mantissa"
        self._stages = stages
        self._shape = shape
        self._unscaled = unscaled

    def scaled(self, element: Value, scale: Scale) -> Scaled:
        """`element`, which is there in the stage `magnitude`, scaled."""
        shape, line = self._shape, self._stages.line
        negative = line("negative", element[-1], shape.magnitude - 1)[shape.sign - 1]
        negative = line("sign", negative ^ scale.negative, shape.sign - 1)[shape.result - 1]

        mantissa, exponent, low = self._to_float(self._normalized(element))
        bits = len(mantissa) if not shape.low_bits else MANTISSA_BITS
        # Not even 2^24 times the largest mantissa needs another bit.
        product = self._product(mantissa, scale.mantissa)[: bits + shape.scale_bits]
        # A short product is exact: zeros behind it are what is rounded off.
        product = Cat(Const(0, max(MANTISSA_BITS + 2 - len(product), 0)), product)
        product = self._done("add", "sum", product, "add")
        shift = self._done("multiply", "shift", exponent + scale.shift, "add")

        # The product to a float: its top bit is one of two.
        zero = scale.nan | (shift[-1] & ~self._kept("add"))
        leading = Cat(*split_leading(product, MANTISSA_BITS))
        leading = self._done("add", "leading", Mux(zero, 0, leading), "round")
        mantissa = leading[:-1] + leading[-1]
        mantissa = self._done("round", "rounded", mantissa, "align")
        high = shift >= shape.result_bits - SMALLEST_EXPONENT
        large = high & product[-2:].any() & ~scale.nan
        large = line("large", large, shape.add - 1)[shape.integer - 1]
        shift_bits = (shape.result_bits - SMALLEST_EXPONENT).bit_length()
        shift = self._done("add", "aligned", (shift + product[-1])[:shift_bits], "align")

        # To fixed point: of what is behind the half, only whether there is something is kept.
        half = shape.point - 1
        fixed = (mantissa << shift)[: shape.point + shape.result_bits + 2]
        fixed = Cat(fixed[:half].any(), fixed[half:])
        if self._unscaled is not None:
            whole = Cat(low, mantissa[:MANTISSA_BITS])
            fixed = Mux(self._kept("align"), whole, fixed)
        fixed = self._done("align", "fixed", fixed, "integer")

        # To an integer.
        bound = ROUNDED_BITS + shape.result_bits - 1
        above = large | fixed[bound:].any()
        size = Mux(above, 1 << shape.result_bits - 1, round_off(fixed[:bound], ROUNDED_BITS))
        size = self._done("integer", "size", size[: shape.result_bits], "result")
        return Scaled(size, negative, fixed[: shape.element_bits])

    def _normalized(self, element: Value) -> tuple[Value, list[Value]]:
        """The magnitude with at most one zero above its highest one, for the stage `to_float`.

        With it come, lowest first, how many of the up to three shifts of each step were left.
        """
        shape = self._shape
        flip = element[-1] & ~self._kept("magnitude")
        value = Mux(flip, -element, element)[: shape.element_bits]
        readers = (*shape.normalize, shape.to_float)
        value = self._value(shape.magnitude, "magnitude", value, readers[0])
        left = []
        for step, stage, reader in zip(shape.steps, shape.normalize, readers[1:], strict=True):
            choices = self._shifted(value, step, self._kept(stage))
            both = self._value(stage, f"normalized_{step}", choices, reader)
            value, rest = both[: shape.element_bits], both[shape.element_bits :]
            rest = self._stages.line(f"left_{step}", rest, reader - 1)
            left.insert(0, rest[shape.to_float - 1])
        return value, left

    def _shifted(self, value: Value, step: int, kept: Value) -> Value:
        """`value`, shifted left by `step` bits up to 3 times, while its upper `step` bits are 0.

        Behind it stands 3 less the number of shifts.  What is `kept` is not shifted.
        """
        width = len(value)
        choices: Value = Cat(Const(0, 3 * step), value[: -3 * step], Const(0, 2))
        for left in (1, 2, 3):
            shifts = 3 - left
            shifted = Cat(Const(0, shifts * step), value[: width - shifts * step], Const(left, 2))
            fits = value[width - (shifts + 1) * step :].any()
            choices = Mux(fits if shifts else fits | kept, shifted, choices)
        return choices

    def _to_float(self, normalized: tuple[Value, list[Value]]) -> tuple[Value, Value, Value]:
        """The mantissa, 0 for 0 only, and the exponent; and the low bits, in the stage `align`."""
        shape, (value, left) = self._shape, normalized
        if shape.low_bits:
            # It may be 2^24.
            mantissa = round_leading(value, MANTISSA_BITS)
            mantissa = Mux(self._kept("to_float"), value[shape.low_bits :], mantissa)
        else:
            mantissa = Mux(value[-1], value, value << 1)[: shape.element_bits]
        mantissa = self._done("to_float", "mantissa", mantissa, "multiply")
        exponent = self._done("to_float", "exponent", Cat(value[-1], *left), "multiply")
        low: Value = Const(0, 0)
        if self._unscaled is not None:
            low = value[: shape.low_bits]
            low = self._stages.line("low", low, shape.to_float - 1)[shape.align - 1]
        return mantissa, exponent, low

    def _product(self, mantissa: Value, factor: Value) -> Value:
        """The product of two mantissas, in the stage `add`."""
        if not self._shape.low_bits:
            return self._done("multiply", "product", mantissa * factor, "add")
        half = len(factor) // 2
        low = self._done("multiply", "product_low", mantissa * factor[:half], "add")
        high = self._done("multiply", "product_high", mantissa * factor[half:], "add")
        return low + (high << half)

    def _kept(self, step: str | int) -> Value:
        """Whether what a step works on stays as it is."""
        stage = step if isinstance(step, int) else getattr(self._shape, step)
        return Const(0, 1) if self._unscaled is None else self._unscaled.valid[stage - 1]

    def _done(self, step: str, name: str, value: Value, reader: str) -> Value:
        """`value`, which `step` has made, as the step `reader` finds it."""
        return self._value(getattr(self._shape, step), name, value, getattr(self._shape, reader))

    def _value(self, stage: int, name: str, value: Value, reader: int) -> Value:
        """`value`, made in `stage`, in the stage `reader`; computed once."""
        if reader == stage:
            return self._stages.wire(stage, name, value)
        return self._stages.line(name, value, stage - 1)[reader - 1]
