"""Sizes change by products and choices that are known before the model runs."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.nn.interpret import interpret
from tests.sw.frontend.importer.models import floats, imported, model
from tests.sw.frontend.importer.node_cases import cases, judge


def test_all_forms_but_parts_that_are_cut_out():
    reasons = {case.name: judge(case) for case in cases(["resize"])}
    refused = {name: reason for name, reason in reasons.items() if reason}
    assert len(reasons) == 39
    assert all("tf_crop" in name for name in refused)
    assert len(refused) == 4


def resized(constants, **attributes):
    nodes = [
        helper.make_node("Resize", ["table", "", "scales"], ["t"], name="rs", **attributes),
        helper.make_node("Add", ["x", "t"], ["y"]),
    ]
    return model(nodes, {"x": [1, 2, 6, 4]}, ["y"], constants, opset=18)


SCALES = np.array([1, 1, 2, 1], np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_table_is_resized_before_the_model_runs(mode):
    table = floats(1, 2, 3, 4)
    found = imported(resized({"table": table, "scales": SCALES}, mode=mode))
    assert [node.op for node in found.graph.nodes] == ["add"]
    (y,) = interpret(found.graph, {"x": np.zeros((1, 2, 6, 4), np.float32)}).values()
    assert y[..., 1, 0] == pytest.approx(table[..., 0, 0], abs=0.5)


@pytest.mark.parametrize(
    ("attributes", "constants", "message"),
    [
        ({"mode": "magic"}, {}, "its mode magic is unknown"),
        ({"nearest_mode": "up"}, {}, "its nearest_mode up is unknown"),
        ({"axes": [1, 1]}, {"scales": SCALES[:2]}, "are not different ones"),
        ({"axes": [9]}, {"scales": SCALES[:1]}, "axis 9 is not in"),
        ({}, {"scales": SCALES[:3]}, "it has not one size or scale for each of 4 axes"),
        ({}, {"scales": SCALES * 0}, "its result has the sizes"),
        ({}, {"scales": SCALES * -1}, "its result has the sizes"),
        ({}, {"scales": SCALES * np.float32(np.inf)}, "not as the standard says"),
        ({}, {"scales": SCALES * np.float32(1e12)}, "each is 1 to 16384"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, {}, "is not supported"),
    ],
)
def test_what_is_wrong_is_refused(attributes, constants, message):
    given = {"table": floats(1, 2, 3, 4), "scales": SCALES} | constants
    (reason, *_) = imported(resized(given, **attributes)).refused.values()
    with pytest.raises(ValueError, match=message):
        raise ValueError(reason)
