"""Random graphs of small operators that read each other's results."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Mask,
    Normalized,
    Requantize,
    Scale,
    Softmax,
    Subtract,
    Sums,
    Tensor,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case

__all__ = ["case_for", "random_case"]

_PRODUCT_EXTENT = 80
"""Rows and columns of plain products, at most: some are of several blocks."""
_LIMITS = {"int8": 127, "uint8": 255, "int16": 4000, "int32": 1 << 20}


def case_for(seed: int, config: AcceleratorConfig) -> Case:
    """A random graph that `config` can compute: without a normalization unit, of plain products."""
    if config.normalization:
        return random_case(seed, combinations=True)
    return _RandomGraph(seed, _PRODUCT_EXTENT).plain_products()


def random_case(seed: int, *, ops: int = 5, extent: int = 20, combinations: bool = False) -> Case:
    """A graph of some operators on matrices of up to `extent` rows and columns, and inputs.

    With `combinations`, some of two matrices, which only plans can lower.
    """
    return _RandomGraph(seed, extent).case(ops, combinations=combinations)


class _RandomGraph:
    """Tensors so far, by type; all have the same rows, so that most fit most."""

    def __init__(self, seed: int, extent: int):
        self.random = np.random.default_rng(seed)
        self.builder = GraphBuilder(f"random {seed}")
        self.extent = extent
        self.rows = self._extent()
        self.cols = self._extent()
        self.inputs: dict[str, NDArray[Any]] = {}
        self.made: dict[str, list[View]] = {kind: [] for kind in _LIMITS}
        self.outputs: list[str] = []
        self.count = 0

    def case(self, ops: int, *, combinations: bool) -> Case:
        makers = (
            self.product,
            self.product,
            self.product_of_two,
            self.transform,
            self.normalization,
            self.normalized_sum,
            self.attention,
        )
        if combinations:
            makers = (*makers, self.combination, self.difference)
        for _ in range(ops):
            makers[self.random.integers(len(makers))]()
        unread = self.outputs[-1:] if self._chance(0.5) else self.outputs
        return Case(self.builder.finish(*unread), self.inputs)

    def plain_products(self) -> Case:
        """A product alone, or some that may read each other's results."""
        self._plain_product()
        while self._chance(0.5):
            self._plain_product()
        return Case(self.builder.finish(*self.outputs), self.inputs)

    def _plain_product(self) -> None:
        """A product that MVOUT finishes: int32, or bytes with one scale."""
        a, cols = self._old("uint8" if self._chance(0.3) else "int8"), self._extent()
        transposed = self._chance(0.3)
        shape = (cols, a.cols) if transposed else (a.cols, cols)
        b = self.builder.constant(self._name("w"), self._values("int8", *shape))
        kind, finish = "int32", Sums()
        if self._chance(0.7):
            scale = float(np.float32(2 / np.sqrt(a.cols) / _LIMITS["int8"]))
            kind, finish = "int8", Requantize(scale, 0, self._chance(0.3))
        bias = self._bias(cols) if self._chance(0.5) else None
        name, out = self._name("product"), self._new(kind, self.rows, cols)
        self.builder.matmul(name, out, a, b, finish, bias=bias, b_transposed=transposed)

    # Operators.

    def product(self) -> None:
        """A product with constant weights, which are often transposed."""
        a, cols = self._old_bytes(), self._cols()
        transposed = self._chance(0.3)
        shape = (cols, a.cols) if transposed else (a.cols, cols)
        b = self.builder.constant(self._name("w"), self._values("int8", *shape))
        self._matmul(a, b, transposed, cols, a.cols)

    def product_of_two(self) -> None:
        """A product of two tensors, neither of which is constant."""
        a, b = self._old("int8"), self._old("int8")
        if b.rows == a.cols and self._chance(0.5):
            self._matmul(a, b, False, b.cols, a.cols)
        else:
            b = b if b.cols == a.cols else a
            self._matmul(a, b, True, b.rows, a.cols)

    def _matmul(self, a: View, b: View, transposed: bool, cols: int, depth: int) -> None:
        kind, finish = self._finish(cols, 1 / (60 * np.sqrt(depth)))
        bias = self._bias(cols) if self._chance(0.5) else None
        name, out = self._name("product"), self._new(kind, self.rows, cols)
        self.builder.matmul(name, out, a, b, finish, bias=bias, b_transposed=transposed)

    def transform(self) -> None:
        """A transform of int32 in memory."""
        source = self._old("int32")
        kind, finish = self._finish(source.cols, 2.0**-13)
        bias = self._bias(source.cols) if self._chance(0.3) else None
        name, out = self._name("transform"), self._new(kind, *source.shape)
        self.builder.transform(name, out, source, finish, bias=bias)

    def normalization(self) -> None:
        """A normalization of int16 in memory."""
        self._normalize(self._old("int16"))

    def normalized_sum(self) -> None:
        """A sum with its normalization right behind it, as layers of encoders have them."""
        a, cols = self._old_bytes(), self._cols()
        b = self.builder.constant(self._name("w"), self._values("int8", a.cols, cols))
        residual = self._old("int16", cols)
        finish = AddResidual(self._scale(cols, 0.3 / np.sqrt(a.cols)), residual, 0.5)
        out = self.builder.tensor(Tensor(self._name("sum"), "int16", self.rows, cols))
        self.builder.matmul(self._name("product"), out, a, b, finish, bias=self._bias(cols))
        self._normalize(out)

    def _normalize(self, source: View) -> None:
        outputs = []
        for _ in range(1 + self._chance(0.5)):
            kind = str(self.random.choice(["int8", "int16"]))
            gamma = self.random.integers(-9000, 9000, (1, source.cols)).astype(np.int16)
            beta = self.random.integers(-(1 << 20), 1 << 20, (1, source.cols)).astype(np.int32)
            out = self._new(kind, *source.shape)
            name = self._name("affine")
            gammas = self.builder.constant(f"{name}.gamma", gamma)
            betas = self.builder.constant(f"{name}.beta", beta)
            outputs.append(Normalized(out, gammas, betas, 20 if kind == "int8" else 14))
        epsilon = int(self.random.integers(1 << 40)) >> int(self.random.integers(8, 41))
        rms = self._chance(0.3)
        self.builder.layernorm(self._name("norm"), source, outputs, epsilon=epsilon, rms=rms)

    def attention(self) -> None:
        """One or two heads, of columns of int8 tensors."""
        q, k, v = (self._old("int8", self.cols) for _ in range(3))
        heads = 2 if self.cols % 2 == 0 and self._chance(0.5) else 1
        width = self.cols // heads
        out = self._new("int8", self.rows, self.cols)
        name = self._name("attention")
        p = self.builder.tensor(Tensor(f"{name}.p", "uint8", heads * self.rows, self.rows))
        sums = self.builder.tensor(Tensor(f"{name}.sums", "int32", heads * self.rows, 1))
        # Some saturate, if they are stored.
        stored, spread = self._chance(0.5), 30 if self._chance(0.2) else 1
        dithered = self._chance(0.3)
        for head in range(heads):
            numerators = p.part(row=head * self.rows, rows=self.rows)
            totals = sums.part(row=head * self.rows, rows=self.rows)
            qh, kh, vh, oh = (x.part(col=head * width, cols=width) for x in (q, k, v, out))
            scale, mask = 0.6 / np.sqrt(width) * spread, self._mask(self.rows)
            how = DeferredSoftmax(scale, totals, mask, stored, dithered)
            self.builder.matmul(
                f"{name}.s{head}",
                numerators,
                qh,
                kh,
                how,
                onto=self._old("int32", self.rows) if self._chance(0.3) else None,
                b_transposed=True,
            )
            division = DivideBySums(totals, self._scale(width, 2.0**-15))
            self.builder.matmul(f"{name}.c{head}", oh, numerators, vh, division)

    def combination(self) -> None:
        """A product element by element, of int16 in memory."""
        a = self._old("int16")
        b = self._old("int16", a.cols)
        kind = str(self.random.choice(["int8", "uint8", "int16"]))
        combine = Combine(
            name=self._name("combine"),
            function="multiply",
            out=self._new(kind, *a.shape),
            a=a,
            b=b,
            scale=float(np.float32(2.0**-17)) * _LIMITS[kind] / 100,
            zero_point=9 if kind == "uint8" else 0,
        )
        self.builder.combine(combine)

    def difference(self) -> None:
        """A difference of int16 in memory; some saturate."""
        a = self._old("int16")
        b = self._old("int16", a.cols)
        scale, residual_scale = (
            float(np.float32(0.9 * 3 ** self.random.normal())) for _ in range(2)
        )
        out = self._new("int16", *a.shape)
        name = self._name("difference")
        self.builder.combine(
            Subtract(name=name, out=out, a=a, b=b, scale=scale, residual_scale=residual_scale)
        )

    # Parts of operators.

    def _finish(self, cols: int, unit: float) -> tuple[str, Finish]:
        """A type and a finish for sums of which `unit` makes a number around 1."""
        kind = str(self.random.choice(["int8", "uint8", "int16"]))
        zero_point = int(self.random.integers(256)) if kind == "uint8" else 0
        match self.random.integers(6):
            case 0:
                return "int32", Sums()
            case 1:
                name = str(self.random.choice(list(ACTIVATIONS)))
                curve = ACTIVATIONS[name]
                scale = self._scale(cols, unit * 2**curve.fraction_bits)
                return kind, Activation(name, scale, curve.unit * _LIMITS[kind] / 4, zero_point)
            case 2:
                residual = self._old("int16", cols)
                return "int16", AddResidual(self._scale(cols, unit * 2000), residual, 0.7)
            case 3:
                scale = unit * 2**EXPONENT_FRACTION_BITS
                return kind, Softmax(scale, self._mask(cols))
            case _:
                scale, relu = self._scale(cols, unit * _LIMITS[kind] / 2), self._chance(0.3)
                return kind, Requantize(scale, zero_point, relu)

    def _mask(self, keys: int) -> Mask:
        limit = int(self.random.integers(keys + 1)) if self._chance(0.4) else None
        return Mask(limit, causal=self._chance(0.4))

    def _scale(self, cols: int, around: float) -> Scale:
        if self._chance(0.5):
            return float(around)
        scales = around * self.random.uniform(0.5, 1.5, (1, cols))
        return self.builder.constant(self._name("scale"), scales.astype(np.float32))

    def _bias(self, cols: int) -> View:
        bias = self.random.integers(-2000, 2000, (1, cols)).astype(np.int32)
        return self.builder.constant(self._name("bias"), bias)

    # Tensors.

    def _old_bytes(self) -> View:
        return self._old("uint8" if self.made["uint8"] and self._chance(0.5) else "int8")

    def _old(self, kind: str, cols: int | None = None) -> View:
        """A tensor of this type and width; mostly one that an operator has written."""
        fitting = [v for v in self.made[kind] if cols is None or v.cols == cols]
        if fitting and self._chance(0.8):
            return fitting[self.random.integers(len(fitting))]
        name, width = self._name("input"), cols or self._cols()
        view = self.builder.input(Tensor(name, kind, self.rows, width))
        self.inputs[name] = self._values(kind, self.rows, width)
        self.made[kind].append(view)
        return view

    def _new(self, kind: str, rows: int, cols: int) -> View:
        name = self._name("tensor")
        view = self.builder.tensor(Tensor(name, kind, rows, cols))
        self.made[kind].append(view)
        self.outputs.append(name)
        return view

    def _values(self, kind: str, rows: int, cols: int) -> NDArray[Any]:
        limit = _LIMITS[kind]
        low = 0 if kind == "uint8" else -limit
        return self.random.integers(low, limit, (rows, cols), endpoint=True).astype(kind)

    def _name(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def _cols(self) -> int:
        return self.cols if self._chance(0.7) else self._extent()

    def _extent(self) -> int:
        return int(self.random.integers(1, self.extent, endpoint=True))

    def _chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)
