"""Graph IR: named integer tensors and the operators between them, whole.

An operator is a product or a reading of int32 sums, *finished* on the way out of the accumulator,
a layer normalization, or a combination of two matrices of int16.  Operands are views: rectangles of
tensors.  Nothing here knows tiles, memories or encodings.  `celosia.sw.ir.graph_verify` states what
makes a graph well formed, `celosia.sw.ir.graph_interpret` what it means.

Vectors are matrices of one row (bias, scales, gamma, beta) or of one column (sums of rows).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from celosia.isa.documents.svg import Drawing
from celosia.sw.ir.graphs.combination import Combination, Combine
from celosia.sw.ir.graphs.difference import Subtract
from celosia.sw.ir.graphs.finishes import (
    NO_MASK,
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Mask,
    Requantize,
    Softmax,
    Sums,
)
from celosia.sw.ir.graphs.normalization import LayerNorm, Normalized
from celosia.sw.ir.graphs.picture import graph_drawing
from celosia.sw.ir.graphs.sums import MatMul, Transform
from celosia.sw.ir.graphs.tensors import TYPES, Scale, Tensor, View

__all__ = [
    "NO_MASK",
    "TYPES",
    "Activation",
    "AddResidual",
    "Combination",
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
    "Subtract",
    "Sums",
    "Tensor",
    "Transform",
    "View",
]

Op = MatMul | Transform | LayerNorm | Combine | Subtract
"""The operators: dialect ``cel`` has an operation of each, by the name of its class."""


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
        views = (view for op in self.ops for view in op.results)
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

    @property
    def drawing(self) -> Drawing:
        """The operators as boxes."""
        return graph_drawing(self.name, self.tensors, self.inputs, self.ops)

    def _repr_html_(self) -> str:
        """The drawing, for notebooks."""
        return str(self.drawing)

    def __str__(self) -> str:
        lines = [f"graph {self.name}"]
        lines += [f"input {self.tensors[name]}" for name in self.inputs]
        lines += [f"constant {self.tensors[name]}" for name in self.constants]
        lines += [str(op) for op in self.ops]
        lines += [f"output {self.tensors[name]}" for name in self.outputs]
        return "".join(f"{line}\n" for line in lines)
