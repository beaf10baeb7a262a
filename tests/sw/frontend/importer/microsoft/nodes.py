"""One node of ONNX Runtime's own, by the float graph and by ONNX Runtime."""

from copy import deepcopy

import numpy as np
from onnx import helper
from onnx.numpy_helper import from_array

from celosia.sw.frontend.nn.interpret import interpret
from tests.support.onnx_runtime import run_session, runtime_session
from tests.sw.frontend.importer.models import imported

__all__ = ["by_runtime", "compare", "model_of"]


def model_of(op, inputs, outputs=("y",), domain="com.microsoft", **attributes):
    """A model of one node and its inputs by name; an input of None is left out."""
    values = {f"i{k}": np.asarray(value) for k, value in enumerate(inputs) if value is not None}
    names = ["" if value is None else f"i{k}" for k, value in enumerate(inputs)]
    node = helper.make_node(op, names, outputs, name="node", domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "test",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for name, value in values.items()
        ],
        [helper.make_empty_tensor_value_info(name) for name in filter(None, outputs)],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9), values


def by_runtime(proto, values):
    """What ONNX Runtime computes; int8 is constant, for only such weights' products are exact."""
    constant = {name for name, value in values.items() if value.dtype == np.int8}
    given = [each for each in proto.graph.input if each.name not in constant]
    proto = deepcopy(proto)
    proto.graph.ClearField("input")
    proto.graph.input.extend(given)
    proto.graph.initializer.extend(from_array(values[name], name) for name in constant)
    left = {name: value for name, value in values.items() if name not in constant}
    return run_session(runtime_session(proto), left)


def compare(
    op, inputs, outputs=("y",), domain="com.microsoft", *, within=(1e-4, 2e-6), **attributes
):
    """Run one node by the float graph and by ONNX Runtime; an input of None is left out.

    `within`: how far apart numbers may be, relatively and absolutely.
    """
    proto, values = model_of(op, inputs, outputs, domain, **attributes)
    found = imported(proto)
    assert not found.lost, found.refused
    results = interpret(found.graph, values)
    for name, wanted in zip(filter(None, outputs), by_runtime(proto, values), strict=True):
        assert isinstance(wanted, np.ndarray)
        assert results[name].dtype == wanted.dtype
        np.testing.assert_allclose(
            results[name].astype(float), wanted.astype(float), *within, err_msg=name
        )
    return found.graph
