"""Nodes of an ONNX graph, one after the other, as operators of a float graph.

Functions and branches are inlined.  An operator without a handler is replaced by its function
body, if the standard gives one.  A node without a meaning is refused; what depends on it is lost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto

from celosia.sw.frontend.importer.handlers.registry import Handler
from celosia.sw.frontend.importer.source.bodies import function_body, is_standard
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.model_file import DEFAULT_DOMAIN, Model, domain_name
from celosia.sw.frontend.importer.source.problems import ImportProblem, Inner, Lost, Refusal
from celosia.sw.frontend.importer.source.quantization import MOVES, Quantization
from celosia.sw.frontend.importer.source.scope import Scope, node_label, ordered
from celosia.sw.frontend.importer.source.tensors import read_tensor
from celosia.sw.frontend.importer.table import HANDLERS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import GraphError

__all__ = ["MALFORMED", "Translator"]

MALFORMED: Final = "it is not as the standard says"
"""How the reason begins where a node has too few axes, no such attribute, and the like."""

_MOST_DEPTH: Final = 32
"""Functions and branches in each other."""
_MOST_NODES: Final = 1_000_000
"""Nodes behind inlining: functions that call functions can make any number of them."""
_BROKEN: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What Python raises when a handler takes sizes and attributes apart that are not as they should.

A handler need not foresee every way in which a node can be malformed.
"""


class Translator:
    """Builds a float graph from the nodes of a model."""

    def __init__(self, model: Model, builder: GraphBuilder):
        self._model = model
        self._build = builder
        self._nodes = 0
        self.quantization = Quantization(builder)
        self.halves: dict[str, int] = {}
        """Bytes of weights of 16 bits by their type."""
        self.refused: dict[str, str] = {}
        """The reason for each node of the file that has no meaning or depends on one."""
        self.read: set[str] = set()
        """Tensors that such nodes read."""

    def graph(self, graph: GraphProto, scope: Scope, depth: int = 0) -> None:
        """Translate all nodes of a graph, whose inputs are in `scope`."""
        if graph.sparse_initializer:
            raise ImportProblem("sparse tensors are not supported")
        for tensor in graph.initializer:
            scope.stored.setdefault(tensor.name, tensor)
        self._all(graph.node, scope, self._model.opsets, depth)

    def tensor(self, name: str, scope: Scope) -> str | None:
        """The tensor that a name stands for; None for an operand that a call leaves out.

        Raises `Refusal` if there is none.
        """
        found = scope.find(name)
        if found is None:
            raise Refusal(f"it reads {name}, which nothing makes")
        if name in found.lost:
            raise Lost(found.lost[name])
        if name in found.stored:
            value = self._read(found.stored.pop(name))
            found.tensors[name] = self._build.constant(value, found.prefix + name)
        return found.tensors[name]

    def _read(self, tensor: TensorProto) -> Any:
        return read_tensor(tensor, self._model.folder, self._tell)

    def _tell(self, kind: str, size: int) -> None:
        self.halves[kind] = self.halves.get(kind, 0) + size

    def _all(
        self, nodes: Sequence[NodeProto], scope: Scope, opsets: Mapping[str, int], depth: int
    ) -> None:
        if depth > _MOST_DEPTH:
            raise ImportProblem(f"functions and branches are more than {_MOST_DEPTH} deep")
        for node in ordered(nodes, scope.prefix):
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                raise ImportProblem(f"it has more than {_MOST_NODES:,} nodes")
            label = scope.prefix + node_label(node)
            try:
                with self._build.origin(scope.origin or label):
                    self._node(node, label, scope, opsets, depth)
            except _BROKEN as error:
                self._refuse(node, label, scope, error, depth)

    def _refuse(
        self, node: NodeProto, label: str, scope: Scope, error: Exception, depth: int
    ) -> None:
        """Note a node of the main graph; inside of one, let the reason rise to it."""
        reason = str(error)
        if not isinstance(error, Refusal | GraphError | ImportProblem):
            reason = f"{MALFORMED}: {reason}"
        if depth:
            kind = Lost if isinstance(error, Lost) else Inner
            # The innermost node is the place: its label has those around it.
            placed = scope.origin or isinstance(error, Inner)
            raise kind(reason if placed else f"{label}: {reason}") from None
        self.refused[label] = reason
        for name in filter(None, node.input):
            found = scope.find(name)
            tensor = found.tensors.get(name) if found else None
            if tensor is not None:
                self.read.add(tensor)
        root = reason if isinstance(error, Lost) else f"it depends on {label}: {reason}"
        for name in filter(None, node.output):
            scope.tensors.pop(name, None)
            scope.lost[name] = root

    def _node(
        self,
        node: NodeProto,
        label: str,
        scope: Scope,
        opsets: Mapping[str, int],
        depth: int,
    ) -> None:
        domain, op = domain_name(node.domain), node.op_type
        attributes = _resolved(node.attribute, scope)
        if (domain, op) in self._model.functions:
            body = self._model.functions[domain, op]
            self._inline(node, body, attributes, scope, depth, f"{scope.prefix}{node.name or op}/")
            return
        if (domain, op) == (DEFAULT_DOMAIN, "If"):
            self._branch(node, attributes, scope, depth)
            return
        version = opsets.get(domain, 1 if domain in HANDLERS and domain else 0)
        handler = HANDLERS.get(domain, {}).get(op)
        operands = [self.tensor(name, scope) if name else None for name in node.input]
        undone = self.quantization.undone(op, operands) if domain in HANDLERS else None
        if undone is not None:
            _define(node, (undone,), scope)
            return
        if handler is not None and version:
            made = self._made(handler, node, version, attributes, scope)
            results = made(operands)
            _define(node, results, scope)
            self.quantization.made(op, operands, results)
            if op in MOVES and operands:
                self._moved(operands, results, made)
            return
        types = [None if name is None else self._build.type(name) for name in operands]
        resolved = NodeProto(op_type=op, domain=node.domain, input=node.input, output=node.output)
        resolved.attribute.extend(attributes.values())
        body = function_body(resolved, version, domain, types) if version else None
        if body is None:
            raise Refusal(_unknown(domain, op, version))
        self._inline(node, body, attributes, scope, depth, f"{scope.prefix}{label}/", label)
        self.quantization.made(op, operands, [scope.tensors.get(name) for name in node.output])

    def _moved(
        self,
        operands: Sequence[str | None],
        results: Sequence[str | None],
        made: Callable[[Sequence[str | None]], Sequence[str | None]],
    ) -> None:
        """Take note of what elements of integers stand for."""
        first, *others = operands
        real = self.quantization.source(first)
        if real is not None:
            self.quantization.moved(first, results, made([real, *others]))
        elif len(results) == 1 and results[0] is not None:
            self.quantization.chosen(results[0], first, lambda table: made([table, *others])[0])

    def _made(
        self,
        handler: Handler,
        node: NodeProto,
        version: int,
        attributes: Mapping[str, AttributeProto],
        scope: Scope,
    ) -> Callable[[Sequence[str | None]], Sequence[str | None]]:
        """What makes the results of a node from its operands."""

        def made(operands: Sequence[str | None]) -> Sequence[str | None]:
            call = Call(
                node, version, self.quantization, operands, attributes, self._decode, scope.prefix
            )
            result = handler(call)
            call.check_all_seen()
            return (result,) if isinstance(result, str) else result

        return made

    def _inline(
        self,
        node: NodeProto,
        body: FunctionProto,
        attributes: Mapping[str, AttributeProto],
        scope: Scope,
        depth: int,
        prefix: str,
        origin: str = "",
    ) -> None:
        """Put the nodes of a function in the place of its call."""
        defaults = {each.name: each for each in body.attribute_proto}
        inner = Scope(
            prefix=prefix, origin=scope.origin or origin, attributes={**defaults, **attributes}
        )
        for index, name in enumerate(body.input):
            given = node.input[index] if index < len(node.input) else ""
            inner.define(name, self.tensor(given, scope) if given else None)
        opsets = {domain_name(each.domain): each.version for each in body.opset_import}
        self._all(body.node, inner, opsets or self._model.opsets, depth + 1)
        results = []
        for index, name in enumerate(body.output):
            wanted = index < len(node.output) and node.output[index]
            results.append(self.tensor(name, inner) if wanted else None)
        _define(node, results, scope)

    def _branch(
        self, node: NodeProto, attributes: Mapping[str, AttributeProto], scope: Scope, depth: int
    ) -> None:
        """Put the nodes of a branch in the place of its If."""
        condition = self.tensor(node.input[0], scope)
        value = None if condition is None else self._build.value(condition)
        if value is None:
            raise Refusal(
                f"its condition ({node.input[0]}) is known only when the model runs"
                + self._way_to_fix(condition)
            )
        branch = attributes["then_branch" if value.reshape(()) else "else_branch"].g
        inner = Scope(
            outer=scope,
            prefix=scope.prefix,
            origin=scope.origin,
            attributes=scope.attributes,
        )
        self.graph(branch, inner, depth + 1)
        _define(node, [self.tensor(each.name, inner) for each in branch.output], scope)

    def _way_to_fix(self, condition: str | None) -> str:
        """How a user lets a condition be known, if it depends on inputs of one number."""
        inputs = [] if condition is None else self._build.inputs_of(condition)
        if not inputs or any(self._build.type(name).size > 1 for name in inputs):
            return ""
        return f": give {' '.join(f'--set-input {name}=VALUE' for name in inputs)}"

    def _decode(self, attribute: AttributeProto) -> Any:
        """The Python value of an attribute.  Raises `Refusal` for graphs, lists of tensors ..."""
        decode = _DECODED.get(attribute.type)
        if decode is not None:
            return decode(attribute)
        if attribute.type == AttributeProto.TENSOR:
            return self._read(attribute.t)
        raise Refusal(f"its attribute {attribute.name} is of a kind that is not supported")


_DECODED: Final[Mapping[int, Callable[[AttributeProto], Any]]] = {
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.STRING: lambda attribute: attribute.s.decode(),
    AttributeProto.INTS: lambda attribute: tuple(attribute.ints),
    AttributeProto.FLOATS: lambda attribute: tuple(attribute.floats),
    AttributeProto.STRINGS: lambda attribute: tuple(each.decode() for each in attribute.strings),
}


def _resolved(attributes: Iterable[AttributeProto], scope: Scope) -> dict[str, AttributeProto]:
    """Attributes by name, those of the function's call in the place of references to them."""
    found = {}
    for attribute in attributes:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif attribute.ref_attr_name in scope.attributes:
            copy = AttributeProto()
            copy.CopyFrom(scope.attributes[attribute.ref_attr_name])
            copy.name = attribute.name
            found[attribute.name] = copy
    return found


def _define(node: NodeProto, results: Sequence[str | None], scope: Scope) -> None:
    """Let the names of a node's outputs stand for tensors."""
    for index, name in enumerate(node.output):
        if not name:
            continue
        found = results[index] if index < len(results) else None
        if found is None:
            scope.lost[name] = (
                f"it reads {name}, an output of {node_label(node)} that is not computed"
            )
        else:
            scope.define(name, found)


def _unknown(domain: str, op: str, version: int) -> str:
    if domain not in HANDLERS and not is_standard(op, domain):
        return f"domain {domain!r} is unknown, and so is its operator {op}"
    if not version:
        return f"the model does not import operators of domain {domain!r}"
    if not is_standard(op, domain):
        return f"there is no operator {op} in domain {domain!r}"
    return f"operator {op} is not supported"
