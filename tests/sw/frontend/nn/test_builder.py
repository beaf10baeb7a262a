"""Building folds what is known, leaves out what does nothing, and refuses what has no meaning."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType

X = TensorType("float32", (4, 6))


def start():
    builder = GraphBuilder("test")
    return builder, builder.input("x", X)


def test_what_depends_on_constants_alone_is_a_constant():
    builder, x = start()
    weights = builder.constant(np.arange(12, dtype=np.float32).reshape(2, 6), "w")
    turned = builder.op("transpose", weights, permutation=(1, 0), name="turned")
    out = builder.op("matmul", x, builder.op("mul", turned, builder.like(2, turned)))
    graph = builder.finish({"out": out})
    assert [node.op for node in graph.nodes] == ["matmul"]
    (value,) = graph.constants.values()
    np.testing.assert_array_equal(value, 2 * np.arange(12).reshape(2, 6).T)
    assert not value.flags.writeable


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("reshape", {"shape": (4, 6)}),
        ("broadcast", {"shape": (4, 6)}),
        ("cast", {"to": "float32"}),
        ("slice", {"starts": (0, 0), "sizes": (4, 6), "steps": (1, 1)}),
        ("transpose", {"permutation": (0, 1)}),
        ("concat", {"axis": 0}),
    ],
)
def test_an_operator_that_changes_nothing_is_left_out(op, attributes):
    builder, x = start()
    assert builder.op(op, x, **attributes) == x


@pytest.mark.parametrize(("op", "neutral"), [("add", 0), ("sub", 0), ("mul", 1), ("div", 1)])
def test_a_number_that_changes_nothing_is_left_out(op, neutral):
    """As the factor 1 of embeddings in BART; a - b and a / b are not what 0 - b and 1 / b are."""
    for number, shape, first, left in (
        (neutral, (), True, 0),
        (neutral, (1, 1), True, 0),
        (1 - neutral, (), True, 1),
        (neutral, (), False, op in {"sub", "div"}),
        (neutral, (3, 1, 1), True, 1),
    ):
        builder, x = start()
        value = builder.constant(np.full(shape, number, np.float32), "n")
        out = builder.op(op, *((x, value) if first else (value, x)))
        graph = builder.finish({"out": out})
        assert len(graph.nodes) == left, (number, shape, first)
        assert graph.outputs == {"out": out if left else "x"}


def test_a_slice_that_turns_an_axis_is_kept():
    builder, x = start()
    turned = builder.op("slice", x, starts=(3, 0), sizes=(4, 6), steps=(-1, 1))
    assert turned != x


def test_what_no_element_is_less_than():
    """It follows from operators and from constants; nobody knows it of inputs."""
    builder, x = start()
    weak, strong = builder.like(-1, x), builder.like(1, x)
    magnitude = builder.op("abs", x)
    view = builder.op("transpose", magnitude, permutation=(1, 0))
    along = {"axes": (1,), "keepdims": True}
    above = builder.op("add", magnitude, weak)
    least = {
        x: -np.inf,
        weak: -1,
        strong: 1,
        magnitude: 0,
        builder.op("mul", magnitude, strong): 0,
        builder.op("mul", magnitude, weak): -np.inf,
        above: -1,
        builder.op("add", builder.op("erf", x), strong): 0,
        builder.op("tanh", x): -1,
        builder.op("max", x, strong): 1,
        builder.op("max", x, weak): -1,
        builder.op("min", x, strong): -np.inf,
        builder.op("concat", view, builder.op("exp", view), axis=0): 0,
        builder.op("softmax", x, axis=-1): 0,
        builder.op("neg", magnitude): -np.inf,
        builder.op("mul", x, x): 0,
        builder.op("pow", x, builder.like(2, x)): 0,
        builder.op("pow", x, builder.like(3, x)): -np.inf,
        builder.op("pow", magnitude, x): 0,
        builder.op("reduce_mean", above, **along): -1,
        builder.op("reduce_sum", magnitude, **along): 0,
        builder.op("reduce_sum", above, **along): -np.inf,
        builder.op("reduce_max", x, **along): -np.inf,
    }
    assert {name: builder.least(name) for name in least} == least


def test_what_is_computed_by_a_product():
    builder, x = start()
    mask = builder.op("sub", builder.like(1, x), x)
    product = builder.op("matmul", x, builder.constant(np.ones((6, 6), np.float32)))
    behind = builder.op("add", mask, builder.op("tanh", product))
    assert [builder.is_computed(name) for name in (x, mask, product, behind)] == [0, 0, 1, 1]


def test_dead_nodes_are_dropped_and_inputs_stay():
    builder, x = start()
    builder.input("ids", TensorType("int64", (3,)))
    builder.op("exp", x)
    graph = builder.finish({"out": builder.op("relu", x)})
    assert [node.op for node in graph.nodes] == ["relu"]
    assert list(graph.inputs) == ["x", "ids"]


def test_equal_scalars_are_one_constant():
    builder, x = start()
    assert builder.like(2, x) == builder.like(2, x) != builder.like(3, x)


def test_names_that_are_taken_get_a_number():
    builder, x = start()
    names = [builder.op("exp", x, name="exp") for _ in range(3)]
    assert names == ["exp", "exp.1", "exp.2"]


def test_nodes_know_what_they_stand_for():
    builder, x = start()
    with builder.origin("/layer (Softmax)"):
        y = builder.op("softmax", x, axis=-1)
    graph = builder.finish({"out": builder.op("relu", y)})
    assert [node.origin for node in graph.nodes] == ["/layer (Softmax)", ""]


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "message"),
    [
        ("matmul", ["x", "x"], {}, r"4x6.* has not as many columns"),
        ("add", ["x", "i"], {}, "different types: float32, int64"),
        ("add", ["x"], {}, "2 to 2 operands, not 1"),
        ("softmax", ["x"], {}, "has the attributes axis, not"),
        ("softmax", ["x"], {"axis": 2}, r"axis 2 is not in -2..1"),
        ("softmax", ["x"], {"axis": True}, "True is no int"),
        ("reshape", ["x"], {"shape": (5, 5)}, "has not the elements"),
        ("reshape", ["x"], {"shape": (-4, -6)}, "has not the elements"),
        ("transpose", ["x"], {"permutation": (0, 0)}, "does not name the axes"),
        ("slice", ["x"], {"starts": (2, 0), "sizes": (3, 6), "steps": (1, 1)}, "2 to 4 are not"),
        ("broadcast", ["x"], {"shape": (3, 4, 5)}, "does not broadcast"),
        ("broadcast", ["x"], {"shape": (2**20, 2**20, 4, 6)}, "more than the memory"),
        ("reduce_sum", ["x"], {"axes": (0, -2), "keepdims": True}, "name one twice"),
        ("gather", ["x", "x"], {"axis": 0}, "its indices are float32"),
    ],
)
def test_operands_that_break_a_rule_are_refused(op, operands, attributes, message):
    builder, _ = start()
    builder.input("i", TensorType("int64", (4, 6)))
    with pytest.raises(GraphError, match=message):
        builder.op(op, *operands, **attributes)
