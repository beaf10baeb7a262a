"""What makes a plan that somebody else may have written one that can be run.

A digest tells damage, not intent: whoever edits a plan can write the digest of what he wrote.
"""

from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import TYPES, TensorType, expect
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import DeferredSoftmax, MatMul
from celosia.sw.quantize.graphs.quantized import QuantizedGraph
from celosia.sw.quantize.units.segments import Form, Segment

__all__ = ["check_plan"]

_INTEGERS: Final = ("int8", "uint8", "int16", "int32")


def check_plan(model: QuantizedGraph) -> None:
    """Follow a run without numbers: all that is read is there, and of the type that it says.

    Raises `GraphError` that names what is not, or `LookupError`, `TypeError` and the like for what
    is of another kind altogether.
    """
    _Walk(model).run()


class _Walk:
    """The types of what is there so far."""

    def __init__(self, model: QuantizedGraph):
        self.model = model
        self.types = dict(model.inputs)
        for name, value in model.constants.items():
            self.types[name] = TensorType.of(value)
        self.made: set[Form] = set()

    def run(self) -> None:
        model = self.model
        for name, kind in (*model.inputs.items(), *model.types.items()):
            expect(kind.dtype in TYPES, f"{name}: {kind.dtype} is no type of elements")
            expect(
                all(type(size) is int and size >= 0 for size in kind.shape),
                f"{name}: its shape is {kind.shape}",
            )
        expect(len(model.host) == len(model.segments) + 1, "host: there are other segments")
        expect(set(model.masks) <= model.inputs.keys(), f"masks: {model.masks} are no inputs")
        for number, nodes in enumerate(model.host):
            for node in nodes:
                self._node(node)
            if number < len(model.segments):
                for form, level in model.converted.items():
                    if level == number:
                        self._read(model.values[form.key].tensor)
                        self._form(form)
                self._segment(model.segments[number])
        for name, tensor in model.outputs.items():
            expect(isinstance(name, str), f"output {name!r}: it has no name")
            self._read(tensor)

    def _read(self, name: str) -> TensorType:
        """The type of a tensor that the host reads, its own or one that a segment has computed."""
        if name not in self.types:
            form = self.model.reads[name]
            expect(form in self.made, f"{name}: it is read before it is computed")
            whole = self.model.values[form.key]
            expect(whole.tensor == name and whole.copies == 1, f"{name}: {form.key} is not it")
            self.types[name] = self.model.types[name]
        return self.types[name]

    def _node(self, node: Node) -> None:
        expect(node.op in OPERATORS, f"{node.name}: there is no operator {node.op!r}")
        found = OPERATORS[node.op].result_type(list(map(self._read, node.inputs)), node.attributes)
        expect(found == node.type, f"{node.name}: it is {found}, not {node.type}")
        expect(node.name not in self.types, f"{node.name}: a second tensor has this name")
        self.types[node.name] = node.type

    def _form(self, form: Form) -> tuple[str, int, int]:
        """Note that a form is there; its type, and rows and columns."""
        value, found = self.model.values[form.key], self.model.formats[form]
        rows, cols = value.shape(self.model.types[value.tensor])
        expect(found.type in _INTEGERS, f"{form.key}: {found.type} is no type of integers")
        expect(
            found.steps.shape == (cols,) and found.steps.dtype.kind == "f",
            f"{form.key}: it has {cols} columns, not the steps {found.steps.shape}",
        )
        good = np.isfinite(found.steps).all() and (found.steps > 0).all()
        expect(bool(good), f"{form.key}: a step is not above 0")
        expect(type(found.zero_point) is int, f"{form.key}: its zero point is {found.zero_point!r}")
        self.made.add(form)
        return found.type, rows, cols

    def _segment(self, segment: Segment) -> None:
        graph = segment.graph
        for node in segment.operators.values():
            expect(isinstance(node, str), f"{graph.name}: {node!r} is no node")
        expect(segment.inputs.keys() == set(graph.inputs), f"{graph.name}: it has other inputs")
        for name, form in segment.inputs.items():
            expect(form in self.made, f"{graph.name}: {form.key} is read before it is computed")
            self._same(segment, name, form)
        for name, form in segment.outputs.items():
            self._same(segment, name, form)
        softmaxes = {
            op.name
            for op in graph.ops
            if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
        }
        for name, (tensor, text) in segment.keys.items():
            expect(name in softmaxes, f"{graph.name}: {name} has no keys")
            size = self._read(tensor).size
            expect(type(text) is int and text >= 0, f"{name}: {text!r} is no text")
            expect(text < size or size == 1, f"{name}: {tensor} has no text {text}")

    def _same(self, segment: Segment, name: str, form: Form) -> None:
        tensor, wanted = segment.graph.tensors[name], self._form(form)
        found = (tensor.type, tensor.rows, tensor.cols)
        expect(found == wanted, f"{segment.graph.name}: {name} is {found}, not {wanted}")
