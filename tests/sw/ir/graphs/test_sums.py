"""Products and finishes of what is in memory: what they compute by hand, cut, say and refuse."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graphs.finishes import DeferredSoftmax, Mask, Requantize, Softmax, Sums
from celosia.sw.ir.graphs.operator import Rules, Values
from celosia.sw.ir.graphs.sums import MatMul, Transform
from celosia.sw.ir.graphs.tensors import Tensor, View


def whole(name: str, rows: int, cols: int) -> View:
    return View(name, 0, 0, rows, cols)


SIZES = {
    "a": ("int8", 2, 3),
    "b": ("int8", 3, 4),
    "t": ("int8", 4, 3),
    "bias": ("int32", 1, 4),
    "onto": ("int32", 2, 4),
    "out": ("int8", 2, 4),
    "wide": ("int32", 2, 4),
    "cache": ("int8", 8, 4),
    "n": ("uint8", 2, 4),
    "sums": ("int32", 2, 1),
}
RULES = Rules({name: Tensor(name, *kind) for name, kind in SIZES.items()}, {})
A, OUT, BIAS = whole("a", 2, 3), whole("out", 2, 4), whole("bias", 1, 4)
COPIES = (View("cache", 5, 0, 1, 4), View("cache", 2, 0, 1, 4))
PRODUCT = MatMul(name="p", out=OUT, a=A, b=whole("b", 3, 4), finish=Requantize(1.0))
TURNED = replace(PRODUCT, b=whole("t", 4, 3), b_transposed=True)
TRANSFORM = Transform(name="t", out=OUT, source=whole("wide", 2, 4), finish=Requantize(1.0))
DEFERRED = replace(PRODUCT, out=whole("n", 2, 4), finish=DeferredSoftmax(1.0, whole("sums", 2, 1)))
VALUES = {
    "a": [[1, 2, 3], [-1, 0, 2]],
    "b": [[1, 0, 2, 0], [0, 1, 1, 0], [1, 1, 0, 5]],
    "t": [[1, 0, 1], [0, 1, 1], [2, 1, 0], [0, 0, 5]],
    "bias": [[10, 20, 30, 40]],
    "onto": [[1, 1, 1, 1], [2, 2, 2, (1 << 31) - 1]],
    "wide": [[1, 2, 3, 4], [5, 6, 7, 8]],
}
SUMS = [[4, 5, 4, 15], [1, 2, -2, 10]]


def values() -> Values:
    found = {name: np.zeros((rows, cols), kind) for name, (kind, rows, cols) in SIZES.items()}
    for name, value in VALUES.items():
        found[name][...] = value
    return Values({}, found)


@pytest.mark.parametrize("product", [PRODUCT, TURNED])
def test_sums_of_products_and_their_bias(product):
    assert product.sums(values()).tolist() == SUMS
    biased = replace(product, bias=BIAS).sums(values())
    assert biased.tolist() == [[14, 25, 34, 55], [11, 22, 28, 50]]
    onto = replace(product, onto=whole("onto", 2, 4)).sums(values())
    assert onto.tolist() == [[5, 6, 5, 16], [3, 4, 0, -(1 << 31) + 9]]
    assert (product.macs, product.rows) == (2 * 3 * 4, 2)


def test_what_is_in_memory_and_its_bias():
    assert TRANSFORM.sums(values()).tolist() == VALUES["wide"]
    biased = replace(TRANSFORM, bias=BIAS).sums(values())
    assert biased.tolist() == [[11, 22, 33, 44], [15, 26, 37, 48]]


def test_each_row_of_a_result_goes_to_its_place_as_well():
    found = values()
    replace(PRODUCT, copies=COPIES).compute(found)
    assert found.read(OUT).tolist() == SUMS
    assert found.values["cache"][[5, 2]].tolist() == SUMS
    assert not found.values["cache"][[0, 1, 3, 4, 6, 7]].any()


def test_some_rows_and_columns_read_what_they_need():
    rows = replace(PRODUCT, bias=BIAS).some_rows(1, 1)
    assert (rows.a, rows.b, rows.bias) == (View("a", 1, 0, 1, 3), PRODUCT.b, BIAS)
    assert rows.out == View("out", 1, 0, 1, 4)
    columns = replace(PRODUCT, bias=BIAS).some_cols(1, 2)
    assert (columns.a, columns.b) == (A, View("b", 0, 1, 3, 2))
    assert (columns.bias, columns.out) == (View("bias", 0, 1, 1, 2), View("out", 0, 1, 2, 2))
    assert TURNED.some_cols(1, 2).b == View("t", 1, 0, 2, 3)
    part = replace(TRANSFORM, bias=BIAS).some_cols(1, 2)
    assert (part.source, part.bias) == (View("wide", 0, 1, 2, 2), View("bias", 0, 1, 1, 2))
    assert TRANSFORM.some_rows(1, 1).source == View("wide", 1, 0, 1, 4)


def test_what_cannot_be_cut():
    copied = replace(PRODUCT, copies=COPIES)
    moving = replace(DEFERRED, finish=replace(DEFERRED.finish, mask=Mask(causal=True, moving=True)))
    shares = replace(PRODUCT, finish=Softmax(1.0))
    for op, rows, cols in (
        (PRODUCT, True, True),
        (TRANSFORM, True, True),
        (copied, False, False),
        (moving, False, False),
        (shares, True, False),
        (DEFERRED, True, False),
    ):
        assert (op.has_some_rows, op.has_some_cols) == (rows, cols)


def test_operators_that_take_about_as_long():
    assert PRODUCT.alike == replace(PRODUCT, name="q", finish=Requantize(2.0)).alike
    assert PRODUCT.alike != DEFERRED.alike
    assert PRODUCT.alike != replace(PRODUCT, a=whole("a", 2, 2)).alike
    assert PRODUCT.alike != replace(PRODUCT, out=whole("out", 2, 3)).alike
    assert TRANSFORM.alike != replace(TRANSFORM, finish=Softmax(1.0)).alike
    assert TRANSFORM.alike != PRODUCT.alike


def test_texts():
    assert str(TURNED) == f"p: {OUT} = {A} @ {TURNED.b}.T -> requantize 1.0"
    more = replace(PRODUCT, bias=BIAS, onto=whole("onto", 2, 4), copies=COPIES)
    one, other = COPIES
    assert str(more) == (
        f"p: {OUT} = {more.onto} + {A} @ {more.b} + {BIAS} -> requantize 1.0, copied to {one}, "
        f"copied to {other}"
    )
    assert str(replace(TRANSFORM, bias=BIAS)) == (
        f"t: {OUT} = {TRANSFORM.source} + {BIAS} -> requantize 1.0"
    )


@pytest.mark.parametrize(
    ("op", "changes", "message"),
    [
        (PRODUCT, {"b": whole("b", 2, 4)}, "b: b[0:2, 0:4] is 2x4, not 3x4"),
        (PRODUCT, {"b": whole("t", 4, 3)}, "is 4x3, not 3x4"),
        (TURNED, {"b": whole("b", 3, 4)}, "is 3x4, not 4x3"),
        (PRODUCT, {"a": whole("wide", 2, 3)}, "a: wide[0:2, 0:3] is int32, not int8 or uint8"),
        (PRODUCT, {"b": whole("n", 3, 4)}, "is uint8, not int8"),
        (PRODUCT, {"a": whole("a", 1, 3)}, "has 2 rows, a has 1"),
        (PRODUCT, {"bias": whole("bias", 1, 3)}, "bias: bias[0:1, 0:3] is 1x3, not 1x4"),
        (PRODUCT, {"bias": whole("onto", 2, 4)}, "is 2x4, not 1x4"),
        (PRODUCT, {"out": whole("wide", 2, 4)}, "out: wide[0:2, 0:4] is int32, not int8 or uint8"),
        (PRODUCT, {"onto": whole("onto", 2, 4)}, "onto: only the sums of a deferred softmax"),
        (DEFERRED, {"onto": whole("onto", 1, 4)}, "is 1x4, not 2x4"),
        (DEFERRED, {"onto": whole("out", 2, 4)}, "is int8, not int32"),
        (PRODUCT, {"copies": COPIES[:1]}, "copies: 1 are not one for each of 2 rows"),
        (PRODUCT, {"copies": (whole("cache", 1, 3),) * 2}, "copy: cache[0:1, 0:3] is 1x3"),
        (PRODUCT, {"copies": (whole("n", 1, 4),) * 2}, "is uint8, not int8"),
        (
            PRODUCT,
            {"out": whole("wide", 2, 4), "finish": Sums(), "copies": (whole("wide", 1, 4),) * 2},
            "copies: sums that stay as they are have none",
        ),
        (PRODUCT, {"finish": Requantize(np.inf)}, "scale: inf"),
        (TRANSFORM, {"source": whole("a", 2, 4)}, "source: a[0:2, 0:4] is int8, not int32"),
        (TRANSFORM, {"source": whole("wide", 2, 3)}, "is 2x3, not 2x4"),
        (TRANSFORM, {"finish": Requantize(1.0, 1)}, "zero point: 1 is not in 0..0"),
    ],
)
def test_what_an_operator_cannot_be(op, changes, message):
    op.check(RULES)
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(op, **changes).check(RULES)
