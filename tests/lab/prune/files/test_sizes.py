"""Sizes of nodes that get smaller, in files whose other nodes keep theirs."""

import pytest
from onnx import helper, numpy_helper, parser

from celosia.lab.prune.files.index import Index
from celosia.lab.prune.files.sizes import SmallerSizes

TEXT = """<ir_version: 9, opset_import: ["" : 20]>
g (float[2,64] x, int64[1] n) => (float[?,?,?] y, float[?,?] z) {
  four = Constant <value_ints = [4]> ()
  sixteen = Constant <value = int64[1] {16}> ()
  shape = Concat <axis = 0> (n, four, sixteen)
  y = Reshape (x, shape)
  flat = Constant <value = int64[2] {8, 16}> ()
  q = Reshape (x, shape)
  z = Reshape (q, flat)
}"""


def test_only_these_nodes_get_smaller_sizes():
    graph = parser.parse_model(TEXT).graph
    sizes = SmallerSizes(graph, Index(graph))
    sizes.change([node for node in graph.node if node.output[0] == "y"], {4: 2}, {64: 32})
    sizes.finish()
    by_result = {node.output[0]: node for node in graph.node}
    assert by_result["q"].input[1] == "shape"
    order = [node.output[0] for node in graph.node]
    mine = by_result[by_result["y"].input[1]]
    assert order.index(mine.output[0]) < order.index("y")
    assert (mine.op_type, mine.input[0], mine.input[2]) == ("Concat", "n", "sixteen")
    (new,) = graph.initializer
    assert (new.name, numpy_helper.to_array(new).tolist()) == (mine.input[1], [2])


def test_what_nobody_reads_any_more_goes():
    graph = parser.parse_model(TEXT).graph
    sizes = SmallerSizes(graph, Index(graph))
    sizes.change([node for node in graph.node if node.op_type == "Reshape"], {4: 2}, {})
    sizes.finish()
    assert {"four", "shape"}.isdisjoint(name for node in graph.node for name in node.output)
    assert {"sixteen", "flat"} <= {name for node in graph.node for name in node.output}


def test_heads_that_are_as_many_as_columns_are_the_first_of_both():
    graph = parser.parse_model(TEXT).graph
    flat = next(node for node in graph.node if node.output[0] == "flat").attribute[0].t
    flat.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(flat) * 0 + 8, "flat"))
    sizes = SmallerSizes(graph, Index(graph))
    sizes.change([node for node in graph.node if node.output[0] == "z"], {8: 4}, {})
    sizes.finish()
    assert numpy_helper.to_array(graph.initializer[0]).tolist() == [4, 8]


@pytest.mark.parametrize(
    ("operator", "old", "new"),
    [
        ("Attention", {"num_heads": 4}, {"num_heads": 2}),
        ("Attention", {"qkv_hidden_sizes": [64, 64, 8]}, {"qkv_hidden_sizes": [32, 32, 8]}),
        ("Attention", {"q_num_heads": 4, "kv_num_heads": 4}, {"q_num_heads": 2, "kv_num_heads": 2}),
        (
            "GroupQueryAttention",
            {"num_heads": 4, "kv_num_heads": 4, "rotary_interleaved": 4},
            {"num_heads": 2, "kv_num_heads": 2, "rotary_interleaved": 4},
        ),
        ("MultiHeadAttention", {"num_heads": 4}, {"num_heads": 2}),
        ("Split", {"axis": 4, "split": [64, 64]}, {"axis": 4, "split": [32, 32]}),
    ],
)
def test_attributes_that_are_sizes_by_the_operators_schemas_get_smaller(operator, old, new):
    """Others that happen to be the same number stay."""
    graph = parser.parse_model(TEXT).graph
    node = helper.make_node(operator, ["x"], ["w"], **old)
    graph.node.append(node)
    sizes = SmallerSizes(graph, Index(graph))
    sizes.change([graph.node[-1]], {4: 2}, {64: 32})
    assert {each.name: helper.get_attribute_value(each) for each in graph.node[-1].attribute} == new
