"""Quantization that a file describes: tensors of integers, and the numbers that they stand for.

A tensor that is rounded to integers and made floats again says in which range it is: the rounding
is left out of the float graph, and its range noted.  Products of such integers are products of the
numbers that they stand for, once their sums are multiplied by the scales.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder

__all__ = ["MOVES", "Product", "Quantization", "Range"]

Range = tuple[float, float]
"""The least and the largest number that a quantized tensor can be."""
Product = Callable[[str | None], str]
"""Makes the product of the numbers that integers stand for, times a factor, if one is given."""

MOVES: Final = frozenset({
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "MaxPool",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
})
"""Operators that choose among the elements of their first operand, in the order of numbers."""
_MAKERS: Final = frozenset({"QuantizeLinear", "DynamicQuantizeLinear"})


@dataclass(frozen=True)
class _Stands:
    """What a tensor of integers stands for: (integers - zero) * scale, but for their rounding."""

    real: str
    scale: str
    zero: str | None
    dtype: str


@dataclass(frozen=True)
class _Scale:
    """A product of scales that are known when the model runs, and of a constant."""

    measured: tuple[str, ...]
    factor: str | None = None


@dataclass(frozen=True)
class _Sums:
    """Sums of products of integers: times these scales they are `product`."""

    product: Product
    scale: _Scale
    stands: tuple[_Stands, ...]


@dataclass
class Quantization:
    """The quantized tensors of a graph that is built, and the ranges of what they are made of."""

    build: GraphBuilder
    ranges: dict[str, Range] = field(default_factory=dict)
    """The range of each tensor that the file rounds with known numbers, and the graph does not."""
    _measured: set[str] = field(default_factory=set)
    _stands: dict[str, _Stands] = field(default_factory=dict)
    _chosen: dict[str, tuple[str, Callable[[str], str | None]]] = field(default_factory=dict)
    _scales: dict[str, _Scale] = field(default_factory=dict)
    _sums: dict[str, _Sums] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """A sentence for each kind of quantization that is left out."""
        found = []
        if self.ranges:
            tensors = "tensor" if len(self.ranges) == 1 else "tensors"
            found.append(
                f"the file rounds {len(self.ranges)} {tensors} to integers: ranges are the file's, "
                "integers need not be"
            )
        if self._measured:
            count = len(self._measured)
            found.append(
                f"the file measures the range of {count} {'tensor' if count == 1 else 'tensors'} "
                "when it runs, and rounds to integers (DynamicQuantizeLinear): here ranges are "
                "calibrated"
            )
        return found

    def quantized(self, result: str, real: str, scale: str, zero: str | None) -> None:
        """Take note that the integers `result` stand for `real`."""
        sizes = [self.build.type(name).size for name in (scale, zero) if name is not None]
        if max(sizes) > 1:
            return
        if result not in self._stands:
            found = _Stands(real, scale, zero, self.build.type(result).dtype)
            self._stands[result] = replace(found, real=self._cut_off(found))
        if self.build.value(scale) is None:
            self._scales.setdefault(scale, _Scale((scale,)))

    def moved(
        self, source: str | None, results: Sequence[str | None], reals: Sequence[str | None]
    ) -> None:
        """Take note of integers that are those of `source` in other places, and of their floats."""
        for result, real in zip(results, reals, strict=True):
            if source is not None and result is not None and real is not None:
                self._stands.setdefault(result, replace(self._stands[source], real=real))

    def chosen(self, result: str, data: str | None, remake: Callable[[str], str | None]) -> None:
        """Take note that integers are chosen from known ones, as `remake` does from others."""
        if data is not None and self.build.value(data) is not None:
            self._chosen.setdefault(result, (data, remake))

    def table(self, integers: str, scale: str) -> tuple[str, Callable[[str], str | None]] | None:
        """The known integers from which some are chosen, and how, if they have one scale."""
        return self._chosen.get(integers) if self.build.type(scale).size == 1 else None

    def source(self, integers: str | None) -> str | None:
        """What a tensor stands for, whatever its zero point is."""
        found = self._stands.get(integers or "")
        return None if found is None else found.real

    def stands(self, integers: str | None, zero: str | None) -> str | None:
        """What a tensor stands for, if it was made with this zero point."""
        found = self._stands.get(integers or "")
        if found is None or self._zero(zero, found) != self._zero(found.zero, found):
            return None
        return found.real

    def real(self, integers: str | None, scale: str, zero: str | None) -> str | None:
        """What a tensor stands for, if it was made with these; it is taken in its place."""
        if self.stands(integers, zero) is None:
            return None
        found = self._stands[integers or ""]
        if self._key(scale) != self._key(found.scale):
            return None
        self._note(found)
        return found.real

    def leave_out(self, real: str) -> None:
        """Take note that a tensor is not rounded to integers of a range that is measured."""
        self._measured.add(real)

    def sums(self, result: str, rounded: Sequence[str], product: Product) -> None:
        """Take note that sums of integers, times the scales of those, are a product of floats."""
        stands = tuple(self._stands[name] for name in rounded)
        factor, measured = None, []
        for each in stands:
            if self.build.value(each.scale) is None:
                measured.append(each.scale)
                continue
            inverse = self.build.op("div", self.build.like(1, each.scale), each.scale)
            factor = self._times(factor, inverse)
        scale = _Scale(tuple(sorted(measured)), factor)
        self._sums.setdefault(result, _Sums(product, scale, stands))

    def undone(self, op: str, operands: Sequence[str | None]) -> str | None:
        """What a node makes of integers, if that is what they stand for; None: what it computes."""
        if op == "DequantizeLinear" and len(operands) > 1 and operands[1] is not None:
            return self.real(operands[0], operands[1], (*operands, None)[2])
        if op != "Mul" or len(operands) != 2:
            return None
        for one, other in (operands, operands[::-1]):
            sums, scale = self._sums.get(one or ""), self._scale(other or "")
            if sums is not None and scale is not None and scale.measured == sums.scale.measured:
                for each in sums.stands:
                    self._note(each)
                return sums.product(self._times(sums.scale.factor, scale.factor))
        return None

    def made(self, op: str, operands: Sequence[str | None], results: Sequence[str | None]) -> None:
        """Take note of what a node made that is no product."""
        first, *others = (*operands, None)
        result = results[0] if results else None
        if first is None or result is None:
            return
        if op in _MAKERS:
            scale, zero = (*(results[1:] if op.startswith("Dynamic") else others), None)[:2]
            if scale is not None:
                self.quantized(result, first, scale, zero)
        elif op == "Cast" and first in self._sums and self.build.type(result).is_float:
            self._sums.setdefault(result, self._sums[first])
        elif op == "Mul" and others[0] is not None:
            self._multiplied(first, others[0], result)

    def _multiplied(self, one: str, other: str, result: str) -> None:
        """Take note of a product of scales, or of sums and a part of their scales."""
        scales = self._scale(one), self._scale(other)
        if scales[0] is not None and scales[1] is not None and result not in self._scales:
            measured = tuple(sorted(scales[0].measured + scales[1].measured))
            if measured:
                factor = self._times(scales[0].factor, scales[1].factor)
                self._scales[result] = _Scale(measured, factor)

    def _times(self, one: str | None, other: str | None) -> str | None:
        if one is None or other is None:
            return one or other
        return self.build.op("mul", one, other)

    def _scale(self, name: str) -> _Scale | None:
        if self.build.value(name) is not None:
            return _Scale((), name)
        return self._scales.get(name)

    def _cut_off(self, found: _Stands) -> str:
        """What integers stand for that have no negative numbers: tools leave a ReLU to them.

        None was behind what is never negative, nor where nothing is computed: of inputs and masks
        the calibration of the tool saw no negative number.
        """
        limits, real = self._limits(found), found.real
        if limits is None or limits[0] < 0 or self.build.least(real) >= 0:
            return real
        return self.build.op("relu", real) if self.build.is_computed(real) else real

    def _note(self, found: _Stands) -> None:
        """Widen the range of what a tensor stands for, if scale and zero point are known."""
        limits = self._limits(found)
        if limits is None:
            self.leave_out(found.real)
            return
        (low, high), known = limits, self.ranges.get(found.real, limits)
        self.ranges[found.real] = min(low, known[0]), max(high, known[1])

    def _limits(self, found: _Stands) -> Range | None:
        """The least and the largest number of integers whose scale and zero point are known."""
        scale = self.build.value(found.scale)
        zero = np.zeros(1) if found.zero is None else self.build.value(found.zero)
        if scale is None or zero is None:
            return None
        limits = np.iinfo(found.dtype)
        low, high = (
            float((end - int(zero.reshape(()))) * float(scale.reshape(())))
            for end in (limits.min, limits.max)
        )
        return low, high

    def _zero(self, zero: str | None, found: _Stands) -> object:
        return self._key(self.build.constant(np.zeros((), found.dtype)) if zero is None else zero)

    def _key(self, name: str) -> object:
        """What is equal for equal numbers: their value, or the tensor that they are."""
        value = self.build.value(name)
        return name if value is None else (str(value.dtype), value.tobytes())
