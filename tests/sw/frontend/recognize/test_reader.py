"""What recognizers ask of a graph, answered for a graph that is small enough to be read."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.recognize import without_roundings

F = "float32"


def made():
    """x: 2x3; twice = x * 2; third = 1 / 4 ... and views of them, by their names."""
    build = GraphBuilder("g")
    x, y = build.input("x", TensorType(F, (2, 3))), build.input("y", TensorType(F, (2, 3)))
    two, four = (
        build.constant(np.float32(2), "two"),
        build.constant(np.array([[4]], np.float32), "four"),
    )
    zero, row = build.constant(np.float32(0), "zero"), build.constant(np.ones(3, np.float32), "row")
    names = {"x": x, "y": y, "two": two, "row": row}
    for name, op, operands in (
        ("twice", "mul", (x, two)),
        ("before", "mul", (two, x)),
        ("quarter", "div", (x, four)),
        ("inverse", "div", (two, x)),
        ("never", "div", (x, zero)),
        ("rows", "mul", (x, row)),
        ("sum", "add", (x, y)),
    ):
        names[name] = build.op(op, *operands, name=name)
    wide = build.constant(np.full((4, 2, 3), 5, np.float32), "wide")
    names["spread"] = build.op("mul", x, wide, name="spread")
    names["turned"] = build.op("transpose", names["sum"], permutation=(1, 0), name="turned")
    names["flat"] = build.op("reshape", names["turned"], shape=(6,), name="flat")
    names["last"] = build.op("mul", names["flat"], two, name="last")
    return build.finish({name: names[name] for name in names if name not in {"two", "row"}}), names


@pytest.fixture(scope="module")
def known():
    graph, names = made()
    return Reader(graph), names


def test_a_tensor_is_a_multiple_of_another_by_one_number(known):
    reader, names = known
    x = names["x"]
    assert reader.scaled(names["twice"]) == (x, 2.0)
    assert reader.scaled(names["before"]) == (x, 2.0)
    assert reader.scaled(names["quarter"]) == (x, 0.25)
    assert reader.scaled(names["never"]) == (x, 0.0)
    for other in ("inverse", "rows", "sum", "x", "flat", "spread"):
        assert reader.scaled(names[other]) is None, other


def test_a_number_is_a_constant_of_one_element(known):
    reader, names = known
    assert reader.scalar(names["two"]) == 2.0
    assert reader.scalar(names["row"]) is None
    assert reader.scalar(names["x"]) is None
    assert reader.value(names["x"]) is None


def test_a_producer_may_have_to_be_of_some_operators(known):
    reader, names = known
    node = reader.producer(names["sum"])
    assert node is not None
    assert node.op == "add"
    assert reader.producer(names["sum"], "mul", "add") is node
    assert reader.producer(names["sum"], "mul") is None
    assert reader.producer(names["x"]) is None


def test_views_are_followed_to_what_they_are_of(known):
    reader, names = known
    source, views = reader.chain(names["flat"])
    assert source == names["sum"]
    assert [view.op for view in views] == ["transpose", "reshape"]
    assert reader.chain(names["sum"]) == (names["sum"], [])
    assert reader.view(names["last"]) is None


def test_what_lies_between_is_in_order_and_ends_at_operands(known):
    reader, names = known
    found = reader.between(names["last"], [names["sum"]])
    assert [node.op for node in found] == ["transpose", "reshape", "mul"]
    assert reader.between(names["sum"], [names["sum"]]) == []
    with pytest.raises(KeyError, match=names["y"]):
        reader.between(names["last"], [names["x"]])
    whole = reader.between(names["last"], [names["x"], names["y"]])
    assert [node.op for node in whole] == ["add", "transpose", "reshape", "mul"]


def test_operands_that_others_compute_are_left_out(known):
    reader, names = known
    x, y, total = names["x"], names["y"], names["sum"]
    assert reader.given([x, y, total, x]) == [x, y]
    assert reader.given([total, x]) == [total, x]
    assert reader.given([total]) == [total]
    assert reader.given([names["two"], x]) == [names["two"], x]
    assert reader.origins(names["last"]) == {x, y}
    assert reader.origins(names["twice"]) == {x}


def test_views_are_made_again_of_another_tensor(known):
    reader, names = known
    build = GraphBuilder("again")
    other = build.input("other", TensorType(F, (2, 3)))
    again = build.finish({"out": reader.replay(build, other, reader.chain(names["flat"])[1])})
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert interpret(again, {"other": values})["out"].tolist() == [0, 3, 1, 4, 2, 5]


def test_roundings_to_16_bits_are_left_out_and_nothing_else():
    build = GraphBuilder("g")
    x = build.input("x", TensorType(F, (2,)))
    small = build.op("round_float", x, to="float16")
    graph = build.finish({"y": build.op("add", small, x)})
    values = np.array([1.0001, 2.0], np.float32)
    assert [node.op for node in graph.nodes] == ["round_float", "add"]
    plain = without_roundings(graph)
    assert [node.op for node in plain.nodes] == ["add"]
    assert np.array_equal(interpret(plain, {"x": values})["y"], values + values)
    assert without_roundings(plain) is plain
