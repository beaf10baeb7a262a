"""Ranges up to their ends, what constants may be, and how expressions are written."""

import numpy as np
import pytest

from celosia.sw.frontend.expressions.checks import check_name, check_shape, tensors_of
from celosia.sw.frontend.expressions.evaluate import points, whole
from celosia.sw.frontend.expressions.language import (
    activation,
    compute,
    constant,
    placeholder,
    reduce_axis,
    requantize,
    total,
)
from celosia.sw.frontend.expressions.layout import Matrix, Place, offsets, place_of, rectangle
from celosia.sw.frontend.expressions.nodes import Axis, Compare, ExpressionError
from celosia.sw.frontend.expressions.tensorize import tensorize
from celosia.sw.frontend.expressions.terms import affine, axes_of, terms
from celosia.sw.ir.graph import Activation, Combine, MatMul, Requantize, Transform
from celosia.sw.ir.graph_interpret import interpret

a, b = placeholder("a", (8, 8)), placeholder("b", (8, 8))
few = placeholder("few", (8, 8), low=-2, high=5)
up = placeholder("up", (8, 8), "int16", low=0, high=100)
s = placeholder("s", (8, 8), "int16", low=-100, high=100)
z, full = placeholder("z", (8, 8), "int32", low=-9, high=9), placeholder("full", (8, 8), "int32")
k, l = reduce_axis(8), reduce_axis(8, "l")  # noqa: E741


ONES = constant("ones", np.ones((8, 8), np.int8))


def filled(value, name="c8"):
    return constant(name, np.full((8, 8), value, np.int16))


@pytest.mark.parametrize(
    ("element", "low", "high"),
    [
        (lambda i, j: few[i, j], -2, 5),
        (lambda i, j: -3 * few[i, j], -15, 6),
        (lambda i, j: few[i, j] - few[j, i], -7, 7),
        (lambda i, j: 4 - few[i, j], -1, 6),
        (lambda i, j: few[i, j] * few[j, i], -10, 25),
        (lambda i, j: (i < j) * few[i, j], -2, 5),
        (lambda i, j: 7 * (i <= j), 0, 7),
        (lambda i, j: total(few[i, k], k), -16, 40),
        (lambda i, j: total((k <= i) * 1, k), 0, 8),
        (lambda i, j: total(few[i, k] * few[l, j], k, l) + 1, -639, 1601),
        (lambda i, j: filled(3)[i, j] * few[i, j], -6, 15),
        (lambda i, j: 0 * few[i, j], 0, 0),
    ],
)
def test_a_tensor_knows_its_least_and_largest_element(element, low, high):
    found = compute("c", (8, 8), element)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("int8", -128, 127), ("uint8", 0, 255), ("int16", -(1 << 15), (1 << 15) - 1)],
)
def test_a_type_holds_its_ends_and_nothing_beyond(dtype, low, high):
    wide = placeholder("w", (2,), "int32", low=low, high=high)
    assert compute("c", (2,), lambda i: wide[i], dtype).high == high
    for step in (1, -1):
        with pytest.raises(ExpressionError, match=f"{low + step:,}..{high + step:,}, which do not"):
            compute("c", (2,), lambda i: wide[i] + step, dtype)  # noqa: B023
    assert (placeholder("p", (2,), dtype).low, placeholder("p", (2,), dtype).high) == (low, high)
    for ends in ({"low": low - 1}, {"high": high + 1}, {"low": 1, "high": 0}):
        with pytest.raises(ExpressionError, match=r"p: .* is no range of"):
            placeholder("p", (2,), dtype, **ends)


def test_functions_take_int32_and_make_what_their_type_holds():
    curved = compute("c", (8, 8), lambda i, j: requantize(full[i, j], 1e-9), "int8")
    assert (curved.low, curved.high) == (-128, 127)
    bent = compute("c", (8, 8), lambda i, j: requantize(full[i, j], 1e-9, relu=True), "int8")
    assert (bent.low, bent.high) == (0, 127)
    for step, ends in ((1, "-2,147,483,647..2,147,483,648"), (-1, "-2,147,483,649..2,147,483,646")):
        with pytest.raises(ExpressionError, match=f"requantize takes int32, .* may be {ends}"):
            compute("c", (8, 8), lambda i, j: requantize(full[i, j] + step, 1e-9), "int8")  # noqa: B023


def test_sizes_and_names_up_to_their_ends():
    assert check_shape("x", (1, 1 << 24)) == (1, 1 << 24)
    for shape in (((1 << 24) + 1,), (0,), (), (2, -1)):
        with pytest.raises(ExpressionError, match=r"x: its sizes .* not all in 1\.\.16,777,216"):
            check_shape("x", shape)
    check_name("x_1")
    for name in ("1x", "é", "", "a b", "a.b"):
        with pytest.raises(ExpressionError, match="is no name: it begins with a letter"):
            check_name(name)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda i, j: a[i, j] + 1, "(a[i, j] + 1)"),
        (lambda i, j: 1 + a[i, j], "(1 + a[i, j])"),
        (lambda i, j: 2 - a[i, j], "(2 + -1*a[i, j])"),
        (lambda i, j: a[i, j] - 2, "(a[i, j] + -1*2)"),
        (lambda i, j: -a[i, j], "-1*a[i, j]"),
        (lambda i, j: 3 * a[i, j], "3*a[i, j]"),
        (lambda i, j: a[i, j] * 3, "a[i, j]*3"),
        (lambda i, j: i < j, "(i < j)"),
        (lambda i, j: i >= 3, "(3 <= i)"),
        (lambda i, j: i > j, "(j < i)"),
        (lambda i, j: total(a[i, k], k), "total(a[i, k], k)"),
        (lambda i, j: requantize(a[i, j], 1), "requantize(a[i, j])"),
        (lambda i, j: activation("gelu", a[i, j], 1, 1), "gelu(a[i, j])"),
    ],
)
def test_an_expression_is_written_as_it_was(make, text):
    assert str(make(Axis("i", 8), Axis("j", 8))) == text
    assert str(a) == "a: int8[8x8]"


@pytest.mark.parametrize(
    ("element", "said"),
    [
        (lambda i, j: total(a[i, k], k) * total(b[k, j], k), "that are multiplied both run over k"),
        (lambda i, j: a[i, j] * True, r"\*: True is no expression; == does not compare axes"),
        (lambda i, j: a[i, "x"], "an index of a: 'x' is no integer and no expression of axes"),
        (lambda i, j: a[i, 7 - j] + a[i, j + 1], r"index \(j \+ 1\) is 1\.\.8, not in 0\.\.7"),
        (lambda i, j: a[i, 6 - j], r"is -1\.\.6, not in 0\.\.7"),
        (lambda i, j: (i * j < 3) * a[i, j], "an index is a sum of axes times integers"),
    ],
)
def test_more_that_is_refused(element, said):
    with pytest.raises(ExpressionError, match=f"^c: .*{said}"):
        compute("c", (8, 8), element)


def test_an_index_is_a_number_and_steps():
    i, j = Axis("i", 4), Axis("j", 3)
    found = affine(5 - 2 * i + j * 3 + i)
    assert (found.start, found.steps) == (5, {i: -1, j: 3})
    assert (found.low, found.high) == (2, 11)
    assert affine(i - i).steps == {}
    assert affine(0 * i + 1).steps == {}
    assert axes_of(a[j, i] * (i < j)) == (j, i)
    assert isinstance((i > j), Compare)
    assert [(t.number, len(t.factors), t.over) for t in terms(total(2 * a[i, k] - 3, k))] == [
        (2, 1, (k,)),
        (-3, 0, (k,)),
    ]


def known_of(operator):
    """The constant that an operator reads."""
    (found,) = (
        each.tensor
        for call in operator.calls
        for each in call.inputs
        if each.tensor.value is not None
    )
    return found


@pytest.mark.parametrize(
    ("number", "dtype"), [(127, "int8"), (-128, "int8"), (128, "uint8"), (255, "uint8")]
)
def test_a_constant_of_a_sum_is_of_the_narrowest_type_that_holds_it(number, dtype):
    body = lambda i, j: total(number * ONES[i, k] * b[k, j], k)  # noqa: E731
    known = known_of(tensorize(compute("c", (8, 8), body)))
    assert (known.dtype, known.low, known.high) == (dtype, number, number)


@pytest.mark.parametrize("number", [-129, 256])
def test_a_constant_of_a_sum_has_8_bits(number):
    tensor = compute("c", (8, 8), lambda i, j: total(number * ONES[i, k] * b[k, j], k))
    with pytest.raises(ExpressionError, match=f"a constant of it is {number}..{number}, .* int8"):
        tensorize(tensor)


@pytest.mark.parametrize("number", [(1 << 15) - 1, -(1 << 15)])
def test_a_constant_of_a_product_has_16_bits(number):
    body = lambda i, j: requantize(number * (i <= j) * up[i, j], 1e-4)  # noqa: E731
    assert known_of(tensorize(compute("c", (8, 8), body, "int8"))).dtype == "int16"
    step = 1 if number > 0 else -1
    wider = lambda i, j: requantize((number + step) * (i <= j) * up[i, j], 1e-4)  # noqa: E731
    with pytest.raises(ExpressionError, match="which does not fit int16"):
        tensorize(compute("c", (8, 8), wider, "int8"))


@pytest.mark.parametrize(
    ("element", "dtype", "said"),
    [
        (lambda i, j: requantize(s[i, j] * up[i, j] + s[i, j], 0.1), "int8", "more than a product"),
        (lambda i, j: requantize(3 * s[i, j] * up[i, j], 0.1), "int8", "it has a term times 3"),
        (lambda i, j: requantize(s[i, j] * up[i, j], 0.1, relu=True), "int8", "neither a curve"),
        (lambda i, j: requantize(2 * z[i, j], 0.1), "int8", "it has a term times 2"),
        (lambda i, j: requantize(z[i, j] + 1, 0.1), "int8", "it adds elements or numbers"),
        (lambda i, j: z[i, j], "int32", "it is int32 of int32; TRANSFORM requantizes"),
        (lambda i, j: (i < j) * 1, "int32", "it reads no tensor, and is known before"),
        (lambda i, j: total(a[i, k] * b[k, j], k) + 2 * z[0, j], "int32", "it has a term times 2"),
        (lambda i, j: total(a[i, k] * b[k, j], k) + s[0, j], "int32", "is int16; what is added is"),
        (
            lambda i, j: total(a[i, k] * b[k, j], k) + total(few[i, l] * b[l, j], l),
            "int32",
            "it adds up 2 sums",
        ),
    ],
)
def test_what_an_intrinsic_lacks_is_said(element, dtype, said):
    with pytest.raises(ExpressionError, match=f"^c: no intrinsic computes it: .*{said}"):
        tensorize(compute("c", (8, 8), element, dtype))


def test_operators_have_what_the_function_around_them_says():
    body = lambda i, j: requantize(total(a[i, k] * b[k, j], k), 0.25, zero_point=7, relu=True)  # noqa: E731
    (call,) = tensorize(compute("c", (8, 8), body, "uint8")).calls
    (product,) = call.ops
    assert isinstance(product, MatMul)
    assert product.finish == Requantize(0.25, 7, True)
    (call,) = tensorize(
        compute("c", (8, 8), lambda i, j: activation("silu", z[i, j], 0.5, 0.125), "int8")
    ).calls
    (curve,) = call.ops
    assert isinstance(curve, Transform)
    assert curve.finish == Activation("silu", 0.5, 0.125, 0)
    (call,) = tensorize(compute("c", (8, 8), lambda i, j: up[i, j] * up[j, i], "int16")).calls
    (multiplied,) = call.ops
    assert isinstance(multiplied, Combine)
    assert (multiplied.function, multiplied.scale, multiplied.zero_point) == ("multiply", 1.0, 0)


def test_sums_over_several_axes_take_the_order_that_gathers_least():
    """Stored one after the other; of the other order of `total`, one factor is gathered."""
    x, w = placeholder("x", (4, 3, 5)), placeholder("w", (3, 5, 6))
    r, c = reduce_axis(3, "r"), reduce_axis(5, "c")
    for over in ((r, c), (c, r)):
        body = lambda i, j: total(x[i, r, c] * w[r, c, j], *over)  # noqa: B023, E731
        operator = tensorize(compute("y", (4, 6), body))
        assert operator.laid_out == (() if over == (r, c) else ("y.a",))
        given = operator.random(0)
        result = operator.tensor(
            interpret(operator.graph, operator.matrices(given))[operator.graph.outputs[0]]
        )
        wide = {name: value.astype(int) for name, value in given.items()}
        assert np.array_equal(result, np.einsum("irc,rcj->ij", wide["x"], wide["w"]))


def test_a_batch_of_products_has_a_bias_for_each():
    """Products are named by their number, and add what their own point says."""
    x, w = placeholder("x", (3, 4, 5)), placeholder("w", (3, 5, 6))
    r = reduce_axis(5)
    known = constant("known", np.arange(18, dtype=np.int32).reshape(3, 6))
    body = lambda n, i, j: total(x[n, i, r] * w[n, r, j], r) + known[n, j] - 2  # noqa: E731
    operator = tensorize(compute("y", (3, 4, 6), body))
    (call,) = operator.calls
    assert [op.name for op in call.ops] == ["y.0", "y.1", "y.2"]
    given = operator.random(3)
    result = operator.tensor(
        interpret(operator.graph, operator.matrices(given))[operator.graph.outputs[0]]
    )
    wide = {name: value.astype(int) for name, value in given.items()}
    expected = wide["x"] @ wide["w"] + np.arange(18).reshape(3, 1, 6) - 2
    assert np.array_equal(result, expected)


def test_elements_stand_where_the_axes_say():
    t, i, j = placeholder("t", (3, 4, 5)), Axis("i", 3), Axis("j", 2)
    place = place_of(t[i, 2 * j + 1, 4 - i])
    assert (place.start, place.steps) == (9, {i: 19, j: 10})
    assert place.at({i: 2}).start == 47
    assert offsets(place, (j, i)).tolist() == [0, 19, 38, 10, 29, 48]
    row, col = Axis("row", 2), Axis("col", 3)
    view = rectangle(place_of(t[1, row + 1, col + 2]), (row,), (col,), 2)
    assert view is not None
    assert (view.row, view.col, view.rows, view.cols) == (5, 2, 2, 3)
    assert rectangle(place_of(t[1, row, col]), (row,), (col,), 1) is None
    assert rectangle(Place(t, 8, {row: 5, col: 1}), (row,), (col,), 2) is None  # Columns 3 to 5.
    matrix = Matrix("m", t, 2, 2, np.array([[0, 59], [5, 7]]))
    assert matrix.of(np.arange(60).reshape(3, 4, 5)).tolist() == [[0, 59], [5, 7]]


def test_a_tensor_that_no_product_reads_is_stored_by_its_rows():
    """All axes but the last are rows of its matrix."""
    deep = placeholder("deep", (2, 3, 4), "int32", low=-9, high=9)
    operator = tensorize(
        compute("c", (2, 3, 4), lambda n, i, j: requantize(deep[n, i, j], 1), "int8")
    )
    tensors = operator.graph.tensors
    assert {(each.rows, each.cols) for each in tensors.values()} == {(6, 4)}
    assert operator.laid_out == ()


def test_each_tensor_stands_behind_what_it_is_made_of():
    first = compute("first", (8,), lambda i: total(few[i, k], k))
    second = compute("second", (8,), lambda i: first[i] + first[7 - i])
    assert [each.name for each in tensors_of(second)] == ["few", "first", "second"]


def test_elements_are_evaluated_in_parts():
    """More points than are evaluated at once: 3 x 2**21."""
    long = reduce_axis(1 << 20)
    tensor = compute("c", (6,), lambda i: total((long <= i) * 1, long))
    assert whole(tensor, {}).tolist() == [1, 2, 3, 4, 5, 6]
    many = compute("d", (1000, 1000), lambda i, j: 1)
    drawn = points(many, 10, np.random.default_rng(0)).tolist()
    assert {0, 999_999} <= {*drawn}
    assert len(drawn) == 10
    assert points(tensor, 1, np.random.default_rng(0)).tolist() == [0, 5]


@pytest.mark.parametrize(("added", "fits"), [((1 << 31) - 1, True), (1 << 31, False)])
def test_what_is_added_to_a_product_is_int32(added, fits):
    """The sum fits in either case."""
    x, one = placeholder("x", (2, 1), low=-2, high=-1), placeholder("one", (1, 2), low=1, high=1)
    only = reduce_axis(1)
    tensor = compute("c", (2, 2), lambda i, j: total(x[i, only] * one[only, j], only) + added)
    if fits:
        assert known_of(tensorize(tensor)).high == added
    else:
        with pytest.raises(ExpressionError, match="a constant that is added does not fit int32"):
            tensorize(tensor)
