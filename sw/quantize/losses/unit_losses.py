"""What each operator loses alone: its own error, and what outputs keep of it.

The float graph gives all values.  Each unit is computed once in integers, from what it reads of
these values, rounded to its formats: so the loss of a rounding is that of the unit that reads it.
Its error is then added to its value, and the float graph goes on from there.  As far as these
errors are small and have nothing in common, their squares add up to the loss of the whole.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import compute, interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import Machine
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.quantize.graphs.observe import raised
from celosia.sw.quantize.graphs.quantized import Execution, QuantizedGraph
from celosia.sw.quantize.units.segments import Segment
from celosia.sw.quantize.units.units import Finishing, Units
from celosia.sw.quantize.units.values import Form, Role

__all__ = ["Losses", "UnitError"]

_BEST: Final[tuple[Role, ...]] = ("wide", "sums", "small", "heads")
"""The forms of a value, the one with the smallest step first."""
_MACS: Final = 16
"""Multiply-accumulates that take as long as an element of another operator."""


@dataclass(frozen=True, eq=False)
class UnitError:
    """What a unit that is computed in integers makes wrong of right operands."""

    node: str
    """The node of the model's file that multiplies, or else the one that the unit ends with."""
    tensor: str
    """The tensor of the float graph that the error is of."""
    error: Array


class Losses:
    """A model that is looked at unit by unit, for inputs that `check_inputs` returned."""

    def __init__(
        self,
        graph: FloatGraph,
        units: Units,
        model: QuantizedGraph,
        inputs: Mapping[str, Array],
        config: AcceleratorConfig | None = None,
    ):
        self.graph, self.model, self.config = graph, model, config
        self.real: dict[str, Array] = {**graph.constants, **inputs}
        interpret(graph, inputs, self.real.__setitem__)
        self._execution = Execution(model, inputs, count=False)
        self._execution.values.update(self.real)
        read = {name for level in model.host for node in level for name in node.inputs}
        read |= {*model.outputs.values()}
        self._host_reads = read | {model.values[form.key].tensor for form in model.converted}
        self._macs = graph.macs()
        nodes = graph.producers()
        self._multiplied = {
            nodes[unit.value.tensor].origin: next(
                nodes[name].origin for name in unit.product.nodes if OPERATORS[nodes[name].op].macs
            )
            for unit in units.of(Finishing)
            if Form(unit.product.value.key, "sums") not in model.formats
        }
        """The node that multiplies, by that which finishes its product."""
        self._places = {node.name: place for place, node in enumerate(graph.nodes)}

    def errors(self) -> Iterator[UnitError]:
        """The error of each unit, in the order in which they are computed."""
        for number, segment in enumerate(self.model.segments):
            graph = self._execution.graph(number).graph
            graph = graph if self.config is None else short_scales(graph, self.config)
            yield from self._segment(segment, graph)

    def cost(self, tensor: str) -> int:
        """What it takes to see the loss of an error there: elements that are computed again.

        Sixteen multiply-accumulates of products take as long as one.
        """
        nodes = list(self._behind(tensor))
        macs = sum(self._macs.get(node.name, 0) for node in nodes)
        return sum(self.real[node.name].size for node in nodes) + macs // _MACS

    def outputs(self, found: UnitError, wanted: Collection[str]) -> dict[str, Array]:
        """The outputs of these names that the float graph has with one error."""
        before = self.real[found.tensor]
        changed = {found.tensor: (before + found.error).astype(before.dtype)}
        for node in self._behind(found.tensor):
            changed[node.name] = compute(
                node, [changed.get(name, self.real[name]) for name in node.inputs]
            )
        tensors = {name: self.graph.outputs[name] for name in wanted}
        return {name: changed.get(each, self.real[each]) for name, each in tensors.items()}

    def _behind(self, tensor: str) -> Iterator[Node]:
        """The nodes that depend on a tensor."""
        reached = {tensor}
        for node in self.graph.nodes[self._places.get(tensor, -1) + 1 :]:
            if not reached.isdisjoint(node.inputs):
                reached.add(node.name)
                yield node

    def _segment(self, segment: Segment, graph: Graph) -> Iterator[UnitError]:
        forms = {**segment.inputs, **segment.made}
        right = {name: self._rounded(form, graph, name) for name, form in forms.items()}
        machine = Machine(graph, {name: right[name] for name in segment.inputs})
        machine.values.update({name: right[name].copy() for name in segment.made})
        written: set[str] = set()
        for place, op in enumerate(graph.ops):
            machine.take(op)
            written |= {view.tensor for view in op.results} & segment.made.keys()
            unit = segment.unit(op.name)
            if [segment.unit(each.name) for each in graph.ops[place + 1 : place + 2]] == [unit]:
                continue
            if written:
                name = min(written, key=lambda each: _BEST.index(forms[each].role))
                yield self._error(segment, unit, forms[name], machine.values[name], right[name])
            for name in written:
                machine.values[name] = right[name].copy()
            written = set()

    def _rounded(self, form: Form, graph: Graph, name: str) -> Array:
        """A right value as integers of a form."""
        value = self.model.values[form.key]
        matrix = value.matrix(self.real[value.tensor])
        if form.role == "onto":
            matrix = raised(matrix, self.model.types[value.tensor].shape[-1])
        found, _ = self.model.formats[form].integers(matrix)
        return np.pad(found, ((0, 0), (0, graph.tensors[name].cols - found.shape[1])))

    def _error(
        self, segment: Segment, unit: str, form: Form, found: Array, right: Array
    ) -> UnitError:
        value, how = self.model.values[form.key], self.model.formats[form]
        cols = how.steps.size
        matrix = how.numbers(found[:, :cols])
        if value.tensor in self._host_reads:  # Its rounding is nobody else's.
            base = value.matrix(self.real[value.tensor])
        else:
            base = how.numbers(right[:, :cols])
        error = value.tensor_of(matrix - base, self.model.types[value.tensor])
        node = segment.operators[unit]
        return UnitError(self._multiplied.get(node, node), value.tensor, error)
