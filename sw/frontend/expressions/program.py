"""Programs of tensor expressions: tensors to compute, and pieces of a graph that compute some."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from celosia.sw.frontend.expressions.checks import tensors_of
from celosia.sw.frontend.expressions.evaluate import whole
from celosia.sw.frontend.expressions.layout import Matrix
from celosia.sw.frontend.expressions.nodes import Access, Tensor, parts
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graph import Tensor as GraphTensor
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.graph_verify import verify

__all__ = ["Call", "Program", "Statement", "computed", "graph_of", "program_of", "reads"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Call:
    """Operators of a graph that compute a tensor by an intrinsic."""

    intrinsic: str
    tensor: Tensor
    inputs: tuple[Matrix, ...]
    """What they read."""
    output: Matrix
    ops: tuple[Op, ...]

    def compute(self, values: Mapping[str, Array]) -> Array:
        """What the operators compute of tensors by name: the graph's meaning of them."""
        graph = graph_of(self.tensor.name, [self], [self.output])
        read = {each.name: each.of(_value(each.tensor, values)) for each in self.inputs}
        given = {name: read[name] for name in graph.inputs}
        return self.output.back(interpret(graph, given)[self.output.name])


Statement = Tensor | Call


@dataclass(frozen=True, eq=False)
class Program:
    """Statements, each behind those that it reads; the last one is the result."""

    statements: tuple[Statement, ...]
    splits: Mapping[str, int] = field(default_factory=dict)
    """How many axes of a tensor, by its name, are rows of the matrix as which it is stored."""

    @property
    def result(self) -> Tensor:
        """The tensor that it computes."""
        last = self.statements[-1]
        return last.tensor if isinstance(last, Call) else last

    def with_statements(self, found: Mapping[str, tuple[Statement, ...]]) -> "Program":
        """The program with other statements in the place of tensors, by name."""
        new: list[Statement] = []
        for each in self.statements:
            new += [each] if isinstance(each, Call) else found.get(each.name, (each,))
        return replace(self, statements=tuple(new))


def program_of(result: Tensor) -> Program:
    """The program of a computed tensor: each tensor that it is made of is a statement."""
    return Program(tuple(each for each in tensors_of(result) if each.body is not None))


def reads(tensor: Tensor) -> Iterator[Access]:
    """The elements that a computed tensor reads."""
    assert tensor.body is not None
    return (each for each in parts(tensor.body) if isinstance(each, Access))


def computed(statements: tuple[Statement, ...], values: Mapping[str, Array]) -> Array:
    """What statements compute, the last one's result."""
    known, found = dict(values), None
    for each in statements:
        name = each.tensor.name if isinstance(each, Call) else each.name
        found = each.compute(known) if isinstance(each, Call) else whole(each, known)
        known[name] = found
    assert found is not None
    return found


def graph_of(name: str, calls: list[Call], outputs: list[Matrix]) -> Graph:
    """The graph of calls.  Raises `ValueError` if it is not well formed."""
    matrices = {each.name: each for call in calls for each in (*call.inputs, call.output)}
    written = {call.output.name for call in calls}
    known = {
        each.name: each.of(each.tensor.value)
        for each in matrices.values()
        if each.tensor.value is not None
    }
    tensors = {
        each.name: GraphTensor(each.name, each.tensor.dtype, each.rows, each.cols)
        for each in matrices.values()
    }
    return verify(
        Graph(
            name=name,
            tensors=tensors,
            inputs=tuple(each for each in matrices if each not in written and each not in known),
            outputs=tuple(each.name for each in outputs),
            ops=tuple(op for call in calls for op in call.ops),
            constants=known,
        )
    )


def _value(tensor: Tensor, values: Mapping[str, Array]) -> Array:
    return values[tensor.name] if tensor.value is None else tensor.value
