"""What a graph means: its operators on NumPy arrays.

Products, softmax and normalization of whole rows are those of `celosia.isa.numerics`, other
finishes the meanings of TRANSFORM's functions.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa import numerics
from celosia.isa.functions.operands import Operands
from celosia.isa.functions.table import COMBINATIONS, FUNCTIONS, Function
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    Mask,
    MatMul,
    Normalized,
    Op,
    Requantize,
    Scale,
    Softmax,
    Sums,
    Transform,
    View,
)

__all__ = ["Array", "Machine", "checked_inputs", "interpret", "visible_columns"]

Array = NDArray[Any]


def interpret(
    graph: Graph,
    inputs: Mapping[str, Array],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> dict[str, Array]:
    """Every tensor that is not a constant, by name, for the given inputs of a well-formed graph.

    `progress` is told the operators done so far, and their number.  Raises `ValueError` for an
    input that is missing, or has another type or shape.
    """
    machine = Machine(graph, checked_inputs(graph, inputs))
    for index, op in enumerate(graph.ops):
        machine.take(op)
        progress(index + 1, len(graph.ops))
    return machine.values


def checked_inputs(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The `inputs` that `graph` has.

    Raises `ValueError` for one that is missing, or has another type or shape.
    """
    for name in graph.inputs:
        if name not in inputs:
            raise ValueError(f"graph {graph.name}: input {name} is missing")
        tensor, value = graph.tensors[name], inputs[name]
        if value.shape != tensor.shape or value.dtype != tensor.type:
            raise ValueError(
                f"graph {graph.name}: input {name} is {value.dtype} of {value.shape}, not "
                f"{tensor.type} of {tensor.shape}"
            )
    return {name: inputs[name] for name in graph.inputs}


class Machine:
    """The interpreter's state: the tensors computed so far."""

    def __init__(self, graph: Graph, inputs: dict[str, Array]):
        self.constants = graph.constants
        given = {
            name: value.copy() if graph.tensors[name].cache else value
            for name, value in inputs.items()
        }
        self.values = given | {
            name: np.zeros(tensor.shape, tensor.type)
            for name, tensor in graph.tensors.items()
            if name not in inputs and name not in graph.constants
        }

    def take(self, op: Op) -> None:
        match op:
            case LayerNorm():
                self.normalize(op)
            case Combine():
                self.write(op.out, self._combined(op))
            case MatMul():
                b = self.read(op.b)
                bias = None if op.bias is None else self.read(op.bias)[0]
                sums = numerics.matmul(self.read(op.a), b.T if op.b_transposed else b, bias)
                if op.onto:
                    sums = numerics.wrap32(sums.astype(np.int64) + self.read(op.onto))
                self.write(op.out, self.finish(op, sums))
                for row, copy in enumerate(op.copies):
                    self.write(copy, self.read(op.out)[row : row + 1])
            case Transform():
                sums = self.read(op.source)
                if op.bias:
                    sums = numerics.add_bias(sums, self.read(op.bias)[0])
                self.write(op.out, self.finish(op, sums))

    def read(self, view: View) -> Array:
        values = self.constants if view.tensor in self.constants else self.values
        return values[view.tensor][view.slices]

    def write(self, view: View, value: Array) -> None:
        self.values[view.tensor][view.slices] = value

    def scale(self, scale: Scale) -> Array | np.float32:
        return self.read(scale) if isinstance(scale, View) else np.float32(scale)

    def normalize(self, op: LayerNorm) -> None:
        source = self.read(op.source)
        statistics = numerics.row_statistics(
            numerics.row_sums(source), op.source.cols, epsilon=op.epsilon, rms=op.rms
        )
        y = numerics.normalize(source, statistics)
        for output in op.outputs:
            self.write(output.out, self._affine(output)(y))

    def _affine(self, output: Normalized) -> numerics.Affine:
        gamma, beta = self.read(output.gamma)[0], self.read(output.beta)[0]
        return numerics.Affine(gamma, beta, output.shift, self.values[output.out.tensor].dtype)

    def _combined(self, op: Combine) -> Array:
        operands = Operands(
            x=self.read(op.a),
            residual=self.read(op.b),
            kind=self.values[op.out.tensor].dtype,
            scale2=np.float32(op.scale),
            zero_point=op.zero_point,
        )
        (result,) = FUNCTIONS[COMBINATIONS[op.function]].meaning(operands)
        return result

    def finish(self, op: MatMul | Transform, sums: Array) -> Array:
        match op.finish:
            case Sums():
                return sums
            case Softmax():
                scores = numerics.attention_scores(sums, op.finish.scale)
                kind = self.values[op.out.tensor].dtype
                return numerics.softmax(scores, kind, visible_columns(op.finish.mask, scores))
            case DeferredSoftmax():
                how = op.finish
                scores = numerics.attention_scores(sums, how.scale, stored=how.stored)
                visible = visible_columns(op.finish.mask, scores)
                value, totals = numerics.deferred_softmax(scores, visible)
                self.write(op.finish.sums, totals[:, np.newaxis])
                return value
            case _:
                return self._transformed(op.finish, op.out, sums)

    def _transformed(
        self, how: Requantize | Activation | AddResidual | DivideBySums, out: View, sums: Array
    ) -> Array:
        """What the instruction set's function of this finish makes of `sums`."""
        kind, scale = self.values[out.tensor].dtype, self.scale(how.scale)
        match how:
            case Requantize(zero_point=zero_point, relu=relu):
                function = Function.REQUANTIZE
                operands = Operands(
                    x=sums, kind=kind, scale=scale, zero_point=zero_point, relu=relu
                )
            case Activation(out_scale=out_scale, zero_point=zero_point):
                function, scale2 = Function[how.function.upper()], np.float32(out_scale)
                operands = Operands(
                    x=sums, kind=kind, scale=scale, scale2=scale2, zero_point=zero_point
                )
            case AddResidual():
                function, scale2 = Function.RESIDUAL, np.float32(how.residual_scale)
                stream = self.read(how.residual)
                operands = Operands(x=sums, kind=kind, scale=scale, scale2=scale2, residual=stream)
            case DivideBySums():
                function = Function.REQUANTIZE
                context = numerics.deferred_context(sums, self.read(how.sums)[:, 0])
                operands = Operands(x=context, kind=kind, scale=scale)
        (result,) = FUNCTIONS[function].meaning(operands)
        return result


def visible_columns(mask: Mask, scores: Array) -> Array | None:
    """True where a column counts; None: everywhere."""
    rows, columns = scores.shape
    visible = None
    if mask.keys is not None:
        visible = numerics.padding_mask(mask.keys, columns)
    if mask.causal:
        earlier = numerics.causal_mask(rows, columns, mask.first_row)
        visible = earlier if visible is None else earlier & visible
    return visible
