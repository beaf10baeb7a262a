"""Attention of ONNX: what its attributes may be."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from celosia.sw.frontend.importer.import_model import translate
from celosia.sw.frontend.importer.source.model_file import read_model
from tests.sw.frontend.importer.node_cases import cases, judge


@pytest.mark.parametrize("cap", [float("inf"), float("nan"), -1.0])
def test_a_softcap_that_is_no_positive_number_is_refused(cap, tmp_path):
    shape, kind = (1, 2, 4, 8), TensorProto.FLOAT
    given = [helper.make_tensor_value_info(name, kind, shape) for name in "qkv"]
    node = helper.make_node("Attention", list("qkv"), ["y"], softcap=cap)
    out = helper.make_tensor_value_info("y", kind, shape)
    graph = helper.make_graph([node], "g", given, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    found = translate(read_model(path), {}, {})
    (reason,) = found.refused.values()
    assert f"its softcap {np.float32(cap)} is none: a positive finite number" in reason


@pytest.mark.parametrize("module", ["attention", "rotaryembedding"])
def test_cases_of_onnx_are_right(module):
    """Cases are the operator's own; `test_node_cases.py` has those of its expansions, too."""
    found = [case for case in cases([module]) if len(case.model.graph.node) == 1]
    assert len(found) > 5
    assert {case.name: judge(case) for case in found if judge(case)} == {}
