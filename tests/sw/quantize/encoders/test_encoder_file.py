"""An encoder's file: what is written is read, and what is wrong with a file is said."""

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.encoders.encoder import INPUT, Tables
from celosia.sw.quantize.encoders.encoder_file import load_encoder, save_encoder
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError, SavedFile
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.units.segments import Form
from celosia.sw.reference.encoder import EncoderShape, Norm

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
MODEL = random_quantized_encoder(SHAPE, 0)
TABLES = Tables(np.full((5, 16), 7, np.int16), np.full((3, 16), 9, np.int16))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.plan"


def write(path, **changes):
    with path.open("wb") as file:
        save_encoder(replace(MODEL, **changes), file)


def write_formats(path, **changes):
    write(path, formats=replace(MODEL.formats, **changes))


def refuse(path, message):
    with pytest.raises(PlanFileError, match=re.escape(f"{path}: ") + ".*" + re.escape(message)):
        load_encoder(path)


def same(graph, other):
    assert str(graph) == str(other)
    assert graph.constants.keys() == other.constants.keys()
    assert all((value == other.constants[name]).all() for name, value in graph.constants.items())


@pytest.mark.parametrize("tables", [None, TABLES])
def test_a_model_is_read_as_it_was_written(path, tables):
    write(path, tables=tables)
    found = load_encoder(path)
    for lengths in ([3], [4, 1, 9]):
        same(found.graph(lengths), MODEL.graph(lengths))
    assert (found.input_step, found.output_step) == (MODEL.input_step, MODEL.output_step)
    if tables is None:
        assert found.tables is None
    else:
        assert (found.embed([[4, 0]]) == 16).all()


def test_the_same_model_makes_the_same_file():
    files = [BytesIO(), BytesIO()]
    for file in files:
        save_encoder(MODEL, file)
    assert files[0].getvalue() == files[1].getvalue()


def test_products_are_those_of_the_shape(path):
    integers = MODEL.formats.integers
    some = {name: each for name, each in integers.items() if name != "1.down"}
    write_formats(path, integers=some)
    refuse(path, "products: they are of another encoder")
    up = replace(integers["0.up"], weights=np.zeros((16, 31), np.int8))
    write_formats(path, integers=integers | {"0.up": up})
    refuse(path, "0.up.weights: it is int8 of (16, 31), not int8 of (16, 32)")
    up = replace(integers["0.up"], bias=np.zeros(32, np.int64))
    write_formats(path, integers=integers | {"0.up": up})
    refuse(path, "0.up.bias: it is int64 of (32,), not int32 of (32,)")


@pytest.mark.parametrize("value", [np.nan, np.inf, 0, -1, 1e-31, 1e31])
def test_a_step_that_is_none_is_an_error(path, value):
    integers = MODEL.formats.integers
    steps = integers["0.up"].steps.copy()
    steps[3] = value
    message = "0.up.steps: it is not finite" if not np.isfinite(value) else "0.up: a step is not"
    write_formats(path, integers=integers | {"0.up": replace(integers["0.up"], steps=steps)})
    refuse(path, message)


@pytest.mark.parametrize(
    ("form", "found", "message"),
    [
        (INPUT, Format("int8", np.ones(16)), "embedding: it is int8, not int16"),
        (INPUT, Format("int16", np.arange(1.0, 17)), "columns have steps of their own"),
        (INPUT, Format("int16", np.arange(1.0, 10)), "its 16 columns were calibrated as 9"),
        (Form("0.hidden", "small"), Format("uint8", np.ones(32), 256), "its zero point is 256"),
        (Form("0.hidden", "small"), Format("int8", np.ones(32)), "it is int8, not uint8"),
        (Form("0.query", "heads"), Format("int8", np.arange(1.0, 17)), "columns have scales of"),
        (Form("0.query", "angles"), Format("int16", np.ones(16)), "an encoder has no 'angles'"),
    ],
)
def test_a_format_that_does_not_fit_is_an_error(path, form, found, message):
    write_formats(path, forms=MODEL.formats.forms | {form: found})
    refuse(path, message)


def test_scales_are_float32(path):
    forms = MODEL.formats.forms | {Form("0.sum", "wide"): Format("int16", np.full(16, 1e-29))}
    down = replace(MODEL.formats.integers["0.down"], steps=np.full(16, 1e29))
    write_formats(path, forms=forms, integers=MODEL.formats.integers | {"0.down": down})
    refuse(path, "a scale is no float32")


def test_every_form_has_a_format(path):
    forms = {form: each for form, each in MODEL.formats.forms.items() if form.key != "1.sum"}
    write_formats(path, forms=forms)
    refuse(path, "1.sum: it was not calibrated as wide")


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (Computed("tan"), "0.hidden: there is no curve 'tan'"),
        (Computed("silu", 0.0), "0.hidden: its factor is 0.0"),
        (Computed("silu", 2), "0.hidden: its factor is 2"),
    ],
)
def test_curves_are_those_of_the_accelerator(path, curve, message):
    write_formats(path, curves=MODEL.formats.curves | {"0.hidden": curve})
    refuse(path, message)
    write_formats(path, curves={})
    refuse(path, "curves: they are of another encoder")


def test_norms_are_as_wide_as_the_encoder_and_one_pair_for_each_layer(path):
    write(path, norm=Norm(np.ones(15, np.float32), np.ones(16, np.float32)))
    refuse(path, "gamma: it is float32 of (15,), not float32 of (16,)")
    write(path, norm=Norm(np.ones(16, np.float32), np.full(16, np.nan, np.float32)))
    refuse(path, "beta: it is not finite everywhere")
    write(path, norms=MODEL.norms[:1])
    refuse(path, "shape: there are 2 layers, but norms of 1")


def test_tables_have_rows_of_the_encoder(path):
    write(path, tables=replace(TABLES, words=np.zeros((5, 15), np.int16)))
    refuse(path, "words: it is int16 of (5, 15), not int16 of (5, 16)")
    write(path, tables=replace(TABLES, positions=np.zeros((0, 16), np.int16)))
    refuse(path, "positions: it has no rows")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"layers": 10**9}, "shape: there are 1000000000 layers, but norms of 2"),
        ({"width": 0}, "width: 0 is not positive"),
        ({"heads": 3}, "heads: 3 do not divide a width of 16"),
        ({"heads": True}, "are no whole numbers"),
        ({"hidden": 32.0}, "are no whole numbers"),
        ({"hidden": 10**12}, "0.up.weights: it is int8 of (16, 32), not"),
        ({"depth": 1}, "depth"),
    ],
)
def test_a_bad_shape_is_an_error(path, sizes, message, monkeypatch):
    monkeypatch.setattr("celosia.sw.quantize.encoders.encoder_file.asdict", vars)
    write(path, shape=SimpleNamespace(**vars(SHAPE) | sizes))
    refuse(path, message)


def test_another_format_is_an_error(path):
    for found, way in (
        ("celosia.encoder/2", "build it anew"),
        ("celosia.model_plan/2", "`celosia run FILE --input X.npz` takes it"),
        ("other", "build it anew"),
        (3, "build it anew"),
    ):
        with path.open("wb") as file:
            SavedFile().write({"format": found}, file)
        refuse(path, f"is of format {found!r}, not celosia.encoder/3: {way}")


def test_a_file_that_is_not_whole_is_an_error(path):
    write(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        refuse(path, "is no whole plan")
    with path.open("wb") as file:
        SavedFile().write({"format": "celosia.encoder/3"}, file)
    refuse(path, "is no whole plan: 'shape'")
    path.unlink()
    with pytest.raises(PlanFileError, match="No such file"):
        load_encoder(path)


def test_the_document_says_how_a_file_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[4] / "docs" / "model-format.md").read_text()
    section = text.split("## Making one from float weights")[1]
    exec(section.split("```python\n")[1].split("```")[0], {})
    assert load_encoder(Path("encoder.plan")).shape.width == 16
