"""Where `moved_axis` names an axis of tokens, a token changes its own row of the result alone."""

import numpy as np
import pytest

from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.row_rules import moved_axis
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.reader import Reader

SHAPE = (3, 5, 4)
"""Sizes that tell the axes apart."""
RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.standard_normal((4, 4)).astype(np.float32)
ROW = RANDOM.standard_normal(4).astype(np.float32)

NODES = (
    {
        "relu": lambda b, x: b.op("relu", x),
        "add": lambda b, x: b.op("add", x, b.constant(ROW)),
        "softmax 2": lambda b, x: b.op("softmax", x, axis=2),
        "softmax 1": lambda b, x: b.op("softmax", x, axis=1),
        "layernorm 2": lambda b, x: b.op("layernorm", x, b.constant(ROW), axis=2, epsilon=1e-5),
        "matmul": lambda b, x: b.op("matmul", x, b.constant(MATRIX)),
        "transpose": lambda b, x: b.op("transpose", x, permutation=(2, 0, 1)),
        "broadcast": lambda b, x: b.op("broadcast", x, shape=(2, *SHAPE)),
        "slice": lambda b, x: b.op("slice", x, starts=(0, 0, 1), sizes=(3, 5, 2), steps=(1, 1, 1)),
        "reshape apart": lambda b, x: b.op("reshape", x, shape=(3, 5, 2, 2)),
        "reshape one": lambda b, x: b.op("reshape", x, shape=(15, 4)),
        "gather 0": lambda b, x: b.op("gather", x, b.constant(np.array([[2, 0], [1, 1]])), axis=0),
        "gather 1": lambda b, x: b.op("gather", x, b.constant(np.array(3)), axis=1),
        "gather 2": lambda b, x: b.op("gather", x, b.constant(np.array([[0, 1]])), axis=2),
        "concat 0": lambda b, x: b.op("concat", x, x, axis=0),
        "concat 1": lambda b, x: b.op("concat", x, x, axis=1),
        "concat 2": lambda b, x: b.op("concat", x, x, axis=2),
    }
    | {
        f"pad {way} {axis}": lambda b, x, way=way, axis=axis: b.op(
            "pad",
            x,
            b.like(0, x),
            **{
                each: tuple(int(each == way and at == axis) for at in range(3))
                for each in ("before", "after")
            },
        )
        for way in ("before", "after")
        for axis in range(3)
    }
    | {
        f"{op} {axes} {keeps}": lambda b, x, op=op, axes=axes, keeps=keeps: b.op(
            op, x, axes=axes, keepdims=keeps
        )
        for op in ("reduce_sum", "reduce_max")
        for axes in ((0,), (1,), (2,), (0, 2))
        for keeps in (False, True)
    }
)


def changed_by(graph, x, axis, token):
    """Where results change with what one token has."""
    other = x.copy()
    other[(slice(None),) * axis + (token,)] = 9
    first, second = (interpret(graph, {"x": each})["y"] for each in (x, other))
    return first != second


def moved(graph, axis):
    """The axis of tokens of the graph's only node; None: its rows depend on other tokens."""
    try:
        return moved_axis(Reader(graph), graph.nodes[0], {"x": axis})[0]
    except DecoderProblem:
        return None


def graph_of(name):
    build = GraphBuilder("one")
    x = build.input("x", TensorType("float32", SHAPE))
    return build.finish({"y": NODES[name](build, x)})


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("name", NODES)
def test_a_token_changes_its_own_row(name, axis):
    if (name, axis) == ("slice", 2):
        return  # It picks tokens, which `step_graph` refuses.
    graph, values = graph_of(name), RANDOM.standard_normal(SHAPE).astype(np.float32)
    found = moved(graph, axis)
    if found is None:
        return
    others = tuple(at for at in range(graph.nodes[0].type.rank) if at != found)
    rows = [changed_by(graph, values, axis, each).any(axis=others) for each in range(SHAPE[axis])]
    np.testing.assert_array_equal(rows, np.eye(SHAPE[axis], dtype=bool))


def test_what_keeps_tokens_apart_has_an_axis_of_them():
    mixing = {"softmax 1", "gather 1", "concat 1", "pad before 1", "pad after 1", "reshape one"}
    apart = {name for name in NODES if moved(graph_of(name), 1) is not None}
    assert apart == NODES.keys() - mixing - {name for name in NODES if "(1,)" in name}


SIDE = 4
"""All sizes are alike here: none tells which axis is that of tokens."""
PAIRS = {
    "add": lambda b, x, other: b.op("add", x, other),
    "matmul": lambda b, x, other: b.op("matmul", x, other),
    "layernorm": lambda b, x, other: b.op("layernorm", x, other, axis=1, epsilon=1e-5),
    "concat 0": lambda b, x, other: b.op("concat", x, other, axis=0),
    "concat 1": lambda b, x, other: b.op("concat", x, other, axis=1),
    "gather 0": lambda b, x, other: b.op("gather", x, other, axis=0),
    "gather 1": lambda b, x, other: b.op("gather", x, other, axis=1),
    "gathered 0": lambda b, x, other: b.op("gather", other, x, axis=0),
    "gathered 1": lambda b, x, other: b.op("gather", other, x, axis=1),
}
"""Operators with another operand, of one or two axes."""


def rows_that_change(graph, given, along, axis):
    """Which rows of the result along `axis` change with each row of `other` `along` another."""
    first, found = interpret(graph, given)["y"], []
    rest = tuple(each for each in range(first.ndim) if each != axis)
    for row in range(SIDE):
        other = given["other"].copy()
        place = (slice(None),) * along + (row,)
        other[place] = 3 - other[place] if other.dtype == np.int64 else other[place] + 9 + row
        found.append((interpret(graph, given | {"other": other})["y"] != first).any(axis=rest))
    return np.array(found)


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", PAIRS)
def test_another_operand_has_tokens_if_each_of_its_rows_changes_one_token(name, axis, rank):
    ranks = {"layernorm": (1,), "gather 0": (1, 2), "gather 1": (1, 2), "add": (1, 2)}
    if rank not in ranks.get(name, (2,)):
        return  # There is no such node.
    build, kinds = GraphBuilder("one"), {}
    kinds["x"] = "int64" if name.startswith("gathered") else "float32"
    kinds["other"] = "int64" if name.startswith("gather ") else "float32"
    shapes = {"x": (SIDE,) * 2, "other": (SIDE,) * rank}
    for each, kind in kinds.items():
        build.input(each, TensorType(kind, shapes[each]))
    graph = build.finish({"y": PAIRS[name](build, "x", "other")})
    given = {
        each: RANDOM.integers(0, SIDE, shapes[each])
        if kind == "int64"
        else RANDOM.standard_normal(shapes[each]).astype(np.float32)
        for each, kind in kinds.items()
    }
    try:
        found, others = moved_axis(Reader(graph), graph.nodes[-1], {"x": axis})
    except DecoderProblem:
        return
    place = graph.nodes[-1].inputs.index("other")
    own = np.eye(SIDE, dtype=bool)
    expected = [
        along
        for along in range(rank)
        if np.array_equal(rows_that_change(graph, given, along, found), own)
    ]
    assert [along for at, along in others.items() if at == place] == expected
