"""Finishes: which columns count, what each makes of sums by hand, its text, and what it refuses."""

import re

import numpy as np
import pytest

from celosia.sw.ir.graphs.finishes import (
    NO_MASK,
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Mask,
    Requantize,
    Softmax,
    Sums,
    visible_columns,
)
from celosia.sw.ir.graphs.operator import Rules, Values
from celosia.sw.ir.graphs.tensors import Tensor, View

TYPES = {"i8": "int8", "u8": "uint8", "i16": "int16", "i32": "int32"}
SCALES = np.array([[1, 0.5, 0.25, 2]], np.float32)


def view(name: str, rows: int = 2, cols: int = 4) -> View:
    return View(name, 0, 0, rows, cols)


def rules() -> Rules:
    tensors = {name: Tensor(name, kind, 2, 4) for name, kind in TYPES.items()}
    tensors |= {"scales": Tensor("scales", "float32", 1, 4), "free": tensors["i32"]}
    tensors |= {"sums": Tensor("sums", "int32", 2, 1), "seen": Tensor("seen", "float32", 1, 4)}
    return Rules(tensors, {"scales": SCALES, "seen": SCALES / np.float32(0.5)})


def made(finish, out: str, of, **given) -> list:
    """What a finish makes of sums for a tensor of this type."""
    values = {name: np.zeros((2, 4), kind) for name, kind in TYPES.items()}
    values |= {"sums": np.zeros((2, 1), np.int32)} | given
    found = Values({"scales": SCALES}, values)
    return finish.of(found, view(out), np.array(of, np.int32)).tolist()


ROWS = [[5, -5, 300, 6], [0, 1, -2000, 127]]


def test_sums_are_scaled_rounded_to_even_and_saturate():
    assert made(Sums(), "i32", ROWS) == ROWS
    assert made(Requantize(0.5), "i8", ROWS) == [[2, -2, 127, 3], [0, 0, -128, 64]]
    assert made(Requantize(0.5), "i16", ROWS) == [[2, -2, 150, 3], [0, 0, -1000, 64]]
    assert made(Requantize(1.0, relu=True), "i8", ROWS) == [[5, 0, 127, 6], [0, 1, 0, 127]]
    assert made(Requantize(1.0, zero_point=4), "u8", ROWS) == [[9, 0, 255, 10], [4, 5, 0, 131]]
    columns = Requantize(view("scales", 1))
    assert made(columns, "i16", ROWS) == [[5, -2, 75, 12], [0, 0, -500, 254]]


def test_another_term_is_added_with_its_scale():
    other = np.array([[1, 2, 3, 4], [-1, -2, -3, 30000]], np.int16)
    finish = AddResidual(1.0, view("i16"), 2.0)
    found = made(finish, "i16", [[10, 10, 10, 10], [0, 0, 0, 1]], i16=other)
    assert found == [[12, 14, 16, 18], [-2, -4, -6, 32767]]


def test_shares_of_equal_scores_are_equal_and_hidden_columns_have_none():
    level, half = [[0, 0, 0, 0], [7, 7, 7, 7]], pytest.approx(127.5, abs=0.5)
    assert made(Softmax(1.0), "u8", level) == [[64] * 4] * 2
    assert made(Softmax(1.0, Mask(keys=3)), "u8", level) == [[85, 85, 85, 0]] * 2
    assert made(Softmax(1.0, Mask(causal=True)), "u8", level) == [
        [255, 0, 0, 0],
        [half, half, 0, 0],
    ]


def test_scores_that_wait_saturate_and_others_do_not():
    """With 10 fraction bits, int16 ends below 32: 40 and 50 are the same there."""
    scores = [[50 << 10, 40 << 10, 0, 0], [0, 0, 0, 0]]
    for stored, wanted in ((True, [255, 255, 0, 0]), (False, [255, 0, 0, 0])):
        finish = DeferredSoftmax(1.0, view("sums", 2, 1), stored=stored)
        assert made(finish, "u8", scores)[0] == wanted


def test_numerators_and_their_sums_wait_for_a_product():
    sums = np.zeros((2, 1), np.int32)
    finish = DeferredSoftmax(1.0, view("sums", 2, 1), Mask(causal=True, first_row=1))
    found = made(finish, "u8", [[0] * 4] * 2, sums=sums)
    assert found == [[255, 255, 0, 0], [255, 255, 255, 0]]
    assert sums.tolist() == [[510], [765]]
    # 16 more fraction bits: 510 * 100 / 510 with a scale of 2^-16 are 100.
    divided = DivideBySums(view("sums", 2, 1), 2.0**-16)
    context = [[51000, 25500, 510, 0], [76500, 765, -7650, 0]]
    assert made(divided, "i8", context, sums=sums) == [[100, 50, 1, 0], [100, 1, -10, 0]]


@pytest.mark.parametrize(
    ("mask", "seen"),
    [
        (NO_MASK, None),
        (Mask(keys=0), [[0, 0, 0], [0, 0, 0]]),
        (Mask(keys=2), [[1, 1, 0], [1, 1, 0]]),
        (Mask(causal=True), [[1, 0, 0], [1, 1, 0]]),
        (Mask(causal=True, first_row=1), [[1, 1, 0], [1, 1, 1]]),
        (Mask(keys=2, causal=True, first_row=1), [[1, 1, 0], [1, 1, 0]]),
        (Mask(keys=1, causal=True), [[1, 0, 0], [1, 0, 0]]),
    ],
)
def test_columns_that_count(mask, seen):
    found = visible_columns(mask, np.zeros((2, 3), np.int16))
    if found is None:
        assert seen is None
    else:
        assert np.broadcast_to(found, (2, 3)).astype(int).tolist() == seen


def test_masks_of_later_rows():
    assert Mask(causal=True, first_row=3).some_rows(4, 2) == Mask(causal=True, first_row=7)
    assert Mask(keys=5).some_rows(4, 2) == Mask(keys=5)


@pytest.mark.parametrize(
    ("finish", "text"),
    [
        (Sums(), "sums"),
        (Requantize(0.5), "requantize 0.5"),
        (Requantize(0.5, 3, relu=True), "requantize 0.5, zero point 3, relu"),
        (Requantize(view("scales", 1)), f"requantize {view('scales', 1)}"),
        (Activation("gelu", 0.5, 0.25, 7), "gelu 0.5 -> 0.25, zero point 7"),
        (AddResidual(0.5, view("i16"), 2.0), f"add_residual 0.5, {view('i16')} 2.0"),
        (Softmax(0.5, Mask(keys=3)), "softmax 0.5, keys 3"),
        (Softmax(0.5, Mask(causal=True, first_row=2)), "softmax 0.5, causal, first row 2"),
        (
            DeferredSoftmax(0.5, view("sums", 2, 1), Mask(causal=True, moving=True), stored=True),
            f"deferred_softmax 0.5, causal, moving, stored, sums to {view('sums', 2, 1)}",
        ),
        (
            DeferredSoftmax(0.5, view("sums", 2, 1), dithered=True),
            f"deferred_softmax 0.5, dithered, sums to {view('sums', 2, 1)}",
        ),
        (DivideBySums(view("sums", 2, 1), 0.5), f"divide_by {view('sums', 2, 1)}, requantize 0.5"),
    ],
)
def test_finishes_as_texts(finish, text):
    assert str(finish) == text


@pytest.mark.parametrize(
    ("finish", "out", "message"),
    [
        (Requantize(np.inf), "i8", "scale: inf is not a finite float32"),
        (Requantize(1e39), "i8", "scale: 1e+39 is not a finite float32"),
        (Requantize(view("free", 1)), "i8", "scale: free[0:1, 0:4] is int32, not float32"),
        (Requantize(view("scales", 1, 3)), "i8", "is 1x3, not 1x4"),
        (Requantize(1.0, 1), "i8", "zero point: 1 is not in 0..0"),
        (Requantize(1.0, 256), "u8", "zero point: 256 is not in 0..255"),
        (Requantize(1.0, -1), "u8", "zero point: -1 is not in 0..255"),
        (Activation("selu", 1.0, 1.0), "i8", "function: 'selu' is none of gelu"),
        (Activation("gelu", np.nan, 1.0), "i8", "scale: nan is not"),
        (Activation("gelu", 1.0, np.inf), "i8", "scale: inf is not"),
        (Activation("gelu", 1.0, 1.0, 1), "i16", "zero point: 1 is not in 0..0"),
        (AddResidual(np.inf, view("i16"), 1.0), "i16", "scale: inf"),
        (AddResidual(1.0, view("i16"), np.inf), "i16", "scale: inf"),
        (AddResidual(1.0, view("i8"), 1.0), "i16", "residual: "),
        (AddResidual(1.0, view("i16", 1), 1.0), "i16", "is 1x4, not 2x4"),
        (Softmax(0.0), "u8", "scale: 0.0 is not one positive finite float32"),
        (Softmax(-1.0), "u8", "scale: -1.0 is not one positive"),
        (Softmax(1e-50), "u8", "scale: 1e-50 is not one positive"),
        (Softmax(1.0, Mask(keys=5)), "u8", "keys: 5 is not in 0..4"),
        (Softmax(1.0, Mask(keys=-1)), "u8", "keys: -1 is not in 0..4"),
        (Softmax(1.0, Mask(causal=True, first_row=-1)), "u8", "first row: -1 is not in 0.."),
        (Softmax(1.0, Mask(moving=True)), "u8", "moving: a mask that is not causal"),
        (DeferredSoftmax(0.0, view("sums", 2, 1)), "u8", "scale: 0.0"),
        (DeferredSoftmax(1.0, view("i32", 2, 1), Mask(keys=5)), "u8", "keys: 5 is not"),
        (DeferredSoftmax(1.0, view("i16", 2, 1)), "u8", "sums: i16[0:2, 0:1] is int16, not int32"),
        (DeferredSoftmax(1.0, view("i32", 2, 2)), "u8", "is 2x2, not 2x1"),
        (DivideBySums(view("sums", 1, 1), 1.0), "i8", "is 1x1, not 2x1"),
        (DivideBySums(view("sums", 2, 1), np.inf), "i8", "scale: inf"),
    ],
)
def test_what_a_finish_cannot_be(finish, out, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        finish.check(rules(), view(out))


@pytest.mark.parametrize(
    ("finish", "out"),
    [
        (Requantize(0.0), "i8"),
        (Requantize(-1.0, 0), "i16"),
        (Requantize(view("scales", 1), 255), "u8"),
        (Activation("gelu", 1.0, 1.0, 255), "u8"),
        (AddResidual(1.0, view("i16"), -1.0), "i16"),
        (Softmax(1.0, Mask(keys=4, causal=True)), "u8"),
        (Softmax(1.0, Mask(keys=0)), "i16"),
        (DeferredSoftmax(1.0, view("sums", 2, 1), Mask(causal=True, moving=True)), "u8"),
        (DivideBySums(view("sums", 2, 1), view("scales", 1)), "i8"),
    ],
)
def test_what_a_finish_may_be(finish, out):
    finish.check(rules(), view(out))


def test_dithered_parts_begin_at_tiles_and_at_the_period_of_the_dither():
    plain = DeferredSoftmax(1.0, view("sums", 2, 1))
    dithered = DeferredSoftmax(1.0, view("sums", 2, 1), dithered=True)
    assert [plain.begins(dim) for dim in (4, 16)] == [4, 16]
    assert [dithered.begins(dim) for dim in (4, 16)] == [16, 16]
