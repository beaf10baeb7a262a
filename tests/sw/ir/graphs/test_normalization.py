"""Norms of rows: by hand, as texts, and what they refuse."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graphs.normalization import LayerNorm, Normalized
from celosia.sw.ir.graphs.operator import Rules, Values
from celosia.sw.ir.graphs.tensors import Tensor, View


def whole(name: str, rows: int = 2, cols: int = 4) -> View:
    return View(name, 0, 0, rows, cols)


FIRST = Normalized(whole("out"), whole("gamma", 1), whole("beta", 1), 16)
SECOND = replace(FIRST, out=whole("wide"), shift=4)
NORM = LayerNorm(name="n", source=whole("x"), outputs=(FIRST,))
SIZES = {
    "x": ("int16", 2, 4),
    "out": ("int8", 2, 4),
    "wide": ("int16", 2, 4),
    "i32": ("int32", 2, 4),
    "gamma": ("int16", 1, 4),
    "beta": ("int32", 1, 4),
}
RULES = Rules({name: Tensor(name, *kind) for name, kind in SIZES.items()}, {})


def normalized(norm: LayerNorm, beta: int = 0) -> dict:
    values = {name: np.zeros((rows, cols), kind) for name, (kind, rows, cols) in SIZES.items()}
    values["x"][...] = [[1000, -1000, 1000, -1000], [3000, 1000, 3000, 1000]]
    values["gamma"][...] = 128
    values["beta"][...] = beta
    norm.compute(Values({}, values))
    return values


def test_rows_of_one_distance_are_plus_and_minus_one():
    """Distances over the root of the sum of four squares are a half, with 16 fraction bits."""
    both = normalized(replace(NORM, outputs=(FIRST, replace(SECOND, shift=14))))
    assert both["out"].tolist() == [[64, -64, 64, -64]] * 2
    assert both["wide"].tolist() == [[256, -256, 256, -256]] * 2
    shifted = normalized(NORM, beta=3 << 16)["out"]
    assert shifted.tolist() == [[67, -61, 67, -61]] * 2


def test_distances_from_zero_are_others_than_from_the_mean():
    found = normalized(replace(NORM, rms=True))["out"]
    # Of 3, 1, 3, 1 the mean of squares is 5: 64 * 3 / sqrt 5 = 85.9, 64 / sqrt 5 = 28.6.
    assert found.tolist() == [[64, -64, 64, -64], [86, 29, 86, 29]]
    # An epsilon as large as the sum of squared distances makes the root sqrt 2 times as long.
    half = normalized(replace(NORM, epsilon=4 * 1000 * 1000))["out"]
    assert half.tolist() == [[45, -45, 45, -45]] * 2


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, ""),
        ({"epsilon": 5}, ", epsilon 5"),
        ({"outputs": (FIRST, SECOND)}, ""),
    ],
)
@pytest.mark.parametrize("rms", [False, True])
def test_texts(changes, text, rms):
    norm = replace(NORM, rms=rms, **changes)
    kind = "rmsnorm" if rms else "layernorm"
    one = f"{FIRST.out} by {FIRST.gamma}, {FIRST.beta}, shift 16"
    two = f" and {SECOND.out} by {FIRST.gamma}, {FIRST.beta}, shift 4" * (len(norm.outputs) > 1)
    assert str(norm) == f"n: {kind} {NORM.source}{text} -> {one}{two}"


def test_which_views_it_has():
    both = replace(NORM, outputs=(FIRST, SECOND))
    assert [view.tensor for view in both.operands] == ["x", "gamma", "beta", "gamma", "beta"]
    assert [view.tensor for view in both.results] == ["out", "wide"]
    part = both.some_rows(1, 1)
    assert (part.source.row, part.outputs[1].out.rows, part.outputs[0].gamma) == (1, 1, FIRST.gamma)
    assert not both.has_some_cols
    assert both.alike == ("norm", 2, 4, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": whole("i32")}, "source: i32[0:2, 0:4] is int32, not int16"),
        ({"epsilon": -1}, "epsilon: -1 is not in 0..1099511627775"),
        ({"epsilon": 1 << 40}, "epsilon: 1099511627776 is not in 0..1099511627775"),
        ({"outputs": ()}, "outputs: 0 are not one or two"),
        ({"outputs": (FIRST,) * 3}, "outputs: 3 are not one or two"),
        ({"outputs": (replace(FIRST, out=whole("i32")),)}, "out: i32[0:2, 0:4] is int32"),
        ({"outputs": (replace(FIRST, out=whole("out", 1)),)}, "is 1x4, not 2x4"),
        ({"outputs": (replace(FIRST, gamma=whole("beta", 1)),)}, "gamma: beta"),
        ({"outputs": (replace(FIRST, gamma=whole("gamma", 1, 3)),)}, "is 1x3, not 1x4"),
        ({"outputs": (replace(FIRST, beta=whole("gamma", 1)),)}, "beta: gamma"),
        ({"outputs": (replace(FIRST, beta=whole("beta", 1, 3)),)}, "is 1x3, not 1x4"),
        ({"outputs": (FIRST, replace(SECOND, shift=32))}, "shift: 32 is not in 0..31"),
        ({"outputs": (replace(FIRST, shift=-1),)}, "shift: -1 is not in 0..31"),
    ],
)
def test_what_cannot_be_normalized(changes, message):
    for good in ({}, {"epsilon": (1 << 40) - 1}, {"outputs": (replace(FIRST, shift=31), SECOND)}):
        replace(NORM, **good).check(RULES)
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(NORM, **changes).check(RULES)
