"""Nearly all multiply-accumulates of transformers are the accelerator's."""

from collections import Counter

import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sw.frontend.importer.import_model import import_model
from celosia.sw.frontend.placement.placement import place
from celosia.sw.frontend.placement.rules import Where
from celosia.sw.frontend.recognize.recognize import recognize

SIZES = {"batch": 1, "sequence": 12, "encoder_sequence": 9}


def placement(name, folder):
    model = EXPORTS[name].build(SMALL)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    shapes = (value.type.tensor_type.shape.dim for value in model.graph.input)
    opened = {size.dim_param for shape in shapes for size in shape}
    graph = import_model(path, {key: SIZES[key] for key in opened & SIZES.keys()}).graph
    placed = place(graph, recognize(graph))
    assert placed.macs == sum(graph.macs().values())
    return placed


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "hybrid"])
def test_a_transformer_is_on_the_accelerator(name, tmp_path):
    assert placement(name, tmp_path).accelerator_mac_share > 0.99


def test_a_convolution_of_groups_is_the_host_s(tmp_path):
    placed = placement("hybrid", tmp_path)
    convolutions = [node for node in placed.nodes if "(Conv)" in node.origin]
    assert Counter(node.where for node in convolutions) == {Where.ACCELERATOR: 3, Where.HOST: 1}
    assert 0.9 < placed.accelerator_mac_share < 1
    assert placed.on_host()["it is a convolution of 32 groups"] == 1


def test_both_products_of_attention_stand_in_the_table(tmp_path):
    nodes = {node.origin: node for node in placement("bert-13", tmp_path).nodes}
    module = "/encoder/layer.0/attention/self"
    scores, softmax = (
        nodes[f"{module}/{name}"] for name in ("MatMul (MatMul)", "Softmax (Softmax)")
    )
    assert scores.macs == 12 * 12 * SMALL.width
    assert scores.where == softmax.where == Where.ACCELERATOR
    assert scores.reason == softmax.reason == f"part of {module}/MatMul_1 (MatMul)"
