"""How many nodes a model may have, how deep in each other, and which of their outputs there are."""

from contextlib import nullcontext

import pytest
from onnx import helper

from celosia.sw.frontend.importer import import_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from tests.sw.frontend.importer.models import FLOAT, imported, model

node = helper.make_node


@pytest.mark.parametrize(("depth", "reasons"), [(32, 0), (33, 1)])
def test_functions_are_32_deep_at_most(depth, reasons):
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    inner = [node(f"F{number}", ["a"], ["b"], domain="mine") for number in range(1, depth)]
    functions = [
        helper.make_function("mine", f"F{number}", ["a"], ["b"], [body], opsets)
        for number, body in enumerate([*inner, node("Relu", ["a"], ["b"])])
    ]
    call = node("F0", ["x"], ["y"], domain="mine")
    found = imported(model([call], {"x": [2]}, ["y"], functions=functions)).refused
    assert len(found) == reasons
    assert all("more than 32 deep" in reason for reason in found.values())


@pytest.mark.parametrize(("before", "fits"), [(999_998, True), (999_999, False)])
def test_a_model_has_a_million_nodes_at_most(before, fits, monkeypatch):
    """Two of them are here, and the others are taken as counted."""

    class Counted(import_model.Translator):
        def __init__(self, *args):
            super().__init__(*args)
            self._nodes = before

    monkeypatch.setattr(import_model, "Translator", Counted)
    proto = model([node("Relu", ["x"], ["r"]), node("Neg", ["r"], ["y"])], {"x": [2]}, ["y"])
    with nullcontext() if fits else pytest.raises(ImportProblem, match="more than 1,000,000 nodes"):
        imported(proto)


@pytest.mark.parametrize("reader", [None, "indices"])
def test_an_output_that_is_not_computed_is_missed_by_who_reads_it(reader):
    """A node names outputs that its handler does not make, and is right without them."""
    nodes = [node("MaxPool", ["x"], ["pooled", "indices"], name="pool", kernel_shape=[2])]
    nodes.append(node("Relu", ["pooled"], ["y"]))
    if reader:
        nodes.append(node("Cast", [reader], ["z"], name="it", to=FLOAT))
    found = imported(model(nodes, {"x": [1, 1, 4]}, ["y", "z"] if reader else ["y"]))
    expected = "it reads indices, an output of pool (MaxPool) that is not computed"
    assert found.refused == ({"it (Cast)": expected} if reader else {})
