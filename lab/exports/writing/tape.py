"""Writes an ONNX graph node by node, named as exporters name nodes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike, NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["END", "Size", "Tape"]

Size = int | str
"""An integer, or the name of a scalar that the graph computes."""

END: Final = 2**63 - 1
"""The end of a slice that goes on to the last element."""

_IR_VERSIONS: Final = ((23, 11), (21, 10), (19, 9), (15, 8), (0, 7))
"""For opsets from the first on, the version of the file format that is as old."""


class Tape:
    """A graph in the making, as torch's exporter by tracing writes it.

    Nodes have the path of their module in their name, numbers are Constant nodes, and sizes are
    taken from tensors when the model runs.  An operation returns the name of its result.
    """

    producer = "pytorch"

    def __init__(self, name: str, opset: int):
        self.opset = opset
        self._name = name
        self._scope: tuple[str, ...] = ()
        self._counts: Counter[str] = Counter()
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    @contextmanager
    def inside(self, path: str) -> Iterator[None]:
        """Nodes within have names below `path`."""
        outer = self._scope
        self._scope = (*outer, *path.split("/"))
        yield
        self._scope = outer

    @property
    def module(self) -> str:
        """The module as weights name it: ``encoder.layer.0.attention``."""
        return ".".join(self._scope)

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Write a node with one result."""
        return self.ops(kind, 1, *inputs, domain=domain, **attributes)[0]

    def ops(
        self, kind: str, results: int, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Write a node with several results."""
        name = self.node_name(kind)
        outputs = self.result_names(name, results)
        node = helper.make_node(kind, inputs, outputs, name, domain=domain, **attributes)
        self._nodes.append(node)
        return outputs

    def node_name(self, kind: str) -> str:
        """A name for the next node of a kind in this module."""
        name = "/" + "/".join((*self._scope, kind))
        number = self._counts[name]
        self._counts[name] += 1
        return f"{name}_{number}" if number else name

    def result_names(self, node: str, results: int) -> list[str]:
        """The names of a node's results."""
        return [f"{node}_output_{index}" for index in range(results)]

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.int64) -> str:
        """A Constant node."""
        array = np.asarray(value, dtype)
        return self.op("Constant", value=numpy_helper.from_array(array))

    def number(self, value: float) -> str:
        """A float32 scalar."""
        return self.constant(value, np.float32)

    def weight(self, name: str, array: NDArray[Any]) -> str:
        """An initializer; the same name stands for the same weights."""
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def matrix(self, name: str, array: NDArray[Any]) -> str:
        """The (inputs, outputs) matrix of a MatMul: transposed when exported, so without a name."""
        del name
        return self.weight(f"onnx::MatMul_{len(self._initializers) + len(self._nodes)}", array)

    def input(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        """Declare an input of the model; strings are sizes that stay open."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, shape: Sequence[int | str]) -> None:
        """Make `value` the model's output `name`."""
        for node in self._nodes:
            for index, output in enumerate(node.output):
                if output == value:
                    node.output[index] = name
            for index, source in enumerate(node.input):
                if source == value:
                    node.input[index] = name
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self, domains: Sequence[tuple[str, int]] = (), functions: Sequence[Any] = ()) -> Any:
        """The finished `onnx.ModelProto`; `domains` are those beside ONNX's own, with versions."""
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, list(self._initializers.values())
        )
        opsets = [helper.make_opsetid(*one) for one in (("", self.opset), *domains)]
        return helper.make_model(
            graph,
            opset_imports=opsets,
            producer_name=self.producer,
            ir_version=next(ir for first, ir in _IR_VERSIONS if self.opset >= first),
            functions=list(functions),
        )

    # What exporters write for sizes that are known only when the model runs.

    def size(self, value: str, axis: int) -> str:
        """The size of an axis, as a scalar."""
        shape = self.op("Shape", value)
        return self.op("Gather", shape, self.constant(axis), axis=0)

    def unsqueeze(self, value: str, axis: int) -> str:
        """`value` with another axis, of size 1."""
        return self.op("Unsqueeze", value, self.constant([axis]))

    def vector(self, *sizes: Size) -> str:
        """A shape: constants, and scalars of the graph."""
        parts = [
            self.unsqueeze(size, 0) if isinstance(size, str) else self.constant([size])
            for size in sizes
        ]
        return self.op("Concat", *parts, axis=0)

    def reshape(self, value: str, *sizes: Size) -> str:
        """`value` in another shape."""
        return self.op("Reshape", value, self.vector(*sizes))

    def slice(self, value: str, start: Size, end: Size, axis: int, step: int = 1) -> str:
        """A part of an axis."""
        bounds = [
            self.unsqueeze(bound, 0) if isinstance(bound, str) else self.constant([bound])
            for bound in (start, end)
        ]
        return self.op("Slice", value, *bounds, self.constant([axis]), self.constant([step]))

    def cast(self, value: str, kind: int) -> str:
        """`value` in another type."""
        return self.op("Cast", value, to=kind)

    def reduce_mean(self, value: str) -> str:
        """The mean over the last axis, which stays."""
        if self.opset < 18:
            return self.op("ReduceMean", value, axes=[-1])
        return self.op("ReduceMean", value, self.constant([-1]), keepdims=1)

    def expand(self, value: str, *sizes: Size) -> str:
        """`value` repeated along axes of size 1: torch writes -1 for sizes that stay."""
        shape = self.op("Reshape", self.vector(*sizes), self.constant([-1]))
        ones = self.op(
            "ConstantOfShape",
            self.op("Shape", shape),
            value=numpy_helper.from_array(np.ones(1, np.int64)),
        )
        stays = self.op("Equal", shape, self.op("Mul", ones, self.constant(-1)))
        return self.op("Expand", value, self.op("Where", stays, ones, shape))
