"""The model file: what is written is read, and what is wrong with a file is said."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from celosia.sw.models.cases import random_integer_encoder
from celosia.sw.quantize.model import IntegerEncoder, ModelError, embedding_layout, layout
from celosia.sw.quantize.model_file import FORMAT, VERSION, load_model, save_model
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
MODEL = random_integer_encoder(SHAPE, 0)
HEADER = {"format": FORMAT, "version": VERSION, "shape": asdict(SHAPE)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def refuse(path, message):
    with pytest.raises(ModelError, match=re.escape(f"{path}: ") + ".*" + re.escape(message)):
        load_model(path)


def write(path, header=HEADER, **changes):
    tensors = {**MODEL.tensors, **changes}
    kept = {name: array for name, array in tensors.items() if array is not None}
    save_file(kept, path, metadata={"celosia": json.dumps(header)})


def test_a_model_is_read_as_it_was_written(path):
    model = load_model(save_model(MODEL, path))
    assert model.shape == SHAPE
    assert model.tensors.keys() == MODEL.tensors.keys()
    for name, array in MODEL.tensors.items():
        assert model.tensors[name].dtype == array.dtype
        assert (model.tensors[name] == array).all()


def test_the_same_model_makes_the_same_file(tmp_path):
    one, other = (save_model(MODEL, tmp_path / name).read_bytes() for name in ("one", "other"))
    assert one == other


def test_a_missing_tensor_is_an_error(path):
    write(path, **{"layers.1.down.bias": None})
    refuse(path, "tensor layers.1.down.bias is missing; it is int32 of (1, 16)")


def test_a_tensor_of_another_shape_or_type_is_an_error(path):
    write(path, **{"layers.0.up.weights": np.zeros((16, 31), np.int8)})
    refuse(path, "tensor layers.0.up.weights is int8 of (16, 31), not int8 of (16, 32)")
    write(path, **{"norm.wide.gamma": np.zeros((1, 16), np.int32)})
    refuse(path, "tensor norm.wide.gamma is int32 of (1, 16), not int16 of (1, 16)")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_scale_that_is_not_finite_is_an_error(path, value):
    write(path, **{"layers.0.scores.scale": np.array([[1, value]], np.float32)})
    refuse(path, "tensor layers.0.scores.scale is not finite everywhere")


def test_an_unknown_tensor_is_an_error(path):
    write(path, **{"layers.2.up.weights": np.zeros((16, 32), np.int8)})
    refuse(path, "tensor layers.2.up.weights is not part of an encoder")


def test_embeddings_are_both_tables_or_none(path):
    for name in embedding_layout(16, 4, 4):
        write(path, **{name: np.zeros((4, 16), np.int16)})
        refuse(path, "is missing")


def test_another_version_is_an_error(path):
    write(path, {**HEADER, "version": 1})
    refuse(path, "version: 1 is not 2; quantize the model again with this release")


def test_another_format_is_an_error(path):
    write(path, {**HEADER, "format": "other"})
    refuse(path, "format: 'other' is not 'celosia-integer-encoder'")
    write(path, [])
    refuse(path, "its metadata have no entry celosia with a format and version")
    save_file(dict(MODEL.tensors), path)
    refuse(path, "its metadata have no entry celosia with a format and version")
    refuse(path, "one of float weights; docs/model-format.md says how to convert it")


def test_the_document_says_how_a_file_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[3] / "docs" / "model-format.md").read_text()
    section = text.split("## Making one from float weights")[1]
    exec(section.split("```python\n")[1].split("```")[0], {})
    assert load_model(Path("model.safetensors")).shape.width == 16


@pytest.mark.parametrize(
    "header", [None, 3, "shape", [1], {"format": FORMAT}, {"version": VERSION}, {"format": []}]
)
def test_metadata_of_another_kind_are_an_error(path, header):
    write(path, header)
    refuse(path, "its metadata have no entry celosia with a format and version")


SIZES = "has not exactly the sizes layers, width, heads, hidden"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (None, f"shape: None {SIZES}"),
        ([], f"shape: [] {SIZES}"),
        ("layers", f"shape: 'layers' {SIZES}"),
        ({"layers": 1}, SIZES),
        ({**asdict(SHAPE), "depth": 1}, SIZES),
        ({**asdict(SHAPE), "width": 0}, "shape: width: 0 is not positive"),
        ({**asdict(SHAPE), "width": -(10**30)}, "is not positive"),
        ({**asdict(SHAPE), "heads": 3}, "shape: heads: 3 do not divide a width of 16"),
        ({**asdict(SHAPE), "heads": True}, "shape: heads: True is not a whole number"),
        ({**asdict(SHAPE), "hidden": 32.0}, "shape: hidden: 32.0 is not a whole number"),
        ({**asdict(SHAPE), "hidden": "32"}, "shape: hidden: '32' is not a whole number"),
        ({**asdict(SHAPE), "width": None}, "shape: width: None is not a whole number"),
        ({**asdict(SHAPE), "layers": [2]}, "shape: layers: [2] is not a whole number"),
        (
            {**asdict(SHAPE), "layers": 10**9},
            "shape: layers: 1000000000, but the file has 92 tensors",
        ),
    ],
)
def test_a_bad_shape_is_an_error(path, shape, message):
    write(path, {**HEADER, "shape": shape})
    refuse(path, message)


def header_alone(entries, size):
    """A file of safetensors with `entries` and `size` bytes behind its header."""
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(size)


@pytest.mark.parametrize(
    ("kind", "size"), [("BF16", 2), ("F16", 2), ("F8_E5M2", 1), ("F8_E4M3", 1), ("F64", 8)]
)
def test_a_type_that_no_model_has_is_an_error(path, kind, size):
    entry = {"dtype": kind, "shape": [1], "data_offsets": [0, size]}
    metadata = {"celosia": json.dumps(HEADER)}
    path.write_bytes(header_alone({"__metadata__": metadata, "output.step": entry}, size))
    refuse(path, f"tensor output.step: type {kind} is none of I8, I16, I32, F32")


def test_layers_that_no_file_has_take_no_memory(path):
    shape = {**asdict(SHAPE), "layers": 10**9}
    metadata = {"celosia": json.dumps({**HEADER, "shape": shape})}
    path.write_bytes(header_alone({"__metadata__": metadata}, 0))
    assert path.stat().st_size < 300
    refuse(path, "shape: layers: 1000000000, but the file has 0 tensors")


def test_a_file_that_is_no_model_is_an_error(path):
    path.write_bytes(b"not a model at all")
    refuse(path, "not a safetensors file")
    path.unlink()
    with pytest.raises(ModelError, match="No such file"):
        load_model(path)


def test_a_cut_file_is_an_error(path):
    save_model(MODEL, path)
    path.write_bytes(path.read_bytes()[:-10])
    refuse(path, "not a safetensors file")


def test_a_part_of_a_model_is_not_written(path):
    tensors = {name: array for name, array in MODEL.tensors.items() if name != "output.step"}
    with pytest.raises(ModelError, match=re.escape("tensor output.step is missing")):
        save_model(IntegerEncoder(SHAPE, tensors), path)


def test_the_last_layer_has_no_small_output():
    names = layout(SHAPE)
    assert "layers.0.norm.small.gamma" in names
    assert "layers.1.norm.small.gamma" not in names
