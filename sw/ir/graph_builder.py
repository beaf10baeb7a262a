"""Builds a graph, operator by operator."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from celosia.isa.encoding import WeightType
from celosia.sw.ir.graph import (
    Finish,
    Graph,
    LayerNorm,
    MatMul,
    Normalized,
    Op,
    Tensor,
    Transform,
    View,
)
from celosia.sw.ir.graph_verify import verify

__all__ = ["GraphBuilder"]


class GraphBuilder:
    """Collects tensors and operators; views of tensors go in and out of its methods."""

    def __init__(self, name: str):
        self._name = name
        self._tensors: dict[str, Tensor] = {}
        self._inputs: list[str] = []
        self._constants: dict[str, NDArray[Any]] = {}
        self._ops: list[Op] = []

    def tensor(self, tensor: Tensor) -> View:
        """A tensor that operators write."""
        if tensor.name in self._tensors:
            raise ValueError(f"tensor {tensor}: there is another one of this name")
        self._tensors[tensor.name] = tensor
        return tensor.view()

    def input(self, tensor: Tensor) -> View:
        """A tensor that is given."""
        self._inputs.append(tensor.name)
        return self.tensor(tensor)

    def constant(
        self, name: str, value: NDArray[Any], packing: WeightType = WeightType.INT8
    ) -> View:
        """A tensor whose value is known; the same one if `name` has been given before."""
        if name in self._constants:
            return self._tensors[name].view()
        rows, cols = value.shape
        self._constants[name] = value
        return self.tensor(Tensor(name, str(value.dtype), rows, cols, packing=packing))

    def matmul(
        self,
        name: str,
        out: View,
        a: View,
        b: View,
        finish: Finish,
        *,
        bias: View | None = None,
        onto: View | None = None,
        b_transposed: bool = False,
        copies: tuple[View, ...] = (),
    ) -> View:
        """Add a product; returns `out`."""
        op = MatMul(
            name=name,
            out=out,
            a=a,
            b=b,
            b_transposed=b_transposed,
            bias=bias,
            onto=onto,
            finish=finish,
            copies=copies,
        )
        self._ops.append(op)
        return out

    def transform(
        self, name: str, out: View, source: View, finish: Finish, bias: View | None = None
    ) -> View:
        """Add a finish without product; returns `out`."""
        self._ops.append(Transform(name=name, out=out, source=source, bias=bias, finish=finish))
        return out

    def layernorm(
        self,
        name: str,
        source: View,
        outputs: Sequence[Normalized],
        *,
        epsilon: int = 0,
        rms: bool = False,
    ) -> None:
        """Add a layer normalization, or with `rms` an RMS normalization."""
        self._ops.append(
            LayerNorm(name=name, source=source, outputs=tuple(outputs), epsilon=epsilon, rms=rms)
        )

    def combine(self, op: Op) -> View:
        """Add a combination of two matrices; returns its `out`."""
        self._ops.append(op)
        return op.results[0]

    def finish(self, *outputs: str) -> Graph:
        """The graph, verified, with these tensors as its outputs."""
        return verify(
            Graph(
                name=self._name,
                tensors=self._tensors,
                inputs=tuple(self._inputs),
                outputs=outputs,
                ops=tuple(self._ops),
                constants=self._constants,
            )
        )
