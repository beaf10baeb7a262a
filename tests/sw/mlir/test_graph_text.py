"""Graphs survive as text, and texts that are none are refused where they are wrong."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.lab.substitute.graph_file import load_constants, save_text
from celosia.sw.ir.graph import MatMul, Requantize
from celosia.sw.mlir.operation import Operation, print_operation
from celosia.sw.mlir.parser import MAX_DEPTH, parse_operation
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.models import cases
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.mlir.random_graphs import graphs

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)


def assert_equal(one, other):
    assert list(one.tensors.items()) == list(other.tensors.items())
    assert (one.name, one.inputs, one.outputs, one.ops) == (
        other.name,
        other.inputs,
        other.outputs,
        other.ops,
    )
    assert one.constants.keys() == other.constants.keys()
    for name, value in one.constants.items():
        np.testing.assert_array_equal(value, other.constants[name])


@settings(max_examples=100)
@given(graphs())
def test_a_random_graph_reads_back_as_it_was(graph):
    text = print_graph(graph)
    found = parse_graph(text, graph.constants)
    assert_equal(found, graph)
    assert print_graph(found) == text
    text.encode("ascii")


@pytest.mark.parametrize(
    "case",
    [
        cases.matmul_case(7, 20, 5, 0),
        cases.attention_case(2, 20, 16, 0),
        cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), [9, 5], 0),
    ],
    ids=lambda case: case.graph.name,
)
def test_graphs_of_workloads_survive_as_files(case, tmp_path):
    path = tmp_path / "graph.mlir"
    save_text(print_graph(case.graph), case.graph.constants, path)
    assert_equal(parse_graph(path.read_text(), load_constants(path)), case.graph)


def test_constants_are_beside_the_text_and_must_be_what_it_says(tmp_path):
    graph = cases.layernorm_case(3, 20, 0).graph
    path = tmp_path / "graph.mlir"
    save_text(print_graph(graph), graph.constants, path)
    assert "dense" not in path.read_text()
    path.with_suffix(".npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=re.escape(str(path.with_suffix(".npz")))):
        load_constants(path)
    with pytest.raises(ValueError, match=r"line 2, column 3: cel\.constant: there is no value of"):
        parse_graph(constant_text(), {})
    with pytest.raises(ValueError, match=r"resource c is int8 of \(2, 1\), not int8"):
        parse_graph(constant_text(), {"c": np.zeros((2, 1), np.int8)})


def constant_text():
    return (
        '"cel.graph"() ({\n'
        '  %c = "cel.constant"() {name = "c", resource = "c"} : () -> memref<1x1xsi8>\n'
        '  "cel.return"() : () -> ()\n'
        '}) {inputs = [], name = "g"} : () -> ()\n'
    )


FLOATS = st.floats(allow_nan=False)
ATTRIBUTES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | FLOATS | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), ATTRIBUTES, max_size=4))
def test_attributes_of_any_form_read_back(attributes):
    operation = Operation(name="any.thing", attributes=attributes)
    outer = Operation(name="a.b", regions=((operation,), ()))
    assert parse_operation(print_operation(outer)) == outer


TEXT = """"cel.graph"() ({
  %a = "cel.tensor"() {name = "a"} : () -> memref<4x8xsi8>
  %b = "cel.tensor"() {name = "b"} : () -> memref<8x4xsi8>
  %c = "cel.tensor"() {name = "c"} : () -> memref<4x4xsi8>
  %0 = "cel.view"(%b) {col = 0 : i64, row = 0 : i64} : (memref<8x4xsi8>) -> memref<8x4xsi8>
  "cel.matmul"(%c, %a, %0) {
    finish = {kind = "Requantize", scale = 0.5 : f64, zero_point = 0}, name = "p",
    roles = ["out", "a", "b"]} : (memref<4x4xsi8>, memref<4x8xsi8>, memref<8x4xsi8>) -> ()
  "cel.return"(%c) : (memref<4x4xsi8>) -> ()
}) {inputs = ["a", "b"], name = "g"} : () -> ()
"""


def test_a_text_written_by_hand_is_a_graph():
    graph = parse_graph("// A product.\n" + TEXT, {})
    (op,) = graph.ops
    assert isinstance(op, MatMul)
    assert op.finish == Requantize(0.5)
    assert op.macs == 4 * 4 * 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("%a = ", "%a ! ", r"line 2, column 6: '!' begins no word"),
        ('"cel.tensor"() {name = "a"}', '"cel.tensor"( {name = "a"}', "line 2, column 22: a value"),
        ("memref<4x8xsi8>\n", "memref<4x8xsi8\n", "'>' is expected"),
        ("memref<4x8xsi8>\n", "memref<4x8xi8>\n", "line 2, column 3: cel.tensor: type"),
        ("(memref<4x4xsi8>, memref", "(memref<4x5xsi8>, memref", "%c is memref<4x4xsi8>, not"),
        ("(memref<4x4xsi8>, memref", "(memref", "2 types of 3 operands"),
        ("%0 = ", "%a = ", "%a is defined a second time"),
        ("(%c, %a, %0)", "(%c, %a, %1)", "line 6, column 3: cel.matmul: %1 is not defined"),
        ("cel.matmul", "cel.conv", "line 6, column 3: cel.conv: there is no operation cel.conv"),
        ("row = 0 : i64", "row = 1 : i64", r"b\[1:9, 0:4\] is not inside of"),
        ("row = 0 : i64", "row = 0.5 : f64", "row is 0.5, no int"),
        ("row = 0 : i64", "row = 0 : i32", "line 5, column 45: '0' is no number of type i32"),
        ('"Requantize"', '"Swish"', "finish: its kind is none of Sums"),
        ("zero_point = 0}", "zero = 0}", "finish.zero is no field of Requantize"),
        ("scale = 0.5 : f64, ", "", "finish.scale is missing"),
        ("scale = 0.5 : f64, ", 'scale = "x", ', "finish.scale: x is not of its type"),
        ("scale = 0.5 : f64, ", "scale = true, ", "finish.scale: True is not of its type"),
        ("scale = 0.5", "scale = 0.5 : f64, scale = 0.5", "attribute scale is given twice"),
        ('["out", "a", "b"]', '["out", "a"]', "do not name each of 3 operands"),
        ('["out", "a", "b"]', '["out", "a", "w"]', "b is missing"),
        ('["out", "a", "b"]', '["out", "b", "a"]', "is 4x8, not 4x4"),
        ('inputs = ["a", "b"]', 'inputs = ["a", "x"]', "no list of names of tensors"),
        ('  "cel.return"(%c) : (memref<4x4xsi8>) -> ()\n', "", "last operation is not cel.return"),
        ('"cel.return"(%c) : (memref<4x4xsi8>)', '"cel.return"(%b) : (memref<8x4xsi8>)', None),
        ('name = "g"} : () -> ()', 'name = "g"} : () -> () %', "'%' begins no word"),
        ('name = "g"} : () -> ()', 'name = "g"} : () -> () x', "line 10, column 49: the end is"),
        ('"g"', '"\\FF"', "is not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(old, new, message):
    assert old in TEXT
    changed = TEXT.replace(old, new, 1)
    if message is None:
        parse_graph(changed, {})
        return
    with pytest.raises(ValueError, match=message):
        parse_graph(changed, {})


def test_text_cut_short_anywhere_is_refused():
    for length in range(len(TEXT.rstrip()) - 1):
        with pytest.raises(ValueError, match="line"):
            parse_graph(TEXT[:length], {})


def test_depth_is_limited():
    deep = '"a.b"() {x = ' + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "} : () -> ()"
    with pytest.raises(ValueError, match="levels in each other"):
        parse_operation(deep)


@given(FLOATS)
def test_floats_are_exact(number):
    operation = Operation(name="a.b", attributes={"x": number})
    found = parse_operation(print_operation(operation)).attributes["x"]
    assert isinstance(found, float)
    assert found.hex() == number.hex()
