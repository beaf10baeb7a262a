"""Both dialects: what graphs print, xDSL parses, verifies, and prints, and nothing is lost."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.frontend.dialects.text import (
    _place,
    dialects,
    parse_verified,
    print_through_xdsl,
)
from celosia.sw.frontend.nn.text import (
    float_graph_of,
    float_graph_operation,
    print_float_graph,
)
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.mlir.operation import Place
from celosia.sw.mlir.print_graph import graph_operation, print_graph
from celosia.sw.mlir.read_graph import graph_of
from tests.sw.frontend.nn.test_text import graphs as float_graphs
from tests.sw.mlir.random_graphs import graphs
from tests.sw.mlir.test_graph_text import assert_equal


def assert_comes_back(graph):
    """The graph, through its own text and through xDSL's, is what it was."""
    found = graph_of(parse_verified(print_graph(graph)), graph.constants)
    assert_equal(found, graph)
    text = print_through_xdsl(graph_operation(found))
    again = graph_of(parse_verified(text), graph.constants)
    assert_equal(again, graph)
    return again


def assert_means_the_same(case):
    again = assert_comes_back(case.graph)
    expected, found = (interpret(graph, case.inputs) for graph in (case.graph, again))
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


@settings(max_examples=8)
@given(graphs())
def test_a_graph_with_odd_names_and_numbers_comes_back(graph):
    assert_comes_back(graph)


@settings(max_examples=8)
@given(float_graphs())
def test_a_float_graph_comes_back(graph):
    for text in (print_float_graph(graph), print_through_xdsl(float_graph_operation(graph))):
        found = float_graph_of(parse_verified(text), graph.constants)
        assert (found.name, found.inputs, found.nodes, found.outputs) == (
            graph.name,
            graph.inputs,
            graph.nodes,
            graph.outputs,
        )
        for name, value in graph.constants.items():
            np.testing.assert_array_equal(found.constants[name], value)


@pytest.mark.parametrize("seed", range(4))
def test_a_random_graph_comes_back_and_means_the_same(seed):
    assert_means_the_same(random_case(seed, combinations=True))


@pytest.mark.nightly
def test_a_thousand_random_graphs_come_back_and_mean_the_same():
    for seed in range(1000):
        assert_means_the_same(random_case(seed, combinations=True))


TEXT = """"cel.graph"() ({
  %x = "cel.tensor"() {name = "x"} : () -> memref<4x8xsi8>
  %p = "cel.view"(%x) {row = 1 : i64, col = 0 : i64} : (memref<4x8xsi8>) -> memref<3x8xsi8>
  %y = "cel.tensor"() {name = "y"} : () -> memref<3x4xsi32>
  "cel.matmul"(%y, %p, %x) {name = "m", b_transposed = true, finish = {kind = "Sums"},
    roles = ["out", "a", "b"]} : (memref<3x4xsi32>, memref<3x8xsi8>, memref<4x8xsi8>) -> ()
  "cel.return"(%y) : (memref<3x4xsi32>) -> ()
}) {inputs = ["x"], name = "g"} : () -> ()
"""

WRONG = [
    (TEXT.replace("cel.view", "cel.vie"), "line 3, column 17: Operation cel.vie is not registered"),
    (TEXT.replace("row = 1", "row = 2"), "line 3, column 3: cel.view: .* is not inside of"),
    (TEXT.replace("3x8xsi8>", "3x8xsi16>"), "line 3, column 3: cel.view: a view"),
    (TEXT.replace("(%y, %p", "(%y, %q"), "values used but not defined: .*%q"),
    (TEXT[:60], "line 2, column 44: type expected"),
    (TEXT.replace('"b"]', '"b", "c"]'), "line 5, column 3: cel.matmul: roles: 4 do not name"),
    (TEXT.replace("3x4xsi32>)", "3x5xsi32>)", 1), "line 7, column 16: operand is used with type"),
    (TEXT.replace("Sums", "Sum"), "line 5, column 3: cel.matmul: finish: its kind is none of"),
    (TEXT.replace("roles", "rolls"), "line 5, column 3: cel.matmul: .*roles"),
    (TEXT + TEXT, "line 1, column 1: one cel.graph or nn.graph is expected"),
    ("[" * 5000, "line 1, column"),
    ("", "line 1, column 1"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_in_a_text_is_named_with_its_place(text, message):
    with pytest.raises(ValueError, match=message):
        graph_of(parse_verified(text), {})


def test_xdsl_alone_verifies_the_rules_of_a_whole_graph():
    Parser(dialects(), TEXT).parse_module().verify()
    unread = re.sub(r'  "cel.matmul".*?-> \(\)\n', "", TEXT, flags=re.DOTALL)
    with pytest.raises(VerifyException, match="output y: not all of it is written"):
        Parser(dialects(), unread).parse_module().verify()


def test_types_of_float_operators_are_verified():
    text = (
        '"nn.graph"() ({\n'
        '  %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>\n'
        '  %y = "nn.matmul"(%x, %x) {name = "y"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> '
        "tensor<4x4xf32>\n"
        '  "nn.return"(%y) {names = ["y"]} : (tensor<4x4xf32>) -> ()\n'
        '}) {name = "g"} : () -> ()\n'
    )
    with pytest.raises(ValueError, match=r"line 3, column 3: nn\.matmul: .* has not as many"):
        parse_verified(text)
    with pytest.raises(ValueError, match=r"line 3, column \d+: .*nn\.conv9 is not registered"):
        parse_verified(text.replace("nn.matmul", "nn.conv9"))


@pytest.mark.parametrize(("offset", "place"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (5, (3, 1))])
def test_a_newline_is_the_last_column_of_its_line(offset, place):
    assert _place("ab\nc\nd", offset) == Place(*place)
