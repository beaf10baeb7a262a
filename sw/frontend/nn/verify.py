"""What makes a float graph well formed."""

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TYPES, GraphError, TensorType, expect
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["verify"]


def verify(graph: FloatGraph) -> FloatGraph:
    """`graph` itself.  Raises `GraphError` that names the tensor and the rule it breaks.

    Names are unique, nodes read what is there before them, types are what operators say, outputs
    exist.
    """
    known: dict[str, TensorType] = {}

    def define(name: str, kind: TensorType) -> None:
        expect(name not in known, f"{name}: a second tensor has this name")
        expect(kind.dtype in TYPES, f"{name}: {kind.dtype} is none of {', '.join(TYPES)}")
        expect(min(kind.shape, default=0) >= 0, f"{name}: its shape is {kind.shape}")
        known[name] = kind

    for name, kind in graph.inputs.items():
        define(name, kind)
    for name, value in graph.constants.items():
        define(name, TensorType.of(value))
    for node in graph.nodes:
        expect(node.op in OPERATORS, f"{node.name}: there is no operator {node.op!r}")
        for name in node.inputs:
            expect(name in known, f"{node.name}: it reads {name}, which is not there before it")
        try:
            types = [known[name] for name in node.inputs]
            result = OPERATORS[node.op].result_type(types, node.attributes)
        except GraphError as error:
            raise GraphError(f"{node.name}: {error}") from None
        expect(result == node.type, f"{node.name}: it is {result}, not {node.type}")
        define(node.name, node.type)
    for name, value in graph.outputs.items():
        expect(value in known, f"output {name}: there is no tensor {value}")
    return graph
