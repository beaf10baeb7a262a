"""The float graph: named tensors and operators between them, as frozen values.

Every node computes one tensor and carries its name; inputs and constants are tensors of their own.
The nodes are in an order in which they can be computed.  `sw/frontend/nn/operators/table.py` lists
the operators, `sw/frontend/nn/verify.py` states what makes a graph well formed, and
`sw/frontend/nn/interpret.py` what it means.  "Float" tells it from the graph of integers: it has
integers and bools, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from celosia.sw.frontend.nn.operators.operator import Array, Attributes, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["FloatGraph", "Node", "join_origin", "split_origin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An operator and the tensor that it computes."""

    name: str
    """The name of the tensor."""
    op: str
    """An operator of `celosia.sw.frontend.nn.operators.table`."""
    inputs: tuple[str, ...]
    """The names of the operands."""
    attributes: Attributes = field(default_factory=dict)
    type: TensorType
    origin: str = ""
    """The node of the imported file that it stands for, with its operator."""

    def __str__(self) -> str:
        values = [f"{name} {value}" for name, value in self.attributes.items()]
        return f"{self.name}: {self.type} = {self.op}({', '.join([*self.inputs, *values])})"


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatGraph:
    """Operators on tensors, from inputs and constants to outputs."""

    name: str
    inputs: Mapping[str, TensorType]
    constants: Mapping[str, Array]
    nodes: tuple[Node, ...]
    outputs: Mapping[str, str]
    """The tensor that each output is, by the name of the output."""

    def types(self) -> dict[str, TensorType]:
        """The type of every tensor by its name."""
        found = dict(self.inputs)
        found |= {name: TensorType.of(value) for name, value in self.constants.items()}
        found |= {node.name: node.type for node in self.nodes}
        return found

    def producers(self) -> dict[str, Node]:
        """The node of every tensor that one computes."""
        return {node.name: node for node in self.nodes}

    def readers(self) -> dict[str, list[Node]]:
        """The nodes that read each tensor, in order; a node that reads it twice stands once."""
        found: dict[str, list[Node]] = {name: [] for name in self.types()}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                found[name].append(node)
        return found

    def macs(self) -> dict[str, int]:
        """Multiply-accumulates of each node that is a product, a convolution or an attention."""
        types = self.types()
        found = {
            node.name: count([types[name] for name in node.inputs], node.type)
            for node in self.nodes
            if (count := OPERATORS[node.op].macs) is not None
        }
        return {name: macs for name, macs in found.items() if macs}

    def __str__(self) -> str:
        lines = [f"graph {self.name}"]
        lines += [f"input {name}: {kind}" for name, kind in self.inputs.items()]
        lines += [f"constant {name}: {TensorType.of(v)}" for name, v in self.constants.items()]
        lines += [str(node) for node in self.nodes]
        lines += [f"output {name} = {value}" for name, value in self.outputs.items()]
        return "".join(f"{line}\n" for line in lines)


def split_origin(origin: str) -> tuple[str, str]:
    """Name and operator of the node of a file that `Node.origin` is the text of."""
    name, _, operator = origin.rpartition(" (")
    return (name, operator.rstrip(")")) if name else ("", origin)


def join_origin(name: str, operator: str) -> str:
    """The text of which `split_origin` makes `name`, which may be empty, and `operator`."""
    return f"{name} ({operator})" if name else operator
