"""Formats of a file are such as a graph can have, or the file says what is wrong with them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.graphs.files.formats_document import formats_document, read_formats
from celosia.sw.quantize.graphs.files.saved_file import SavedFile
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.units.values import Form
from celosia.sw.reference.encoder import EncoderShape

FORMATS = random_quantized_encoder(EncoderShape(layers=1, width=16, heads=2, hidden=32), 0).formats
INPUT = Form("embedding", "wide")


def read(**changes):
    saved = SavedFile()
    return read_formats(formats_document(replace(FORMATS, **changes), saved), saved)


def refuse(message, **changes):
    with pytest.raises(GraphError, match=re.escape(message)):
        read(**changes)


def test_formats_are_read_as_they_were_written():
    given = {"stored": frozenset({"0.context"}), "notes": ("a note",), "per_tensor": True}
    found = read(**given, sums=frozenset({"0.sum"}), dithered=frozenset({"1.context"}))
    assert (found.per_tensor, read().per_tensor) == (True, False)
    assert (found.stored, found.notes) == ({"0.context"}, ("a note",))
    assert (found.sums, found.dithered) == ({"0.sum"}, {"1.context"})
    assert (found.curves, found.alike_heads) == (FORMATS.curves, True)
    assert (found.caps, read(caps={"0.context": 0.75}).caps) == ({}, {"0.context": 0.75})
    for form, each in FORMATS.forms.items():
        assert (found.forms[form].steps == each.steps).all()
        assert (found.forms[form].type, found.forms[form].zero_point) == (
            each.type,
            each.zero_point,
        )
    for name, linear in FORMATS.integers.items():
        for part, value in vars(linear).items():
            assert np.array_equal(getattr(found.integers[name], part), value)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0, -1, 1e-31, 1e31])
def test_a_step_that_is_none_is_an_error(value):
    up = FORMATS.integers["0.up"]
    steps = up.steps.copy()
    steps[3] = value
    integers = FORMATS.integers | {"0.up": replace(up, steps=steps)}
    refuse("0.up: a step is not between", integers=integers)


@pytest.mark.parametrize("factor", [np.nan, np.inf, 0.0, -1.0])
def test_a_factor_of_scores_that_is_none_is_an_error(factor):
    refuse(f"0.context: scores times {factor!r}", caps={"0.context": factor})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"weights": np.zeros((16, 31), np.int8)},
            "0.up.bias: it is int32 of (32,), not int32 of (31,)",
        ),
        ({"weights": np.zeros((16, 32), np.int16)}, "0.up.weights: it is int16 of (16, 32)"),
        ({"weights": np.zeros(32, np.int8)}, "0.up.weights: their shape is (32,)"),
        ({"bias": np.zeros(32, np.int64)}, "0.up.bias: it is int64 of (32,), not int32 of (32,)"),
    ],
)
def test_parts_of_a_product_fit_each_other(changes, message):
    integers = FORMATS.integers | {"0.up": replace(FORMATS.integers["0.up"], **changes)}
    refuse(message, integers=integers)


@pytest.mark.parametrize(
    ("form", "found", "message"),
    [
        (INPUT, Format("int8", np.ones(16)), "embedding: int8 is no type of wide"),
        (INPUT, Format("int16", np.ones((1, 16))), "embedding.steps: it is float64 of (1, 16)"),
        (Form("0.hidden", "small"), Format("uint8", np.ones(32), 256), "its zero point is 256"),
        (Form("0.hidden", "small"), Format("uint8", np.ones(32), True), "its zero point is True"),
        (Form("0.query", "onto"), Format("int32", np.ones(16)), "0.query: there is no form 'onto'"),
    ],
)
def test_a_format_that_no_form_has_is_an_error(form, found, message):
    refuse(message, forms=FORMATS.forms | {form: found})


ENDS = {
    ("small", "uint8"): (0, 255),
    ("small", "int8"): (-128, 127),
    ("heads", "int8"): (-128, 127),
    ("wide", "int16"): (-32768, 32767),
    ("angles", "int16"): (-32768, 32767),
    ("sums", "int32"): (-(2**31), 2**31 - 1),
}
"""The types that a form may have by its role, as docs/model-format.md has them, and their ends."""


@pytest.mark.parametrize("role", ["wide", "small", "heads", "angles", "sums"])
@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "int32"])
def test_a_role_has_its_types_and_any_of_their_numbers_may_be_a_zero_point(role, kind):
    form = Form("0.hidden", role)

    def forms(zero):
        return FORMATS.forms | {form: Format(kind, np.ones(32), zero)}

    if (role, kind) not in ENDS:
        refuse(f"0.hidden: {kind} is no type of {role}", forms=forms(0))
        return
    least, most = ENDS[role, kind]
    for zero in (least, most):
        assert read(forms=forms(zero)).forms[form].zero_point == zero
    for zero in (least - 1, most + 1):
        refuse(f"its zero point is {zero}", forms=forms(zero))


@pytest.mark.parametrize(
    "changes",
    [
        lambda each: {"caps": {"0.context": each}},
        lambda each: {"curves": {"0.hidden": Computed("silu", each)}},
        lambda each: {"forms": FORMATS.forms | {INPUT: Format("int16", np.full(16, each))}},
    ],
    ids=["caps", "curves", "steps"],
)
def test_steps_and_factors_are_between_1e_minus_30_and_1e30(changes):
    for end, inside in ((1e-30, np.inf), (1e30, 0)):
        assert read(**changes(float(np.nextafter(end, inside))))
        with pytest.raises(GraphError, match=r"\w"):
            read(**changes(end))


@pytest.mark.parametrize(("kind", "most"), [(WeightType.INT4, 7), (WeightType.INT8, 128)])
def test_weights_are_those_of_their_type(kind, most):
    for sign in (1, -1) if kind is WeightType.INT4 else (-1,):
        up = replace(FORMATS.integers["0.up"], kind=kind)
        up = replace(up, weights=np.full_like(up.weights, sign * most))
        found = read(integers=FORMATS.integers | {"0.up": up}).integers["0.up"]
        assert (found.kind, np.unique(found.weights).tolist()) == (kind, [sign * most])
        if kind is WeightType.INT4:
            up = replace(up, weights=up.weights.copy())
            up.weights[3, 4] += sign
            message = "0.up: weights of int4 are not in -7..7"
            refuse(message, integers=FORMATS.integers | {"0.up": up})


def test_what_files_of_before_do_not_say_is_not_there():
    saved = SavedFile()
    document = formats_document(FORMATS, saved)
    given = {**document, "packed": {}, "apart": ["a"], "dithered": ["d"], "int16": ["i"]}
    found = read_formats({**given, "caps": {"c": 2}, "per_tensor": True}, saved)
    assert (found.apart, found.dithered, found.int16_operands) == ({"a"}, {"d"}, {"i"})
    assert (found.caps, found.per_tensor) == ({"c": 2.0}, True)
    for name in ("packed", "apart", "dithered", "int16", "caps", "per_tensor"):
        del document[name]
    found = read_formats(document, saved)
    assert {linear.kind for linear in found.integers.values()} == {WeightType.INT8}
    assert not any([found.apart, found.dithered, found.int16_operands, found.caps])
    assert found.per_tensor is False


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (Computed("tan"), "0.hidden: there is no curve 'tan'"),
        (Computed("silu", 0.0), "0.hidden: its factor is 0.0"),
        (Computed("silu", 2), "0.hidden: its factor is 2"),
    ],
)
def test_curves_are_those_of_the_accelerator(curve, message):
    refuse(message, curves={"0.hidden": curve})
