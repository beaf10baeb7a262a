"""Norms are found in the forms that exporters write, with their epsilon."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.norms import find_head_norms, find_norms
from celosia.sw.frontend.recognize.rewrite import rewrite

KIND = TensorType("float32", (2, 5, 16))


def chain(*, centered, inverse, epsilon=1e-5, square="pow", twice=False, factors=True):
    """A norm, operator by operator."""
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)

    def mean(y):
        return builder.op("reduce_mean", y, axes=(2,), keepdims=True)

    inner = builder.op("sub", x, mean(x)) if centered else x
    other = builder.op("sub", x, mean(x)) if centered and twice else inner
    squares = (
        builder.op("pow", other, builder.like(2, x))
        if square == "pow"
        else builder.op("mul", other, other)
    )
    under = builder.op("add", mean(squares), builder.like(epsilon, x))
    root = builder.op("sqrt", under)
    if inverse == "div":
        y = builder.op("div", inner, root)
    elif inverse == "reciprocal":
        y = builder.op("mul", inner, builder.op("div", builder.like(1, x), root))
    else:
        y = builder.op("mul", inner, builder.op("pow", under, builder.like(-0.5, x)))
    if factors:
        random = np.random.default_rng(0)
        gamma, beta = (
            builder.constant(random.standard_normal(16).astype(np.float32)) for _ in range(2)
        )
        y = builder.op("mul", gamma, y)
        y = builder.op("add", y, beta) if centered else y
    return builder.finish({"out": y})


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("inverse", ["div", "reciprocal", "power"])
@pytest.mark.parametrize("square", ["pow", "mul"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.0])
def test_a_chain_becomes_one_operator(centered, inverse, square, epsilon):
    """Without an epsilon, rows of equal numbers have no norm, before and behind it."""
    graph = chain(centered=centered, inverse=inverse, square=square, epsilon=epsilon)
    done = rewrite(graph, find_norms)
    (node,) = done.graph.nodes
    assert node.op == ("layernorm" if centered else "rmsnorm")
    assert node.attributes["epsilon"] == pytest.approx(epsilon)
    x = np.random.default_rng(1).standard_normal(KIND.shape).astype(np.float32)
    expected, found = (interpret(each, {"x": x})["out"] for each in (graph, done.graph))
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("twice", [True, False])
def test_the_mean_may_be_taken_off_twice_and_factors_may_lack(twice):
    done = rewrite(chain(centered=True, inverse="div", twice=twice, factors=False), find_norms)
    assert [node.op for node in done.graph.nodes] == ["layernorm"]


def test_a_root_of_something_else_is_no_norm():
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)
    size = builder.op("reduce_mean", builder.op("abs", x), axes=(2,), keepdims=True)
    graph = builder.finish({"out": builder.op("div", x, builder.op("sqrt", size))})
    assert rewrite(graph, find_norms).graph is graph


@pytest.mark.parametrize(
    ("order", "read_twice", "moved"),
    [((0, 2, 1, 3), False, True), ((0, 2, 1, 3), True, False), ((0, 1, 3, 2), False, False)],
)
def test_heads_are_normalized_where_attention_wants_them(order, read_twice, moved):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 5, 2, 16)))
    gamma = builder.constant(np.linspace(0.5, 2, 16, dtype=np.float32))
    normed = builder.op("rmsnorm", x, gamma, axis=3, epsilon=1e-5)
    outputs = {"y": builder.op("transpose", normed, permutation=order)}
    graph = builder.finish(outputs | ({"z": builder.op("neg", normed)} if read_twice else {}))
    done = rewrite(graph, find_head_norms).graph
    assert (done.nodes[0].op == "transpose") == moved
    given = {"x": np.random.default_rng(1).standard_normal((1, 5, 2, 16)).astype(np.float32)}
    found, expected = interpret(done, given)["y"], interpret(graph, given)["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def pieces(builder, x, *, power=2.0, axes=(2,), keepdims=True, minus=None, root=None):
    """The operand less its mean, or `minus`, over a root: of the mean of a power of that."""
    mean = builder.op("reduce_mean", x, axes=(2,), keepdims=True)
    inner = builder.op("sub", x, mean if minus is None else minus)
    square = builder.op("pow", inner, builder.like(power, x))
    under = builder.op("reduce_mean", square, axes=axes, keepdims=keepdims)
    under = builder.op("add", under, builder.like(1e-5, x))
    if root is not None:
        return builder.op("mul", inner, builder.op("pow", under, builder.like(root, x)))
    return builder.op("div", inner, builder.op("sqrt", under))


@pytest.mark.parametrize(
    "how",
    [
        {"power": 3.0},
        {"power": -2.0},
        {"axes": (1,)},
        {"axes": (1, 2), "keepdims": True},
        {"root": 0.5},
        {"root": -1.0},
    ],
    ids=str,
)
def test_what_only_looks_like_a_norm_stays(how):
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)
    graph = builder.finish({"out": pieces(builder, x, **how)})
    found = rewrite(graph, find_norms).graph
    given = {"x": np.random.default_rng(1).standard_normal(KIND.shape).astype(np.float32)}
    with np.errstate(invalid="ignore"):
        expected, after = (interpret(each, given)["out"] for each in (graph, found))
    np.testing.assert_allclose(after, expected, atol=1e-5)
    assert not {"layernorm", "rmsnorm"} & {node.op for node in found.nodes}


def test_the_mean_of_another_tensor_is_not_its_own():
    """What is left is a norm about 0 of the difference, which is another operand."""
    builder = GraphBuilder("test")
    x, z = (builder.input(name, KIND) for name in "xz")
    other = builder.op("reduce_mean", z, axes=(2,), keepdims=True)
    graph = builder.finish({"out": pieces(builder, x, minus=other)})
    found = rewrite(graph, find_norms).graph
    assert "layernorm" not in {node.op for node in found.nodes}
    random = np.random.default_rng(1)
    given = {name: random.standard_normal(KIND.shape).astype(np.float32) for name in "xz"}
    expected, after = (interpret(each, given)["out"] for each in (graph, found))
    np.testing.assert_allclose(after, expected, atol=1e-5)


GAMMA, BETA = np.random.default_rng(2).uniform(0.5, 2, (2, 16)).astype(np.float32)


def _graph(write):
    """The graph of a function of a builder and its input."""
    builder = GraphBuilder("test")
    return builder.finish({"out": write(builder, builder.input("x", KIND))})


def _along(builder, op, x):
    return builder.op(op, x, axes=(2,), keepdims=True)


def _times(builder, x, value):
    return builder.op("mul", x, builder.constant(np.asarray(value, np.float32)))


def _plus(builder, x, value):
    return builder.op("add", x, builder.constant(np.asarray(value, np.float32)))


def inverse_times_two(builder, x):
    under = _along(builder, "reduce_mean", builder.op("mul", x, x))
    return builder.op("mul", x, builder.op("div", builder.like(2, x), builder.op("sqrt", under)))


def unit_times_root(builder, x):
    """RMSNorm as rows over their lengths, times the root of the width, times factors."""
    total = _along(builder, "reduce_sum", builder.op("mul", x, x))
    length = builder.op("max", builder.op("sqrt", total), builder.like(1e-12, x))
    return _times(builder, _times(builder, builder.op("div", x, length), 4), GAMMA)


def scaled_length(builder, x):
    """ScaleNorm: a factor before, and the least of what is a multiple of a length."""
    total = _along(builder, "reduce_sum", builder.op("mul", x, x))
    size = _times(builder, builder.op("sqrt", total), 0.25)
    size = builder.op("max", size, builder.like(1e-5, x))
    return builder.op("div", _times(builder, x, GAMMA), size)


def sum_over_width(builder, x):
    total = _along(builder, "reduce_sum", builder.op("pow", x, builder.like(2, x)))
    mean = builder.op("div", total, builder.like(16, x))
    root = builder.op("sqrt", _plus(builder, mean, 1e-6))
    return _times(builder, builder.op("div", x, root), GAMMA)


def inverse_of_largest(builder, x):
    """TensorFlow's l2_normalize: the root of a sum that is at least an epsilon."""
    total = _along(builder, "reduce_sum", builder.op("mul", x, x))
    under = builder.op("max", total, builder.like(1e-12, x))
    return builder.op("mul", x, builder.op("pow", under, builder.like(-0.5, x)))


def over_deviation(builder, x, epsilon=1e-6):
    """LayerNorm by an unbiased deviation, with the epsilon behind the root."""
    away = builder.op("sub", x, _along(builder, "reduce_mean", x))
    variance = _times(
        builder, _along(builder, "reduce_mean", builder.op("mul", away, away)), 16 / 15
    )
    size = _plus(builder, builder.op("sqrt", variance), epsilon)
    return _plus(builder, builder.op("div", _times(builder, away, GAMMA), size), BETA)


FORMS = {
    inverse_times_two: lambda x: 2 * x / np.sqrt((x * x).mean(-1, keepdims=True)),
    unit_times_root: lambda x: 4 * GAMMA * x / np.linalg.norm(x, axis=-1, keepdims=True),
    scaled_length: lambda x: 4 * GAMMA * x / np.linalg.norm(x, axis=-1, keepdims=True),
    sum_over_width: lambda x: GAMMA * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6),
    inverse_of_largest: lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True),
    over_deviation: lambda x: (
        GAMMA * (x - x.mean(-1, keepdims=True)) / x.std(-1, ddof=1, keepdims=True) + BETA
    ),
}


@pytest.mark.parametrize("write", FORMS, ids=lambda write: write.__name__)
def test_sizes_of_rows_are_written_in_many_ways(write):
    """All factors are the norm's, and what keeps a size from 0 is its epsilon."""
    (node,) = (graph := rewrite(_graph(write), find_norms).graph).nodes
    assert node.op == ("layernorm" if write is over_deviation else "rmsnorm")
    x = np.random.default_rng(1).standard_normal(KIND.shape).astype(np.float32)
    found = interpret(graph, {"x": x})["out"]
    np.testing.assert_allclose(found, FORMS[write](x), rtol=2e-5, atol=1e-5)


def test_an_epsilon_that_rows_have_behind_the_root_is_none_under_it():
    """Rows of a deviation of a tenth are a tenth smaller for an epsilon of a hundredth."""
    graph = _graph(lambda builder, x: over_deviation(builder, x, 0.01))
    assert rewrite(graph, find_norms).graph is graph


def test_rows_of_one_column_have_a_root_for_each_row():
    """The root has the shape of what it divides: each element is a row of its own."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, 5, 1)))
    square = builder.op("mul", x, x)
    under = builder.op("reduce_mean", square, axes=(1,), keepdims=True)
    graph = builder.finish({"out": builder.op("div", x, builder.op("sqrt", under))})
    found = rewrite(graph, find_norms).graph
    given = {"x": np.arange(1, 11, dtype=np.float32).reshape(2, 5, 1)}
    expected, after = (interpret(each, given)["out"] for each in (graph, found))
    np.testing.assert_allclose(after, expected, atol=1e-5)


def lengths(*, least=1e-12, square="mul", axis=2, repeated=False, turned=False):
    """Rows over their lengths, as torch's normalize and sentence encoders have them."""
    builder = GraphBuilder("test")
    x = builder.input("x", KIND)
    two = builder.like(2, x)
    squares = builder.op("mul", x, x) if square == "mul" else builder.op("pow", x, two)
    length = builder.op("sqrt", builder.op("reduce_sum", squares, axes=(axis,), keepdims=True))
    if least is not None:
        pair = (builder.like(least, x), length)
        length = builder.op("max", *(pair if turned else pair[::-1]))
    if repeated:
        length = builder.op("broadcast", length, shape=KIND.shape)
    return builder.finish({"out": builder.op("div", x, length)})


@pytest.mark.parametrize("square", ["mul", "pow"])
@pytest.mark.parametrize(("repeated", "turned"), [(False, False), (True, True)])
@pytest.mark.parametrize("least", [1e-12, None])
def test_rows_over_their_lengths_are_normed(square, repeated, turned, least):
    graph = lengths(square=square, repeated=repeated, turned=turned, least=least)
    done = rewrite(graph, find_norms)
    (node,) = done.graph.nodes
    assert (node.op, done.refusals) == ("rmsnorm", ())
    rows = np.zeros((2, 5, 16), np.float32)
    rows[..., 2] = 0 if least else 7  # A row of zeros has a length without one, too.
    rows[0, 0, :3], rows[1, 3, :8] = (3, -4, 0), (*[0] * 7, 0.5)
    out = interpret(done.graph, {"x": rows})["out"]
    expected = np.zeros_like(rows)
    expected[..., 2] = 0 if least else 1
    expected[0, 0, :3], expected[1, 3, :8] = (0.6, -0.8, 0), (*[0] * 7, 1)
    np.testing.assert_allclose(out, expected, atol=1e-6)


@pytest.mark.parametrize("how", [{"axis": 1}, {"least": 0.5}])
def test_lengths_along_another_axis_and_those_that_end_early_stay(how):
    """A least length that rows have is another thing than an epsilon."""
    graph = lengths(**how)
    assert rewrite(graph, find_norms).graph is graph
