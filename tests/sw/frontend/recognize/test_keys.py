"""Large biases of keys are left out, where nobody but attention reads these keys."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.keys import _without_bias, find_key_biases
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.rewriting.engine import Refusal

ROWS, HEADS, WIDTH = 5, 2, 4
COLS = HEADS * WIDTH


def attention(bias, *, last: bool = True, shared: str = "", causal: bool = False) -> FloatGraph:
    """Two heads, whose keys have this bias; who else reads them, if anybody."""
    random, builder = np.random.default_rng(0), GraphBuilder("keys")
    x = builder.input("x", TensorType("float32", (1, ROWS, COLS)))

    def product() -> str:
        weights = random.standard_normal((COLS, COLS)).astype(np.float32) / COLS**0.5
        return builder.op("matmul", x, builder.constant(weights))

    def heads(name: str) -> str:
        split = builder.op("reshape", name, shape=(1, ROWS, HEADS, WIDTH))
        return builder.op("transpose", split, permutation=(0, 2, 1, 3))

    value = builder.constant(np.asarray(bias, np.float32))
    q, k, v = product(), product(), product()
    k = builder.op("add", k, value) if last else builder.op("add", value, k)
    operands = [heads(q), heads(k), heads(v)]
    if shared == "query":
        operands[0] = operands[1]
    context = builder.op("attention", *operands, scale=WIDTH**-0.5, causal=causal, first_query=0)
    outputs = {"y": context} | ({"k": k} if shared == "output" else {})
    return builder.finish(outputs)


def left_out(graph: FloatGraph) -> int:
    """How many biases are left out; the graph computes the same without them."""
    found = [each for each in find_key_biases(Reader(graph)) if not isinstance(each, Refusal)]
    done = rewrite(graph, find_key_biases)
    x = np.random.default_rng(1).standard_normal((1, ROWS, COLS)).astype(np.float32)
    for name, value in interpret(graph, {"x": x}).items():
        np.testing.assert_allclose(interpret(done.graph, {"x": x})[name], value, atol=2e-3)
    ops = [node.op for node in done.graph.nodes]
    assert ops.count("add") == 1 - len(found)
    return len(found)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_a_large_bias_of_keys_is_left_out(last, causal):
    bias = np.zeros(COLS)
    bias[3] = 40
    assert left_out(attention(bias, last=last, causal=causal)) == 1
    assert left_out(attention(-bias.reshape(1, COLS), last=last, causal=causal)) == 1


def test_a_small_one_stays():
    assert left_out(attention(np.full(COLS, 2.0))) == 0


@pytest.mark.parametrize("shared", ["query", "output"])
def test_keys_that_somebody_else_reads_keep_theirs(shared):
    assert left_out(attention(np.full(COLS, 40.0), shared=shared)) == 0


def test_what_differs_from_row_to_row_stays():
    rows = np.zeros((ROWS, COLS))
    rows[2] = 40
    assert left_out(attention(rows)) == 0


@pytest.mark.parametrize(("number", "large"), [(8.0, 0), (8.01, 1), (-8.01, 1), (-8.0, 0)])
def test_a_bias_is_large_above_four_times_what_its_column_has(number, large):
    """The column's weights are 1.2 and 1.6: of rows of normal numbers it has 2."""
    builder = GraphBuilder("one")
    x = builder.input("x", TensorType("float32", (3, 2)))
    weights = builder.constant(np.array([[0.1, 1.2], [0.1, 1.6]], np.float32))
    bias = builder.constant(np.array([0, number], np.float32))
    product = builder.op("matmul", x, weights)
    total = builder.op("add", product, bias)
    reader = Reader(builder.finish({"y": total}))
    (node,) = (node for node in reader.nodes if node.op == "add")
    assert (_without_bias(reader, node) is not None) == large
