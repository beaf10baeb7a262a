"""An encoder's file: what is written is read, and what is wrong with a file is said."""

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder import Tables
from celosia.sw.quantize.encoders.encoder_file import (
    calibrated_encoder,
    load_encoder,
    save_encoder,
)
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.files.model_file import Calibrated, save_model
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.reference.encoder import EncoderShape, Norm
from tests.support.quantized_exports import inputs, recognized

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


@pytest.mark.parametrize("tokens", [1, 2, 7])
def test_a_model_for_one_length_is_an_encoder_of_all(path, tokens):
    with path.open("wb") as file:
        save_model(calibrated_encoder(MODEL, tokens), {}, file)
    same(load_encoder(path).graph([4, 1, 9]), MODEL.graph([4, 1, 9]))


def test_the_first_and_the_only_layer_have_their_norms(path):
    model = random_quantized_encoder(EncoderShape(layers=1, width=24, heads=3, hidden=16), 3)
    with path.open("wb") as file:
        save_encoder(model, file)
    found = load_encoder(path)
    assert found.shape == model.shape
    same(found.graph([5, 2]), model.graph([5, 2]))


def test_another_model_is_no_encoder(path):
    graph = recognized("bert-17")
    formats = calibrate(lambda _: graph, [inputs("bert-17", 0)])
    with path.open("wb") as file:
        save_model(Calibrated(graphs=(graph,), formats=formats), {}, file)
    refuse(path, "its graph is no encoder of texts")
    found = calibrated_encoder(MODEL)
    (graph,) = found.graphs
    nodes = tuple(
        replace(node, attributes={**node.attributes, "scale": 1.0})
        if node.op == "attention"
        else node
        for node in graph.nodes
    )
    with path.open("wb") as file:
        save_model(replace(found, graphs=(replace(graph, nodes=nodes),)), {}, file)
    refuse(path, "its graph is no encoder of texts")


def test_every_product_and_form_is_there(path):
    integers = MODEL.formats.integers
    some = {name: each for name, each in integers.items() if name != "1.down"}
    write_formats(path, integers=some)
    refuse(path, "1.down: no such product was calibrated")
    forms = {form: each for form, each in MODEL.formats.forms.items() if form.key != "1.sum"}
    write_formats(path, forms=forms)
    refuse(path, "1.sum: it was not calibrated as wide")


def test_norms_are_numbers(path):
    write(path, norm=Norm(np.ones(16, np.float32), np.full(16, np.nan, np.float32)))
    refuse(path, "is no whole plan")


def test_tables_have_rows_of_the_encoder(path):
    write(path, tables=replace(TABLES, words=np.zeros((5, 15), np.int16)))
    refuse(path, "words: it is int16 of (5, 15), not int16 of (rows, 16)")
    write(path, tables=replace(TABLES, positions=np.zeros((0, 16), np.int16)))
    refuse(path, "positions: it is int16 of (0, 16), not int16 of (rows, 16)")
    with path.open("wb") as file:
        save_model(replace(calibrated_encoder(MODEL), tables={"others": TABLES.words}), {}, file)
    refuse(path, "its tables are others, not words, positions")


def test_the_document_says_how_a_file_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[4] / "docs" / "model-format.md").read_text()
    section = text.split("## Making one from float weights")[1]
    exec(section.split("```python\n")[1].split("```")[0], {})
    assert load_encoder(Path("encoder.plan")).shape.width == 16
