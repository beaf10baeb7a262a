"""Operators by intrinsics: the graph computes what the expression says, and else it is refused."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.expressions import product_of
from celosia.lab.graphs.expressions import (
    SIX,
    batched,
    convolution,
    gram,
    image,
    masked,
    masked_later,
    scores,
)
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.frontend.expressions import products
from celosia.sw.frontend.expressions.language import (
    activation,
    compute,
    constant,
    placeholder,
    reduce_axis,
    requantize,
    total,
)
from celosia.sw.frontend.expressions.nodes import ExpressionError
from celosia.sw.frontend.expressions.tensorize import tensorize
from celosia.sw.ir.graph import MatMul
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.planning.problems import graph_of

MOST_LINES = 5
LEAST_USE = 0.9
SMALL = {
    batched: (3, 5, 6, 7),
    convolution: (9, 3, 5),
    masked: (9,),
    gram: (7, 5),
    scores: (6, 3, 4),
    image: (4, 3, 5),
    masked_later: (9,),
}
a, b = placeholder("a", (8, 8)), placeholder("b", (8, 8))
u, s = placeholder("u", (8, 8), "uint8"), placeholder("s", (8, 8), "int16")
t = placeholder("t", (8, 8), "int16", low=0, high=50)
z = placeholder("z", (8, 8), "int32", low=-1000, high=1000)
k, l = reduce_axis(8), reduce_axis(8, "l")  # noqa: E741
narrow = compute("n", (8, 8), lambda i, j: requantize(total(a[i, k] * b[k, j], k), 0.01), "int8")
ones = constant("ones", np.full((8, 8), 3, np.int8))
W = placeholder("w", (300, 8, 4))


def computed(operator, values):
    """The result by the operator's graph."""
    found = interpret(operator.graph, operator.matrices(values))
    return operator.tensor(found[operator.graph.outputs[0]])


def windows(image, sizes):
    return np.lib.stride_tricks.sliding_window_view(image, sizes, axis=tuple(range(len(sizes))))


def known_weights(size):
    return np.random.default_rng(0).integers(-128, 128, (size, size), np.int8).astype(np.int64)


NUMPY = {
    batched: lambda a, b: np.clip(np.rint(a @ b * np.float32(0.001)), -128, 127),
    gram: lambda x: x @ x.T,
    convolution: lambda x, w: np.einsum("lcr,rco->lo", windows(x, (3,)), w),
    image: lambda x, w: np.einsum("yzcrq,rqco->yzo", windows(x, (3, 3)), w) + 7,
    masked: lambda x: np.tril(known_weights(len(x))) @ x,
    masked_later: lambda m, w, x: (m * w) @ x,
    scores: lambda q, p: np.einsum("ihd,jhd->hij", q, p),
}


@pytest.mark.parametrize("make", SMALL, ids=lambda make: make.__name__)
def test_an_operator_is_what_numpy_computes(make):
    operator = tensorize(make(*SMALL[make]))
    given = operator.random(1)
    expected = NUMPY[make](**{name: value.astype(np.int64) for name, value in given.items()})
    assert np.array_equal(computed(operator, given), expected)
    assert np.array_equal(operator.expected(given), expected)


@pytest.mark.parametrize("make", SIX, ids=lambda make: make.__name__)
def test_an_operator_takes_few_lines(make):
    lines = inspect.getsource(make).splitlines()
    assert len(lines) - 2 <= MOST_LINES, "one line is the function's name, one its docstring"
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("make", [convolution, scores, image], ids=lambda make: make.__name__)
def test_an_operator_is_expected_to_use_the_array_as_a_product_does(make):
    """All six are measured on RTL at night: tests/sim/workloads/test_expressions.py."""
    graph, config, timing = tensorize(make()).graph, resolve_config("base"), MemoryTiming()
    use, known = (
        each.macs / compile_graph(each, config, timing=timing).expected(timing).cycles
        for each in (graph, graph_of("matmul", product_of(graph)))
    )
    assert use >= LEAST_USE * known


@pytest.mark.parametrize(
    ("element", "dtype", "intrinsics"),
    [
        (lambda i, j: total(u[i, k] * b[k, j], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total(b[i, k] * u[k, j], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[k, i] * b[j, k], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[7 - i, k] * b[7 - k, j], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[i, k] * a[k, j], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[i, k] * b[k, j], k) + z[0, j], "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[i, k] * b[k, j], k) + z[i, 3], "int32", ["PRODUCTS"]),
        (lambda i, j: total(a[i, k] * b[k, j], k) + 5 * (i <= 3) - 1, "int32", ["PRODUCTS"]),
        (lambda i, j: total(2 * ones[i, k] * b[k, j], k), "int32", ["PRODUCTS"]),
        (lambda i, j: total((k <= i) * t[i, k] * b[k, j], k), "int32", ["MULTIPLY", "PRODUCTS"]),
        (lambda i, j: total(narrow[i, k] * narrow[j, k], k), "int32", ["PRODUCTS", "PRODUCTS"]),
        (lambda i, j: t[i, j] * t[j, i], "int16", ["MULTIPLY"]),
        (lambda i, j: requantize(s[i, j] * t[i, j], 0.01, zero_point=9), "uint8", ["MULTIPLY"]),
        (lambda i, j: requantize(z[j, i], 0.1, relu=True), "int8", ["REQUANTIZE"]),
        (lambda i, j: activation("gelu", z[i, j], 1.0, 0.01), "int8", ["GELU"]),
        (
            lambda i, j: activation("silu", total(a[i, k] * b[k, j], k), 0.1, 0.01),
            "int16",
            ["PRODUCTS"],
        ),
    ],
)
def test_other_forms_are_computed_too(element, dtype, intrinsics):
    tensor = compute("c", (8, 8), element, dtype)
    operator = tensorize(tensor)
    given = operator.random(2)
    assert [each.intrinsic for each in operator.calls] == intrinsics
    assert np.array_equal(computed(operator, given), operator.expected(given))


@pytest.mark.parametrize(
    ("shape", "element"),
    [
        ((1,), lambda i: total(a[0, k] * b[k, 0], k)),
        ((8,), lambda i: total(a[i, k], k)),
        ((8, 1, 1), lambda i, j, n: total(a[i, k] * b[k, 3], k)),
        ((3, 2, 4), lambda *at: total(a[2 * at[0] + at[1], k] * b[k, at[2]], k)),
    ],
)
def test_other_ranks_are_computed_too(shape, element):
    operator = tensorize(compute("c", shape, element))
    given = operator.random(2)
    assert np.array_equal(computed(operator, given), operator.expected(given))


@pytest.mark.parametrize(
    ("element", "dtype", "missing"),
    [
        (lambda i, j: total(s[i, k] * b[k, j], k), "int32", "int16 and int8; PRODUCTS multiplies"),
        (lambda i, j: total(u[i, k] * u[k, j], k), "int32", "uint8 and uint8; PRODUCTS multiplies"),
        (lambda i, j: total(a[i, k] * b[k, j] * a[i, j], k), "int32", "it multiplies 3 elements"),
        (lambda i, j: total(a[i, k] + b[k, j], k), "int32", "it adds up 2 sums"),
        (lambda i, j: -total(a[i, k] * b[k, j], k), "int32", "it has a term times -1"),
        (lambda i, j: total(a[i, k] * b[k, j], k) + z[i, j], "int32", "what is added depends on i"),
        (lambda i, j: total(a[i, k] * b[k, j], k) + a[0, j], "int32", "what is added is int32"),
        (lambda i, j: total(a[i, k] * b[k, j], k) + z[0, j] + z[1, j], "int32", "more than one"),
        (lambda i, j: total(a[i, k] * b[k, 0], k), "int32", "no factor has j"),
        (lambda i, j: total(a[i, k] * b[l, j], k, l), "int32", r"k is summed over, but only a\[i"),
        (lambda i, j: a[i, j] + b[i, j], "int32", "it adds elements or numbers"),
        (lambda i, j: a[i, j] * b[i, j], "int16", "MULTIPLY multiplies int16 by int16"),
        (lambda i, j: t[i, j] * t[i, j], "int32", "MULTIPLY makes int16, int8, uint8, not int32"),
        (lambda i, j: activation("gelu", s[i, j] * t[i, j], 1, 1), "int8", "neither a curve nor"),
        (lambda i, j: a[i, j], "int8", "it is int8 of int8; TRANSFORM requantizes int32"),
        (lambda i, j: 3, "int32", "it reads no tensor"),
        (lambda i, j: total((k <= i) * a[i, k] * b[k, j], k), "int32", "its part c.1, a.*int16"),
        (lambda i, j: total(100 * ones[i, k] * b[k, j], k), "int32", "does not fit int8"),
        (lambda i, j: total(narrow[7 - i, k] * b[k, j], k), "int32", "it reads n, which is comput"),
    ],
)
def test_what_no_intrinsic_computes_is_refused_with_what_is_missing(element, dtype, missing):
    tensor = compute("c", (8, 8), element, dtype)
    with pytest.raises(ExpressionError, match=f"^c: no intrinsic computes .*{missing}"):
        tensorize(tensor)


def test_too_many_products_are_refused():
    p = constant("p", np.ones((300, 8), np.int8))
    tensor = compute("c", (300, 4), lambda i, j: total(p[i, k] * W[i, k, j], k))
    with pytest.raises(ExpressionError, match="which makes 300 products, more than 256"):
        tensorize(tensor)


def test_a_given_tensor_is_no_operator():
    with pytest.raises(ExpressionError, match="a is given, not computed"):
        tensorize(a)


def test_a_wrong_replacement_is_seen_by_numbers(monkeypatch):
    """Matching is not what makes an operator right."""

    def turned(*arguments):
        cost, call = honest(*arguments)
        (op,) = call.ops
        assert isinstance(op, MatMul)
        return cost, replace(call, ops=(replace(op, b_transposed=not op.b_transposed),))

    honest = products._call
    monkeypatch.setattr(products, "_call", turned)
    with pytest.raises(ExpressionError, match=r"numbers show that it is none: .* of 64 elements"):
        tensorize(compute("c", (8, 8), lambda i, j: total(a[i, k] * b[k, j], k)))


def test_tensors_are_read_where_they_are():
    """Heads, batches and transposed operands are rectangles; windows that overlap are not."""
    for make in (batched, scores, gram, masked):
        assert not tensorize(make(*SMALL[make])).laid_out
    assert tensorize(convolution(*SMALL[convolution])).laid_out == ("y.a",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "x is missing"),
        ({"x": np.zeros((7, 5))}, r"x is float64 of \(7, 5\), not int8"),
        ({"x": np.zeros((5, 7), np.int8)}, r"x is int8 of \(5, 7\), not int8 of \(7, 5\)"),
        ({"y": np.zeros((7, 5), np.int8)}, "y is no input; there are x"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(given, said):
    with pytest.raises(ExpressionError, match=said):
        tensorize(gram(*SMALL[gram])).matrices(given)


def test_elements_out_of_what_was_declared_are_refused():
    operator = tensorize(masked_later(9))
    given = operator.random(0)
    with pytest.raises(ExpressionError, match=r"m has elements of 0\.\.2, and is declared with 0"):
        operator.matrices(given | {"m": given["m"] * 2})
