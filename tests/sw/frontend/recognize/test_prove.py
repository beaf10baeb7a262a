"""Numbers tell a wrong epsilon, factor and shape from the right one."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.prove import difference, or_hidden, rows_of_all_scales, worst
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import FLOAT, Match

KIND = TensorType("float32", (10, 16))


def chain(epsilon):
    """An RMSNorm, operator by operator."""
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)
    mean = builder.op("reduce_mean", builder.op("mul", x, x), axes=(1,), keepdims=True)
    root = builder.op("sqrt", builder.op("add", mean, builder.like(epsilon, x)))
    return builder.finish({"out": builder.op("div", x, root, name="out")})


def proof(graph, epsilon):
    def build(builder, operands):
        gamma = builder.constant(np.ones(16, builder.type(operands[0]).dtype))
        return builder.op("rmsnorm", operands[0], gamma, axis=-1, epsilon=epsilon)

    return difference(Reader(graph), "out", ["x"], build, {})


@pytest.mark.parametrize("epsilon", [1e-5, 1e-6, 1e-12])
def test_the_right_epsilon_is_proved(epsilon):
    assert proof(chain(epsilon), float(np.float32(epsilon))) is None


@pytest.mark.parametrize(("epsilon", "other"), [(1e-5, 1e-6), (1e-6, 1e-5), (1e-6, 1e-12)])
def test_another_epsilon_is_found_out(epsilon, other):
    reason = proof(chain(epsilon), other)
    assert reason is not None
    assert reason.startswith("numbers show that it is none: ")


def test_a_replacement_of_another_shape_is_refused():
    def build(builder, operands):
        return builder.op("reshape", operands[0], shape=(160,))

    reason = difference(Reader(chain(1e-5)), "out", ["x"], build, {})
    assert reason == "its replacement is float64[160], not float64[10x16]"


def test_what_cannot_be_built_is_refused():
    def build(builder, operands):
        return builder.op("reshape", operands[0], shape=(7,))

    reason = difference(Reader(chain(1e-5)), "out", ["x"], build, {})
    assert reason is not None
    assert reason.startswith("it has no replacement")


def test_rows_are_of_all_scales_constant_and_zero():
    rows = rows_of_all_scales(np.random.default_rng(0), KIND)
    sizes = np.abs(rows).max(axis=1)
    assert sizes[0] < 1e-2 < sizes[1] < 10 < sizes[2]
    assert (rows[3] == rows[3, 0]).all()
    assert not rows[4].any()


def products():
    """A product of what is turned with itself: the operand `turned` is between `x` and the root."""
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)
    turned = builder.op("transpose", x, permutation=(1, 0), name="turned")
    again = builder.op("transpose", turned, permutation=(1, 0))
    return builder.finish({"out": builder.op("matmul", again, turned, name="out")})


def proof_of_products(factor):
    def build(builder, operands):
        x, turned = operands
        return builder.op("mul", builder.op("matmul", x, turned), builder.like(factor, x))

    return difference(Reader(products()), "out", ["x", "turned"], build, {})


def test_an_operand_that_another_one_computes_is_no_number_of_its_own():
    assert proof_of_products(1.0) is None


def test_a_replacement_of_such_operands_is_still_compared():
    reason = proof_of_products(1.001)
    assert reason is not None
    assert "numbers show that it is none" in reason


def test_likeness_tells_views_of_operands_apart():
    """Values that are the keys, turned in one way or another, are other parts."""

    def likeness(*views):
        builder = GraphBuilder("test")
        x = builder.input("x", TensorType("float32", (4, 4)))
        turned = x
        for op, attributes in views:
            turned = builder.op(op, turned, name="turned", **attributes)
        graph = builder.finish({"out": builder.op("matmul", turned, turned, name="out")})
        (node,) = [each for each in graph.nodes if each.op == "matmul"]
        match = Match(
            what="", root=node.name, operands=("x", node.inputs[0]), build=lambda _, names: names[0]
        )
        return FLOAT.likeness(Reader(graph), match)

    turn = ("transpose", {"permutation": (1, 0)})
    flip = ("slice", {"starts": (3, 0), "sizes": (4, 4), "steps": (-1, 1)})
    assert likeness(turn) == likeness(turn)
    assert likeness(turn) != likeness(flip)


@pytest.mark.parametrize("kind", ["float32", "bool"])
def test_of_three_rows_one_shows_no_key_and_one_the_last_alone_of_both_ends(kind):
    def ones(_random, kind):
        return np.ones(kind.shape, kind.dtype)

    shape = (2, 5, 4)
    rows = or_hidden(ones)(np.random.default_rng(0), TensorType(kind, shape)).reshape(10, 4)
    hides, shows = (-np.inf, 0) if kind == "float32" else (False, True)
    assert (rows[[0, 3, 6, 9]] == hides).all()
    assert (rows[[1, 4, 7], 0] == hides).all()
    assert (rows[[1, 4, 7], -1] == shows).all()
    assert (rows[[1, 4, 7], 1:3] == 1).all()
    assert (rows[[2, 5, 8]] == 1).all()


def test_rows_of_zeros_differ_only_from_others():
    zeros = np.zeros((3, 4))
    assert worst(zeros, zeros) is None
    said = "numbers show that it is none: 1e-300 apart in a row of up to 0"
    assert worst(zeros, np.full((3, 4), 1e-300)) == said


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0), (2, 3, 4)], ids=str)
def test_tensors_of_any_rank_are_compared(shape):
    for dtype in (np.float64, np.int64):
        ones = np.ones(shape, dtype)
        assert worst(ones, ones.copy()) is None
        assert (worst(ones, ones + 1) is None) is (ones.size == 0)


def test_a_row_may_differ_by_a_millionth_of_its_largest_element():
    """And by a thousandth of a millionth of the largest element of all rows."""
    rows = np.array([[1.0, -0.5], [1000.0, 0.0]])
    for times, right in ((0.99, True), (1.01, False)):
        found = rows.copy()
        found[0, 1] += times * (1e-6 + 1e-9 * 1000)
        assert (worst(rows, found) is None) is right
