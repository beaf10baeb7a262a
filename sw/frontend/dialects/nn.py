"""Dialect ``nn`` in xDSL: the float graph, one to one; an operation for each of its operators.

Operations check the types of their results by the rules of `celosia.sw.frontend.nn.operators`.
"""

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, BytesAttr, DictionaryAttr, StringAttr, TensorType
from xdsl.ir import Dialect
from xdsl.ir import Operation as ForeignOperation
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    opt_attr_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from celosia.sw.frontend.dialects.attributes import from_foreign
from celosia.sw.frontend.dialects.bridge import from_xdsl
from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.frontend.nn.operators.operator import TensorType as FloatType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.nn.text import blank_constants, float_graph_of, tensor_of

__all__ = ["NN"]


@irdl_op_definition
class _InputOp(IRDLOperation):
    """A tensor that is given."""

    name = "nn.input"
    result = result_def(TensorType)


@irdl_op_definition
class _ConstantOp(IRDLOperation):
    """A tensor whose value is beside the text, by the name of a resource."""

    name = "nn.constant"
    result = result_def(TensorType)
    resource = attr_def(StringAttr | BytesAttr)


class _Operator(IRDLOperation):
    """An operator of the float graph; ``with`` has its attributes."""

    operands_ = var_operand_def(TensorType)
    result = result_def(TensorType)
    origin = opt_attr_def(StringAttr | BytesAttr)

    def verify_(self) -> None:
        given = self.attributes.get("with", DictionaryAttr({}))
        operator = OPERATORS[self.name.removeprefix("nn.")]
        try:
            attributes = from_foreign(given)
            if not isinstance(attributes, Mapping):
                raise VerifyException(f"with: {given} is no dictionary")
            types = [_type(str(each.type)) for each in self.operands_]
            found = operator.result_type(types, attributes)
            expected = _type(str(self.result.type))
        except ValueError as error:
            raise VerifyException(str(error)) from None
        if found != expected:
            raise VerifyException(f"its result is {found}, not {expected}")


def _type(text: str) -> FloatType:
    found = tensor_of(text)
    if found is None:
        raise GraphError(f"{text} is no type of float graphs")
    return found


def _defined(operator: str, doc: str) -> type[ForeignOperation]:
    """The operation of an operator."""
    name = f"nn.{operator}"
    return irdl_op_definition(type(f"_{operator}_op", (_Operator,), {"name": name, "__doc__": doc}))


@irdl_op_definition
class _ReturnOp(IRDLOperation):
    """The outputs, by their names."""

    name = "nn.return"
    outputs = var_operand_def(TensorType)
    names = attr_def(ArrayAttr)
    traits = traits_def(IsTerminator())


@irdl_op_definition
class _GraphOp(IRDLOperation):
    """A graph, whose operators can be computed in the order in which they stand."""

    name = "nn.graph"
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def verify_(self) -> None:
        try:
            operation = from_xdsl(self)
            float_graph_of(operation, blank_constants(operation))
        except ValueError as error:
            raise VerifyException(str(error)) from None


NN: Final = Dialect(
    "nn",
    [
        _GraphOp,
        _InputOp,
        _ConstantOp,
        *(_defined(operator.name, operator.doc) for operator in OPERATORS.values()),
        _ReturnOp,
    ],
)
"""The dialect."""
