"""Random graphs that are well formed: every operator, every finish, views and odd names."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from celosia.isa.functions.table import ACTIVATIONS, COMBINATIONS
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combination,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
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

__all__ = ["graphs"]

_FLOATS = st.floats(-3.0e38, 3.0e38, allow_nan=False)
_FACTORS = st.floats(1.0e-30, 3.0e38, allow_nan=False)
_NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=3)
_KINDS = {
    Sums: ("int32",),
    Requantize: ("int8", "uint8", "int16"),
    Activation: ("int8", "uint8", "int16"),
    AddResidual: ("int16",),
    Softmax: ("uint8", "int8", "int16"),
    DeferredSoftmax: ("uint8",),
    DivideBySums: ("int8", "uint8", "int16"),
}


class _Random:
    """Draws tensors and operators into a builder."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.builder = GraphBuilder(draw(_NAMES))
        self.count = 0
        self.random = np.random.default_rng(draw(st.integers(0, 99)))

    def tensor(self, kind: str, rows: int, cols: int, *, given: bool = True) -> View:
        """A view of this shape, of a new tensor that may be larger."""
        self.count += 1
        name = f"{self.draw(_NAMES)}{self.count}"
        row, col, more = (self.draw(st.integers(0, 2)) for _ in range(3))
        if not given:
            row = col = more = 0
        shape = rows + row, cols + col + more
        step = self.draw(st.none() | _FLOATS)
        tensor = Tensor(name, kind, *shape, step=step, zero_point=self.draw(st.integers(0, 255)))
        if not given:
            whole = self.builder.tensor(tensor)
        elif kind == "float32" or self.draw(st.booleans()):
            value = self.random.integers(0, 9, shape).astype(kind)
            whole = self.builder.constant(name, value)
        else:
            whole = self.builder.input(tensor)
        return whole.part(row=row, rows=rows, col=col, cols=cols)

    def scale(self, cols: int) -> Scale:
        return self.tensor("float32", 1, cols) if self.draw(st.booleans()) else self.draw(_FLOATS)

    def mask(self, cols: int) -> Mask:
        return Mask(self.draw(st.none() | st.integers(0, cols)), self.draw(st.booleans()))

    def finish(self, kind: type, rows: int, cols: int, out: str) -> Finish:
        zero = self.draw(st.integers(0, 255)) if out == "uint8" else 0
        arguments: dict[type, Any] = {
            Sums: Sums,
            Requantize: lambda: Requantize(self.scale(cols), zero, self.draw(st.booleans())),
            Activation: lambda: Activation(
                self.draw(st.sampled_from(list(ACTIVATIONS))),
                self.scale(cols),
                self.draw(_FLOATS),
                zero,
            ),
            AddResidual: lambda: AddResidual(
                self.scale(cols), self.tensor("int16", rows, cols), self.draw(_FLOATS)
            ),
            Softmax: lambda: Softmax(self.draw(_FACTORS), self.mask(cols)),
            DeferredSoftmax: lambda: DeferredSoftmax(
                self.draw(_FACTORS),
                self.tensor("int32", rows, 1, given=False),
                self.mask(cols),
                self.draw(st.booleans()),
            ),
            DivideBySums: lambda: DivideBySums(self.tensor("int32", rows, 1), self.scale(cols)),
        }
        return arguments[kind]()

    def operator(self) -> str:
        """Add one; returns the name of what it writes."""
        rows, cols, depth = (self.draw(st.integers(1, 4)) for _ in range(3))
        name = f"{self.draw(_NAMES)}{self.count}"
        kind = self.draw(st.sampled_from([*_KINDS, None, Combination]))
        if kind is None:
            outputs = [
                Normalized(
                    self.tensor(
                        self.draw(st.sampled_from(("int8", "int16"))), rows, cols, given=False
                    ),
                    self.tensor("int16", 1, cols),
                    self.tensor("int32", 1, cols),
                    self.draw(st.integers(0, 31)),
                )
                for _ in range(self.draw(st.integers(1, 2)))
            ]
            epsilon, rms = self.draw(st.integers(0, (1 << 40) - 1)), self.draw(st.booleans())
            source = self.tensor("int16", rows, cols)
            self.builder.layernorm(name, source, outputs, epsilon=epsilon, rms=rms)
            return outputs[0].out.tensor
        if kind is Combination:
            return self.combination(name, rows, cols)
        out = self.draw(st.sampled_from(_KINDS[kind]))
        result = self.tensor(out, rows, cols, given=False)
        finish = self.finish(kind, rows, cols, out)
        bias = self.tensor("int32", 1, cols) if self.draw(st.booleans()) else None
        if self.draw(st.booleans()):
            source = self.tensor("int32", rows, cols)
            self.builder.transform(name, result, source, finish, bias)
            return result.tensor
        transposed = self.draw(st.booleans())
        shape = (cols, depth) if transposed else (depth, cols)
        a = self.tensor(self.draw(st.sampled_from(("int8", "uint8"))), rows, depth)
        b = self.tensor("int8", *shape)
        begun = kind is DeferredSoftmax and self.draw(st.booleans())
        onto = self.tensor("int32", rows, cols) if begun else None
        self.builder.matmul(
            name, result, a, b, finish, bias=bias, onto=onto, b_transposed=transposed
        )
        return result.tensor

    def combination(self, name: str, rows: int, cols: int) -> str:
        """Add one of two matrices; returns the name of what it writes."""
        if self.draw(st.booleans()):
            out, a, b = (
                self.tensor("int16", rows, cols, given=given) for given in (False, True, True)
            )
            scale, residual_scale = self.draw(_FLOATS), self.draw(_FLOATS)
            difference = Subtract(
                name=name, out=out, a=a, b=b, scale=scale, residual_scale=residual_scale
            )
            return self.builder.combine(difference).tensor
        out = self.draw(st.sampled_from(("int8", "uint8", "int16")))
        functions = sorted(COMBINATIONS) if cols % 2 == 0 else ["multiply"]
        combine = Combine(
            name=name,
            function=self.draw(st.sampled_from(functions)),
            out=self.tensor(out, rows, cols, given=False),
            a=self.tensor("int16", rows, cols),
            b=self.tensor("int16", rows, cols),
            scale=self.draw(_FLOATS),
            zero_point=self.draw(st.integers(0, 255)) if out == "uint8" else 0,
        )
        return self.builder.combine(combine).tensor


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to three operators that do not read each other's results."""
    random = _Random(draw)
    outputs = [random.operator() for _ in range(draw(st.integers(0, 3)))]
    return random.builder.finish(*outputs)
