"""Graph IR: named integer tensors and the operators between them, whole.

An operator is a product or a reading of int32 sums, *finished* on the way out of the accumulator,
a layer normalization, or a combination of two matrices of int16.  Operands are views: rectangles of
tensors.  Nothing here knows tiles, memories or encodings.  `celosia.sw.ir.graph_verify` states what
makes a graph well formed, `celosia.sw.ir.graph_interpret` what it means.

Vectors are matrices of one row (bias, scales, gamma, beta) or of one column (sums of rows).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.tensors import TYPES, Scale, Tensor, View

__all__ = [
    "NO_MASK",
    "TYPES",
    "Activation",
    "AddResidual",
    "Combine",
    "DeferredSoftmax",
    "DivideBySums",
    "Finish",
    "Graph",
    "LayerNorm",
    "Mask",
    "MatMul",
    "Normalized",
    "Op",
    "Requantize",
    "Scale",
    "Softmax",
    "Sums",
    "Tensor",
    "Transform",
    "View",
    "operands",
    "results",
]


@dataclass(frozen=True, slots=True)
class Mask:
    """Which columns of a row of scores count: column c is key c, row r the query behind others."""

    keys: int | None = None
    """How many keys there are, from the first; None: every column is one."""
    causal: bool = False
    """A query does not see later keys."""
    first_row: int = 0
    """The position of the query of row 0: so many keys come before its own."""
    moving: bool = False
    """Programs are patched for other first rows, which are not greater, and for other rows of
    caches: nothing may depend on what they are."""

    def __str__(self) -> str:
        parts = [] if self.keys is None else [f"keys {self.keys}"]
        parts += ["causal"] * self.causal + [f"first row {self.first_row}"] * bool(self.first_row)
        parts += ["moving"] * self.moving
        return "".join(f", {part}" for part in parts)


NO_MASK: Final = Mask()
"""Every column counts in every row."""


@dataclass(frozen=True, slots=True)
class Sums:
    """A finish that leaves sums as they are: int32."""

    def __str__(self) -> str:
        return "sums"


@dataclass(frozen=True, slots=True)
class Requantize:
    """A scaling to int8, int16, or uint8 with a zero point."""

    scale: Scale
    zero_point: int = 0
    relu: bool = False

    def __str__(self) -> str:
        return f"requantize {_number(self.scale)}{_zero(self.zero_point)}{', relu' * self.relu}"


@dataclass(frozen=True, slots=True)
class Activation:
    """A curve of each element as int16, to uint8 with a zero point, int8 or int16."""

    function: str
    """Its name in `celosia.isa.functions.table.ACTIVATIONS`."""
    scale: Scale
    """The scale of the first step, from sums to int16 with the curve's fraction bits."""
    out_scale: float
    """The scale of the second step, from the raw result of the curve to the output."""
    zero_point: int = 0

    def __str__(self) -> str:
        scales = f"{_number(self.scale)} -> {_number(self.out_scale)}"
        return f"{self.function} {scales}{_zero(self.zero_point)}"


@dataclass(frozen=True, slots=True)
class AddResidual:
    """The sum of two terms, each with its scale: to int16."""

    scale: Scale
    residual: View
    """The other term, int16."""
    residual_scale: float

    def __str__(self) -> str:
        scale, other = _number(self.scale), _number(self.residual_scale)
        return f"add_residual {scale}, {self.residual} {other}"


@dataclass(frozen=True, slots=True)
class Softmax:
    """Softmax over rows of scores: to uint8, int8 or int16, whose largest number is 1."""

    scale: float
    """The scale from sums to scores with 10 fraction bits; positive."""
    mask: Mask = NO_MASK

    def __str__(self) -> str:
        return f"softmax {_number(self.scale)}{self.mask}"


@dataclass(frozen=True, slots=True)
class DeferredSoftmax:
    """Softmax over rows of scores, not divided yet: uint8 numerators, and each row's sum apart."""

    scale: float
    """The scale from sums to scores with 10 fraction bits; positive."""
    sums: View
    mask: Mask = NO_MASK
    stored: bool = False
    """Scores are int16, -32 to 32 as real numbers, so that they may wait in memory."""

    def __str__(self) -> str:
        stored = ", stored" * self.stored
        return f"deferred_softmax {_number(self.scale)}{self.mask}{stored}, sums to {self.sums}"


@dataclass(frozen=True, slots=True)
class DivideBySums:
    """A product with numerators: each row over its sum (16 more fraction bits), requantized."""

    sums: View
    scale: Scale

    def __str__(self) -> str:
        return f"divide_by {self.sums}, requantize {_number(self.scale)}"


Finish = Sums | Requantize | Activation | AddResidual | Softmax | DeferredSoftmax | DivideBySums
"""What happens to int32 sums on their way out of the accumulator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatMul:
    """``out = finish(onto + a @ b + bias)``: `a` int8 or uint8, `b` int8, sums wrap at 32 bits."""

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

    def __str__(self) -> str:
        onto = f"{self.onto} + " if self.onto else ""
        product = f"{onto}{self.a} @ {self.b}{'.T' * self.b_transposed}"
        bias = f" + {self.bias}" if self.bias else ""
        copies = "".join(f", copied to {view}" for view in self.copies)
        return f"{self.name}: {self.out} = {product}{bias} -> {self.finish}{copies}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """``out = finish(source + bias)``: the finish of a product on int32 from elsewhere."""

    name: str
    out: View
    source: View
    bias: View | None = None
    finish: Finish

    def __str__(self) -> str:
        bias = f" + {self.bias}" if self.bias else ""
        return f"{self.name}: {self.out} = {self.source}{bias} -> {self.finish}"


@dataclass(frozen=True, slots=True)
class Normalized:
    """One output of a layer normalization, int8 or int16."""

    out: View
    gamma: View
    """The factor of each column, int16: a row."""
    beta: View
    """The addend of each column, int32: a row."""
    shift: int
    """What both are to be divided by, as a power of two."""

    def __str__(self) -> str:
        return f"{self.out} by {self.gamma}, {self.beta}, shift {self.shift}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNorm:
    """Rows of int16, normalized; one or two outputs of one pass."""

    name: str
    source: View
    outputs: tuple[Normalized, ...]
    epsilon: int = 0
    """What is added to the sum of squared distances, 40 bits."""
    rms: bool = False
    """Distances are from 0, not from the mean."""

    def __str__(self) -> str:
        kind = "rmsnorm" if self.rms else "layernorm"
        epsilon = f", epsilon {self.epsilon}" * bool(self.epsilon)
        outputs = " and ".join(map(str, self.outputs))
        return f"{self.name}: {kind} {self.source}{epsilon} -> {outputs}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combine:
    """A function of two matrices of int16 of one shape, requantized.

    ``multiply`` is a times b, ``rotate`` a with its halves rotated by the cosines and sines in the
    halves of b.
    """

    name: str
    function: str
    """Its name in `celosia.isa.functions.table.COMBINATIONS`."""
    out: View
    a: View
    b: View
    scale: float
    """The scale from what the function makes to the output."""
    zero_point: int = 0

    def __str__(self) -> str:
        how = f"requantize {_number(self.scale)}{_zero(self.zero_point)}"
        return f"{self.name}: {self.out} = {self.function} {self.a}, {self.b} -> {how}"


Op = MatMul | Transform | LayerNorm | Combine


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """Operators in an order in which they can be computed."""

    name: str
    tensors: Mapping[str, Tensor]
    """All of them, by name."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ops: tuple[Op, ...]
    constants: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """The values of tensors that no operator writes."""

    @property
    def macs(self) -> int:
        """Useful multiply-accumulates."""
        return sum(op.macs for op in self.ops if isinstance(op, MatMul))

    @property
    def appended(self) -> tuple[View, ...]:
        """The parts of caches that operators write."""
        views = (view for op in self.ops for view in results(op))
        return tuple(view for view in views if self.tensors[view.tensor].cache)

    @property
    def moving(self) -> frozenset[str]:
        """The caches of which a patched program writes other rows."""
        masks = (
            op.finish.mask
            for op in self.ops
            if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
        )
        if not any(mask.moving for mask in masks):
            return frozenset()
        return frozenset(name for name, tensor in self.tensors.items() if tensor.cache)

    def __str__(self) -> str:
        lines = [f"graph {self.name}"]
        lines += [f"input {self.tensors[name]}" for name in self.inputs]
        lines += [f"constant {self.tensors[name]}" for name in self.constants]
        lines += [str(op) for op in self.ops]
        lines += [f"output {self.tensors[name]}" for name in self.outputs]
        return "".join(f"{line}\n" for line in lines)


def operands(op: Op) -> Iterator[View]:
    """Everything that `op` reads."""
    match op:
        case LayerNorm():
            yield op.source
            for output in op.outputs:
                yield output.gamma
                yield output.beta
            return
        case Combine():
            yield op.a
            yield op.b
            return
        case MatMul():
            views = [op.a, op.b, op.onto, op.bias]
        case Transform():
            views = [op.source, op.bias]
    views.append(getattr(op.finish, "scale", None))
    match op.finish:
        case AddResidual():
            views.append(op.finish.residual)
        case DivideBySums():
            views.append(op.finish.sums)
        case _:
            pass
    yield from (view for view in views if isinstance(view, View))


def results(op: Op) -> Iterator[View]:
    """Everything that `op` writes."""
    match op:
        case LayerNorm():
            for output in op.outputs:
                yield output.out
        case Combine():
            yield op.out
        case MatMul() | Transform():
            yield op.out
            if isinstance(op.finish, DeferredSoftmax):
                yield op.finish.sums
            if isinstance(op, MatMul):
                yield from op.copies


def _number(scale: Scale) -> str:
    if isinstance(scale, View):
        return str(scale)
    with np.errstate(over="ignore"):
        return str(np.float32(scale))


def _zero(zero_point: int) -> str:
    return f", zero point {zero_point}" if zero_point else ""
