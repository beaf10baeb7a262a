"""Operators that finish int32 sums: those of a product, or what is in memory."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from celosia.isa import numerics
from celosia.sw.ir.graphs.finishes import NO_MASK, DeferredSoftmax, Finish, Sums
from celosia.sw.ir.graphs.operator import Array, Operator, Rules, Values
from celosia.sw.ir.graphs.tensors import View

__all__ = ["MatMul", "Transform"]


class _Finished(Operator):
    """Sums, a bias, and their finish."""

    __slots__ = ()
    out: View
    bias: View | None
    finish: Finish
    copies: tuple[View, ...] = ()
    WRITES = ("out", "finish")
    COLS = ("bias", "out", "finish")

    @property
    def has_some_rows(self) -> bool:
        """Whether it has no copies, and nobody patches which rows its mask is of."""
        return not self.copies and not getattr(self.finish, "mask", NO_MASK).moving

    @property
    def has_some_cols(self) -> bool:
        """Whether it has no copies, and its finish does not look at whole rows."""
        return not self.copies and not self.finish.whole_rows

    def check_finish(self, rules: Rules) -> None:
        """Raise `ValueError` that says what is wrong behind the sums."""
        rules.expect(self.out, "out", self.out.shape, *self.finish.TYPES)
        if self.bias:
            rules.expect(self.bias, "bias", (1, self.out.cols), "int32")
        self.finish.check(rules, self.out)

    @abstractmethod
    def sums(self, values: Values) -> Array:
        """What it finishes: int32."""

    def compute(self, values: Values) -> None:
        """Write the result, and its copies."""
        values.write(self.out, values.finish(self, self.sums(values)))
        for row, copy in enumerate(self.copies):
            values.write(copy, values.read(self.out)[row : row + 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class MatMul(_Finished):
    """``out = finish(onto + a @ b + bias)``: `a` int8 or uint8, `b` int8, sums wrap at 32 bits."""

    READS = ("a", "b", "onto", "bias", "finish")
    WRITES = ("out", "finish", "copies")
    ROWS = ("a", "onto", "out", "finish")
    name: str
    out: View
    a: View
    b: View
    b_transposed: bool = False
    """The product is with the transpose of `b`."""
    bias: View | None = None
    onto: View | None = None
    """What sums begin with, int32 for each element, instead of 0: only before softmax."""
    finish: Finish
    copies: tuple[View, ...] = ()
    """Where each row of the result goes as well, if anywhere: a row of a tensor for each."""

    @property
    def macs(self) -> int:
        """Useful multiply-accumulates."""
        return self.out.rows * self.out.cols * self.a.cols

    @property
    def alike(self) -> tuple[object, ...]:
        """Extents, and the kind of finish."""
        return "product", *self.out.shape, self.a.cols, type(self.finish)

    def check(self, rules: Rules) -> None:
        """Types, shapes, and the finish."""
        rows, depth, cols = self.a.rows, self.a.cols, self.out.cols
        rules.expect(self.a, "a", (rows, depth), "int8", "uint8")
        rules.expect(self.b, "b", (cols, depth) if self.b_transposed else (depth, cols), "int8")
        self.check_finish(rules)
        if self.out.rows != rows:
            raise ValueError(f"out: {self.out} has {self.out.rows} rows, a has {rows}")
        if self.onto:
            if not isinstance(self.finish, DeferredSoftmax):
                raise ValueError("onto: only the sums of a deferred softmax begin with something")
            rules.expect(self.onto, "onto", (rows, cols), "int32")
        if self.copies and len(self.copies) != rows:
            raise ValueError(f"copies: {len(self.copies)} are not one for each of {rows} rows")
        if self.copies and isinstance(self.finish, Sums):
            raise ValueError("copies: sums that stay as they are have none")
        for view in self.copies:
            rules.expect(view, "copy", (1, cols), rules.type(self.out))

    def sums(self, values: Values) -> Array:
        """The product, with what is added to it."""
        b = values.read(self.b)
        bias = None if self.bias is None else values.read(self.bias)[0]
        sums = numerics.matmul(values.read(self.a), b.T if self.b_transposed else b, bias)
        if self.onto:
            sums = numerics.wrap32(sums.astype(np.int64) + values.read(self.onto))
        return sums

    def some_cols(self, first: int, cols: int) -> Self:
        """With the same `a`."""
        other = replace(self, b=self.b.part(col=first, cols=cols, transposed=self.b_transposed))
        return other._cut(self.COLS, "some_cols", first, cols)

    def __str__(self) -> str:
        onto = f"{self.onto} + " if self.onto else ""
        product = f"{onto}{self.a} @ {self.b}{'.T' * self.b_transposed}"
        bias = f" + {self.bias}" if self.bias else ""
        copies = "".join(f", copied to {view}" for view in self.copies)
        return f"{self.name}: {self.out} = {product}{bias} -> {self.finish}{copies}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform(_Finished):
    """``out = finish(source + bias)``: the finish of a product on int32 from elsewhere."""

    READS = ("source", "bias", "finish")
    ROWS = ("source", "out", "finish")
    COLS = ("source", "bias", "out", "finish")
    name: str
    out: View
    source: View
    bias: View | None = None
    finish: Finish

    @property
    def alike(self) -> tuple[object, ...]:
        """Extents, and the kind of finish."""
        return "transform", *self.out.shape, type(self.finish)

    def check(self, rules: Rules) -> None:
        """Types, shapes, and the finish."""
        rules.expect(self.source, "source", self.out.shape, "int32")
        self.check_finish(rules)

    def sums(self, values: Values) -> Array:
        """The source, with its bias."""
        sums = values.read(self.source)
        return numerics.add_bias(sums, values.read(self.bias)[0]) if self.bias else sums

    def __str__(self) -> str:
        bias = f" + {self.bias}" if self.bias else ""
        return f"{self.name}: {self.out} = {self.source}{bias} -> {self.finish}"
