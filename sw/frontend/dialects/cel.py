"""Dialect ``cel`` in xDSL: the integer graph, one to one.

Each operation checks its operands, results and attributes; ``cel.graph`` checks what makes a graph
well formed, by the rules of `celosia.sw.ir.graph_verify`.
"""

from typing import Final

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Dialect
from xdsl.ir import Operation as ForeignOperation
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from celosia.sw.frontend.dialects.bridge import from_xdsl
from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.names import OPERATORS
from celosia.sw.mlir.operation import Operation
from celosia.sw.mlir.read_graph import blank_constants, graph_of

__all__ = ["CEL", "blank_graph"]


class _Tensor(IRDLOperation):
    """A matrix by name."""

    result = result_def(MemRefType)
    step = opt_attr_def(FloatAttr)
    zero_point = opt_attr_def(IntegerAttr)
    cache = opt_attr_def(IntegerAttr)
    scratch = opt_attr_def(IntegerAttr)
    packing = opt_attr_def(StringAttr)

    def verify_(self) -> None:
        kind = self.result.type
        if not isinstance(kind, MemRefType) or len(kind.get_shape()) != 2:
            raise VerifyException(f"a tensor is a matrix, not {kind}")


@irdl_op_definition
class _TensorOp(_Tensor):
    """A matrix that is given, or that operators write."""

    name = "cel.tensor"


@irdl_op_definition
class _ConstantOp(_Tensor):
    """A matrix whose value is beside the text, by the name of a resource."""

    name = "cel.constant"
    resource = attr_def(StringAttr | BytesAttr)


@irdl_op_definition
class _ViewOp(IRDLOperation):
    """A rectangle of a tensor."""

    name = "cel.view"
    whole = operand_def(MemRefType)
    result = result_def(MemRefType)
    row = attr_def(IntegerAttr)
    col = attr_def(IntegerAttr)

    def verify_(self) -> None:
        whole, part = self.whole.type, self.result.type
        assert isinstance(whole, MemRefType)
        assert isinstance(part, MemRefType)
        if whole.element_type != part.element_type:
            raise VerifyException(f"a view of {whole.element_type} is not of {part.element_type}")
        corner = (self.row.value.data, self.col.value.data)
        sizes = zip(corner, part.get_shape(), whole.get_shape(), strict=True)
        if any(not 0 <= first <= all_ - size for first, size, all_ in sizes):
            raise VerifyException(f"a view at {corner} of {part} is not inside of {whole}")


class _Operator(IRDLOperation):
    """An operator of the graph: ``roles`` names each operand by the field that it is."""

    views = var_operand_def(MemRefType)
    roles = attr_def(ArrayAttr)

    def verify_(self) -> None:
        if len(self.roles.data) != len(self.views):
            raise VerifyException(
                f"roles: {len(self.roles.data)} do not name each of {len(self.views)} operands"
            )
        if len(set(self.roles.data)) != len(self.roles.data):
            raise VerifyException("roles: one names two operands")


@irdl_op_definition
class _ReturnOp(IRDLOperation):
    """The outputs."""

    name = "cel.return"
    outputs = var_operand_def(MemRefType)
    traits = traits_def(IsTerminator())


@irdl_op_definition
class _GraphOp(IRDLOperation):
    """A graph, whose operators can be computed in the order in which they stand."""

    name = "cel.graph"
    body = region_def("single_block")
    inputs = attr_def(ArrayAttr)
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        try:
            blank_graph(from_xdsl(self))
        except ValueError as error:
            raise VerifyException(str(error)) from None


def blank_graph(operation: Operation) -> Graph:
    """The graph of an operation ``cel.graph``, verified, with zeros for constants.

    Raises `ValueError` that names the rule that it breaks.
    """
    return graph_of(operation, blank_constants(operation))


_OPERATIONS: Final[list[type[ForeignOperation]]] = [
    _GraphOp,
    _TensorOp,
    _ConstantOp,
    _ViewOp,
    *(irdl_op_definition(type(name, (_Operator,), {"name": name})) for name in OPERATORS),
    _ReturnOp,
]

CEL: Final = Dialect("cel", _OPERATIONS)
"""The dialect."""
