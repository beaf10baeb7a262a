"""Attributes that a node does not have are what the standard says."""

from copy import deepcopy
from pkgutil import iter_modules

import numpy as np
from onnx import defs
from onnx.backend.test.case import node as node_tests

from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.table import HANDLERS
from tests.sw.frontend.importer.models import imported
from tests.sw.frontend.importer.node_cases import cases, operator

SLOW = {"averagepool", "lppool", "maxpool"}
"""Modules that take ten seconds to make their cases."""


def spelled_out(model):
    """For each attribute that a model's only node has by default, its name and the other model."""
    (node,), versions = model.graph.node, {each.domain: each.version for each in model.opset_import}
    schema = defs.get_schema(node.op_type, versions[node.domain], node.domain)
    given = {each.name for each in node.attribute}
    for name, attribute in schema.attributes.items():
        if attribute.default_value.type and name not in given:
            changed = deepcopy(model)
            changed.graph.node[0].attribute.append(attribute.default_value)
            yield name, changed


def told(model):
    """What nodes are and compute with, their numbers as files have them; or why there are none."""
    try:
        found = imported(model)
    except ImportProblem as problem:
        return str(problem)
    if found.refused:
        return str(found.refused)
    graph = found.graph

    def rounded(value):
        return float(np.float32(value)) if isinstance(value, float) else value

    constants = {name: (each.dtype, each.tolist()) for name, each in graph.constants.items()}
    nodes = [
        (each.op, each.inputs, each.type, {k: rounded(v) for k, v in each.attributes.items()})
        for each in graph.nodes
    ]
    return nodes, constants, graph.outputs


def test_what_attributes_are_by_default_is_what_onnx_says():
    """A node without an attribute is the same as one on which the default of onnx is written."""
    seen = {("RNN", "activations")}  # By default, they are those of both directions.
    for case in cases({each.name for each in iter_modules(node_tests.__path__)} - SLOW):
        (first, *others) = case.model.graph.node
        if others or first.op_type not in HANDLERS[""]:
            continue
        new = [each for each in spelled_out(case.model) if (operator(case), each[0]) not in seen]
        plain = told(case.model) if new else ""
        for name, changed in new:
            assert told(changed) == plain, (case.name, name)
            if not isinstance(plain, str):
                seen.add((operator(case), name))
    assert len(seen) > 80
