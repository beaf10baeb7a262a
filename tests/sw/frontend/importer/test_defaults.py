"""What handlers take for an attribute that is left out is what ONNX and ONNX Runtime say."""

import ast
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType

import pytest
from onnx import AttributeProto, defs, helper

from celosia.sw.frontend.importer.handlers.registry import Handler
from celosia.sw.frontend.importer.table import HANDLERS, MICROSOFT

IMPORTER = "celosia.sw.frontend.importer"
BY_OPERATOR = {
    ("RNN", "activations"): "as many as there are directions: test_recurrent.py has them",
}


def of_runtime() -> dict[tuple[str, str], AttributeProto]:
    """The defaults of ONNX Runtime's own operators, by operator and attribute."""
    runtime = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    return {
        (schema.name, name): AttributeProto.FromString(attribute._default_value)
        for schema in runtime.get_all_operator_schema()
        if schema.domain == MICROSOFT
        for name, attribute in schema.attributes.items()
    }


def of_onnx(operators: Iterator[str]) -> dict[tuple[str, str], AttributeProto]:
    """The defaults of ONNX's operators in their newest form."""
    return {
        (operator, name): attribute.default_value
        for operator in operators
        if defs.has(operator)
        for name, attribute in defs.get_schema(operator).attributes.items()
    }


def functions(handler: Handler) -> set[FunctionType]:
    """A handler, and the importer's functions that it calls."""
    left, found = [handler], set()
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or function in found:
            continue
        if function.__module__.startswith(IMPORTER):
            found.add(function)
            left += [function.__globals__.get(name) for name in function.__code__.co_names]
    return found


def taken(handler: Handler) -> dict[str, list[object]]:
    """What a handler takes where an attribute is left out, but what depends on the node."""
    found = defaultdict(list)
    for function in functions(handler):
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="attribute"), args=[ast.Constant(str(name)), default]
                ):
                    try:
                        found[name].append(eval(ast.unparse(default), function.__globals__))
                    except NameError:
                        found[name].append(...)
    return found


@pytest.mark.parametrize("domain", HANDLERS)
def test_attributes_that_are_left_out(domain):
    handlers = HANDLERS[domain]
    known = of_runtime() if domain == MICROSOFT else of_onnx(iter(handlers))
    compared = 0
    for operator, handler in handlers.items():
        for name, values in taken(handler).items():
            said = known.get((operator, name))
            if said is None or not said.type or ... in values or (operator, name) in BY_OPERATOR:
                continue
            wanted = helper.get_attribute_value(said)
            wanted = wanted.decode() if isinstance(wanted, bytes) else wanted
            # A handler of several operators may have a default for each.
            assert pytest.approx(wanted) in values, f"{operator}.{name}"
            compared += 1
    assert compared > 20
