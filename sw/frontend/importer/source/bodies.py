"""Bodies that the standard gives to operators which are functions of others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import FunctionProto, NodeProto, TypeProto, defs
from onnx.helper import make_tensor_type_proto, np_dtype_to_tensor_dtype

from celosia.sw.frontend.nn.operators.operator import TensorType

__all__ = ["function_body", "has_body", "is_standard"]


def is_standard(op: str, domain: str) -> bool:
    """Whether the standard defines an operator of this name, in any version."""
    return defs.has(op, domain)


def has_body(schema: Any) -> bool:
    """Whether the standard gives a body to the operator of this schema."""
    return schema.has_function or schema.has_context_dependent_function


def function_body(
    node: NodeProto, version: int, domain: str, types: Sequence[TensorType | None]
) -> FunctionProto | None:
    """The body of `node` in this version of its domain, on operands of these types, if any."""
    try:
        # The package's types leave out all that schemas say about functions.
        schema: Any = defs.get_schema(node.op_type, version, domain)
    except defs.SchemaError:
        return None
    if schema.has_function:
        versions = [each for each in schema.function_opset_versions if each <= version]
        if not versions:
            return None
        body = schema.get_function_with_opset_version(max(versions))
    elif schema.has_context_dependent_function:
        versions = schema.context_dependent_function_opset_versions
        versions = [each for each in versions if each <= version]
        if not versions:
            return None
        described = [_proto(kind).SerializeToString() for kind in types]
        body = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), described
        )
    else:
        return None
    if not body:
        return None
    found = FunctionProto.FromString(body)
    named = {each.name for each in found.attribute_proto}
    for name, attribute in schema.attributes.items():
        # Bodies refer to attributes whose defaults only the schema has.
        if attribute.default_value.type and name not in named:
            found.attribute_proto.append(attribute.default_value)
    return found


def _proto(kind: TensorType | None) -> TypeProto:
    if kind is None:
        return TypeProto()
    return make_tensor_type_proto(np_dtype_to_tensor_dtype(np.dtype(kind.dtype)), kind.shape)
