"""What makes a graph well formed."""

from typing import Final

import numpy as np

from celosia.isa.functions.table import ACTIVATIONS, COMBINATIONS, FUNCTIONS
from celosia.isa.numerics import MAX_COLUMNS
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.sw.ir.graph import (
    TYPES,
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
    LayerNorm,
    Mask,
    MatMul,
    Op,
    Requantize,
    Scale,
    Softmax,
    Sums,
    Tensor,
    Transform,
    View,
    operands,
    results,
)
from celosia.sw.ir.matmul import MAX_EXTENT

__all__ = ["MAX_SHIFT", "verify"]

MAX_SHIFT: Final = 31
"""The largest shift of a layer normalization's output."""

_OUTPUTS: Final[dict[type, tuple[str, ...]]] = {
    Sums: ("int32",),
    Requantize: ("int8", "uint8", "int16"),
    Activation: ("int8", "uint8", "int16"),
    AddResidual: ("int16",),
    Softmax: ("uint8", "int8", "int16"),
    DeferredSoftmax: ("uint8",),
    DivideBySums: ("int8", "uint8", "int16"),
}


def verify(graph: Graph) -> Graph:
    """Return `graph` if it is well formed; raise `ValueError` that names the place otherwise.

    Types, shapes and scales fit; every element is written once, before it is read, and no constant
    is written at all, nor any input but a cache; outputs are whole.
    """
    checker = _Checker(graph)
    for name, tensor in graph.tensors.items():
        checker.declare(name, tensor)
    for op in graph.ops:
        try:
            checker.take(op)
        except ValueError as error:
            raise ValueError(f"graph {graph.name}: {op}: {error}") from None
    for name in graph.outputs:
        if name not in graph.tensors:
            raise ValueError(f"graph {graph.name}: output {name}: there is no such tensor")
        if not checker.written[name].all():
            raise ValueError(f"graph {graph.name}: output {name}: not all of it is written")
    return graph


class _Checker:
    """Which elements have a value."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.written: dict[str, np.ndarray] = {}
        """Which elements of each tensor have a value."""
        self.fixed: dict[str, np.ndarray] = {}
        """Which elements of each cache have been read or written: they stay as they are."""
        self.names: set[str] = set()

    def declare(self, name: str, tensor: Tensor) -> None:
        graph, place = self.graph, f"graph {self.graph.name}: tensor {tensor}"
        if tensor.name != name:
            raise ValueError(f"{place}: listed as {name}")
        if tensor.type not in TYPES:
            raise ValueError(f"{place}: {tensor.type} is none of {', '.join(TYPES)}")
        if not all(1 <= extent <= MAX_EXTENT for extent in tensor.shape):
            raise ValueError(f"{place}: rows and columns are not in 1..{MAX_EXTENT}")
        constant = graph.constants.get(name)
        if constant is not None and (constant.shape, constant.dtype) != (tensor.shape, tensor.type):
            raise ValueError(f"{place}: its value is {constant.dtype} of {constant.shape}")
        given = constant is not None or name in graph.inputs
        self.written[name] = np.full(tensor.shape, given)
        if tensor.cache:
            if name not in graph.inputs:
                raise ValueError(f"{place}: a cache is an input")
            self.fixed[name] = np.zeros(tensor.shape, np.bool_)

    def take(self, op: Op) -> None:
        if op.name in self.names:
            raise ValueError("another operator has this name")
        self.names.add(op.name)
        for view in operands(op):
            if not self._elements(view).all():
                raise ValueError(f"{view} is read before it is written")
            if view.tensor in self.fixed:
                self.fixed[view.tensor][view.slices] = True
        for view in results(op):
            self._write(view)
        match op:
            case LayerNorm():
                self._check_norm(op)
            case Combine():
                self._check_combination(op)
            case MatMul():
                self._check_product(op)
            case Transform():
                self._expect(op.source, "source", op.out.shape, "int32")
                self._check_finish(op, op.finish)

    def _write(self, view: View) -> None:
        elements = self._elements(view)
        if view.tensor in self.fixed:
            elements = self.fixed[view.tensor][view.slices]
            if elements.any():
                raise ValueError(f"{view} is written after it was read, or a second time")
        if elements.any():
            raise ValueError(f"{view} is written a second time")
        elements[...] = True

    def _elements(self, view: View) -> np.ndarray:
        if view.tensor not in self.written:
            raise ValueError(f"{view.tensor}: there is no such tensor")
        rows, cols = self.graph.tensors[view.tensor].shape
        inside = 0 <= view.row <= rows - view.rows and 0 <= view.col <= cols - view.cols
        if not inside or min(view.shape) < 1:
            raise ValueError(f"{view} is not inside of {rows}x{cols}")
        return self.written[view.tensor][view.slices]

    def _expect(self, view: View, role: str, shape: tuple[int, int], *types: str) -> None:
        kind = self.graph.tensors[view.tensor].type
        if kind not in types:
            raise ValueError(f"{role}: {view} is {kind}, not {' or '.join(types)}")
        if view.shape != shape:
            rows, cols = shape
            raise ValueError(f"{role}: {view} is {view.rows}x{view.cols}, not {rows}x{cols}")

    def _check_product(self, op: MatMul) -> None:
        rows, depth, cols = op.a.rows, op.a.cols, op.out.cols
        self._expect(op.a, "a", (rows, depth), "int8", "uint8")
        self._expect(op.b, "b", (cols, depth) if op.b_transposed else (depth, cols), "int8")
        self._check_finish(op, op.finish)
        if op.out.rows != rows:
            raise ValueError(f"out: {op.out} has {op.out.rows} rows, a has {rows}")
        if op.onto:
            if not isinstance(op.finish, DeferredSoftmax):
                raise ValueError("onto: only the sums of a deferred softmax begin with something")
            self._expect(op.onto, "onto", (rows, cols), "int32")
        if op.copies and len(op.copies) != rows:
            raise ValueError(f"copies: {len(op.copies)} are not one for each of {rows} rows")
        if op.copies and isinstance(op.finish, Sums):
            raise ValueError("copies: sums that stay as they are have none")
        for view in op.copies:
            self._expect(view, "copy", (1, cols), self.graph.tensors[op.out.tensor].type)

    def _check_finish(self, op: MatMul | Transform, finish: Finish) -> None:
        rows, cols = op.out.shape
        self._expect(op.out, "out", op.out.shape, *_OUTPUTS[type(finish)])
        if op.bias:
            self._expect(op.bias, "bias", (1, cols), "int32")
        match finish:
            case Sums():
                pass
            case Requantize():
                self._check_scale(finish.scale, cols)
                self._check_zero_point(op.out, finish.zero_point)
            case Activation():
                if finish.function not in ACTIVATIONS:
                    known = ", ".join(ACTIVATIONS)
                    raise ValueError(f"function: {finish.function!r} is none of {known}")
                self._check_scale(finish.scale, cols)
                self._check_scale(finish.out_scale, cols)
                self._check_zero_point(op.out, finish.zero_point)
            case AddResidual():
                self._check_scale(finish.scale, cols)
                self._check_scale(finish.residual_scale, cols)
                self._expect(finish.residual, "residual", op.out.shape, "int16")
            case Softmax():
                _check_scores(finish.scale, finish.mask, cols)
            case DeferredSoftmax():
                _check_scores(finish.scale, finish.mask, cols)
                self._expect(finish.sums, "sums", (rows, 1), "int32")
            case DivideBySums():
                self._check_scale(finish.scale, cols)
                self._expect(finish.sums, "sums", (rows, 1), "int32")

    def _check_scale(self, scale: Scale, cols: int) -> None:
        if isinstance(scale, View):
            self._expect(scale, "scale", (1, cols), "float32")
            values = self.graph.constants.get(scale.tensor)
            if values is None:
                raise ValueError(f"scale: {scale} is not a constant")
            if not np.isfinite(values[scale.slices]).all():
                raise ValueError(f"scale: {scale} is not finite everywhere")
        elif not np.isfinite(_float32(scale)):
            raise ValueError(f"scale: {scale} is not a finite float32")

    def _check_zero_point(self, out: View, zero_point: int) -> None:
        largest = 255 if self.graph.tensors[out.tensor].type == "uint8" else 0
        if not 0 <= zero_point <= largest:
            raise ValueError(f"zero point: {zero_point} is not in 0..{largest}")

    def _check_combination(self, op: Combine) -> None:
        if op.function not in COMBINATIONS:
            raise ValueError(f"function: {op.function!r} is none of {', '.join(COMBINATIONS)}")
        kinds = FUNCTIONS[COMBINATIONS[op.function]].types
        self._expect(op.out, "out", op.out.shape, *(kind.name.lower() for kind in kinds))
        self._expect(op.a, "a", op.out.shape, "int16")
        self._expect(op.b, "b", op.out.shape, "int16")
        if FUNCTIONS[COMBINATIONS[op.function]].rotates and op.out.cols % 2:
            raise ValueError(f"{op.function}: rows of {op.out.cols} columns are not two halves")
        self._check_scale(op.scale, op.out.cols)
        self._check_zero_point(op.out, op.zero_point)

    def _check_norm(self, op: LayerNorm) -> None:
        self._expect(op.source, "source", op.source.shape, "int16")
        _check_columns(op.source.cols)
        if not 0 <= op.epsilon < 1 << EPSILON_BITS:
            raise ValueError(f"epsilon: {op.epsilon} is not in 0..{(1 << EPSILON_BITS) - 1}")
        if len(op.outputs) not in {1, 2}:
            raise ValueError(f"outputs: {len(op.outputs)} are not one or two")
        for output in op.outputs:
            self._expect(output.out, "out", op.source.shape, "int8", "int16")
            self._expect(output.gamma, "gamma", (1, op.source.cols), "int16")
            self._expect(output.beta, "beta", (1, op.source.cols), "int32")
            if not 0 <= output.shift <= MAX_SHIFT:
                raise ValueError(f"shift: {output.shift} is not in 0..{MAX_SHIFT}")


def _check_scores(scale: float, mask: Mask, cols: int) -> None:
    factor = _float32(scale)
    if not (np.isfinite(factor) and factor > 0):
        raise ValueError(f"scale: {scale} is not one positive finite float32")
    _check_columns(cols)
    if mask.keys is not None and not 0 <= mask.keys <= cols:
        raise ValueError(f"keys: {mask.keys} is not in 0..{cols}")
    if not 0 <= mask.first_row < MAX_COLUMNS:
        raise ValueError(f"first row: {mask.first_row} is not in 0..{MAX_COLUMNS - 1}")
    if mask.moving and not mask.causal:
        raise ValueError("moving: a mask that is not causal has no first row")


def _check_columns(cols: int) -> None:
    if cols > MAX_COLUMNS:
        raise ValueError(f"rows of {cols} columns are longer than the {MAX_COLUMNS} supported")


def _float32(scale: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(scale)
