"""What makes a graph well formed."""

import numpy as np

from celosia.isa.encoding import WeightType
from celosia.sw.ir.graph import TYPES, Graph, MatMul, Op, Tensor, View
from celosia.sw.ir.graphs.operator import Rules
from celosia.sw.ir.graphs.tensors import MAX_EXTENT

__all__ = ["verify"]


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
        if not checker.is_written(graph.tensors[name].view()):
            raise ValueError(f"graph {graph.name}: output {name}: not all of it is written")
    return graph


def _check_packed(place: str, tensor: Tensor, constant: np.ndarray | None) -> None:
    """Raise `ValueError` unless `tensor` is a constant of values that its packing holds."""
    bits = tensor.packing.bits
    most = (1 << bits - 1) - 1
    if constant is None or tensor.type != "int8":
        raise ValueError(f"{place}: only constants of int8 are packed")
    if constant.min() < -most - 1 or constant.max() > most:
        wrong = constant[(constant < -most - 1) | (constant > most)][0]
        raise ValueError(f"{place}: {wrong} is not in {-most - 1}..{most}")


class _Checker(Rules):
    """Which elements have a value."""

    def __init__(self, graph: Graph):
        super().__init__(graph.tensors, graph.constants)
        self.graph = graph
        self.whole: set[str] = set()
        """Tensors all of whose elements have a value: they were given, or written at once."""
        self.pieces: dict[str, list[View]] = {}
        """What has a value of each tensor that is written piece by piece: none overlap."""
        self.fixed: dict[str, list[View]] = {}
        """What of each cache has been read or written: it stays as it is."""
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
        if tensor.packing is not WeightType.INT8:
            _check_packed(place, tensor, constant)
        if constant is not None or name in graph.inputs:
            self.whole.add(name)
        if tensor.cache:
            if name not in graph.inputs:
                raise ValueError(f"{place}: a cache is an input")
            self.fixed[name] = []

    def take(self, op: Op) -> None:
        if op.name in self.names:
            raise ValueError("another operator has this name")
        self.names.add(op.name)
        weights = (op.b,) if isinstance(op, MatMul) else ()
        for view in op.operands:
            if not self.is_written(view):
                raise ValueError(f"{view} is read before it is written")
            if view not in weights and self.tensors[view.tensor].packing is not WeightType.INT8:
                raise ValueError(f"{view} is packed: only products read it, as their weights")
            if view.tensor in self.fixed:
                self.fixed[view.tensor].append(view)
        for view in op.results:
            self._write(view)
        op.check(self)

    def is_written(self, view: View) -> bool:
        """Whether all elements of `view` have a value.  Raises `ValueError` if there are none."""
        self._find(view)
        if view.tensor in self.whole:
            return True
        written = sum(_common(view, piece) for piece in self.pieces.get(view.tensor, ()))
        return written == view.rows * view.cols

    def _write(self, view: View) -> None:
        tensor = self._find(view)
        if view.tensor in self.fixed:
            if any(_common(view, other) for other in self.fixed[view.tensor]):
                raise ValueError(f"{view} is written after it was read, or a second time")
            self.fixed[view.tensor].append(view)
            return
        pieces = self.pieces.setdefault(view.tensor, [])
        if view.tensor in self.whole or any(_common(view, piece) for piece in pieces):
            raise ValueError(f"{view} is written a second time")
        if view.shape == tensor.shape:
            self.whole.add(view.tensor)
        else:
            pieces.append(view)

    def _find(self, view: View) -> Tensor:
        """The tensor of `view`.  Raises `ValueError` if there is none, or the view is outside."""
        if view.tensor not in self.graph.tensors:
            raise ValueError(f"{view.tensor}: there is no such tensor")
        tensor = self.graph.tensors[view.tensor]
        rows, cols = tensor.shape
        inside = 0 <= view.row <= rows - view.rows and 0 <= view.col <= cols - view.cols
        if not inside or min(view.shape) < 1:
            raise ValueError(f"{view} is not inside of {rows}x{cols}")
        return tensor


def _common(one: View, other: View) -> int:
    """Elements that two views of a tensor have in common."""
    rows = min(one.row + one.rows, other.row + other.rows) - max(one.row, other.row)
    cols = min(one.col + one.cols, other.col + other.cols) - max(one.col, other.col)
    return max(rows, 0) * max(cols, 0)
