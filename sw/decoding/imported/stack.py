"""The units of a float graph, asked one after the other."""

from typing import TypeVar

from celosia.sw.decoding.imported.problem import DecoderProblem
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.ir.graph import View
from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.units import Finishing, Unit

__all__ = ["Stack"]

_Kind = TypeVar("_Kind", bound=Unit)


class Stack:
    """Units by what reads them; problems are called after the nodes of the file."""

    def __init__(self, graph: FloatGraph):
        self.reader = Reader(graph)
        self._units = find_units(graph)

    def tensor(self, view: View) -> str:
        """The tensor of the float graph that an operand is of."""
        return self._units.values[view.tensor].tensor

    def unit(self, view: View) -> Unit | None:
        """The unit that makes an operand; None: the host does."""
        return self._units.units.get(self.tensor(view))

    def at(self, view: View, kind: type[_Kind], what: str) -> _Kind:
        """The unit that makes an operand.  Raises `DecoderProblem` if it is not of this kind."""
        unit = self.unit(view)
        if unit is None:
            raise self.unknown(view, f"it is not {what}")
        return self.expect(unit, kind, what)

    def expect(self, unit: Unit, kind: type[_Kind], what: str) -> _Kind:
        """`unit`.  Raises `DecoderProblem` if it is not of this kind."""
        if not isinstance(unit, kind):
            raise self.problem(unit, f"it is a {type(unit).__name__.lower()}, not {what}")
        return unit

    def whole(self, name: str, kind: type[_Kind], what: str) -> _Kind:
        """The unit that makes a tensor of the graph, through views."""
        source, _ = self.reader.chain(name)
        unit = self._units.units.get(source)
        if unit is None:
            raise self.refused(source, f"it is not {what}")
        return self.expect(unit, kind, what)

    def residual(self, unit: Finishing) -> View:
        """What a sum adds to its product.  Raises `DecoderProblem` for what is no sum."""
        if unit.residual is None:
            raise self.problem(unit, f"it is {unit.function}, not a sum of a product and a stream")
        return unit.residual

    def attribute(self, unit: Unit, name: str) -> object:
        """An attribute of the node that a unit stands for; None if it has no such one."""
        node = self.reader.producer(unit.nodes[-1])
        return None if node is None else node.attributes.get(name)

    def label(self, unit: Unit) -> str:
        """The node of the file that a unit stands for."""
        return self._label(unit.nodes[-1])

    def problem(self, unit: Unit, reason: str) -> DecoderProblem:
        """Why a unit does not belong to a decoder."""
        return DecoderProblem(f"{self.label(unit)}: {reason}")

    def unknown(self, view: View, reason: str) -> DecoderProblem:
        """Why what the host computes does not belong to a decoder."""
        return self.refused(self.tensor(view), reason)

    def refused(self, tensor: str, reason: str) -> DecoderProblem:
        """The same for a tensor; where something looked like a unit, why that is none."""
        needed = {tensor}
        for node in reversed(self.reader.graph.nodes):
            if node.name in needed:
                if node.name in self._units.refusals:
                    return DecoderProblem(
                        f"{self._label(node.name)}: {self._units.refusals[node.name]}"
                    )
                if node.name == tensor or node.name not in self._units.units:
                    needed.update(node.inputs)
        return DecoderProblem(f"{self._label(tensor)}: {reason}")

    def _label(self, tensor: str) -> str:
        node = self.reader.producer(tensor)
        return tensor if node is None or not node.origin else node.origin
