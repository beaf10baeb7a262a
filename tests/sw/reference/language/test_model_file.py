"""The file of a model."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    LanguageModelError,
    load_language_model,
    save_weights,
    shipped_folder,
)
from celosia.sw.reference.language.shape import LlamaShape
from celosia.sw.reference.language.shape_document import shape_document
from celosia.sw.reference.language.tokenizer import TokenizerError
from tests.support.language import TINY, UNLIKE, random_weights, small_shape

SHAPE = small_shape(layers=1, width=8, heads=2, key_heads=1, hidden=4, context=8)
SIZES = shape_document(SHAPE)


@pytest.fixture
def folder(tmp_path):
    """A folder with a small model and the project's tokenizer."""
    save_weights(tmp_path / WEIGHTS, SHAPE, random_weights(SHAPE).tensors, {"text": "x"})
    (tmp_path / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    return tmp_path


def header(shape: object = None, **changes: object) -> dict[str, str]:
    """Metadata that are right but for `changes`."""
    right = {"format": "celosia-llama", "version": 1, "shape": shape or SIZES, "origin": {}}
    return {"celosia": json.dumps({**right, **changes})}


def halves(shape: LlamaShape = SHAPE) -> dict[str, np.ndarray]:
    return {name: x.astype(np.float16) for name, x in random_weights(shape).tensors.items()}


def test_weights_come_back_as_float16_has_them(folder):
    model, tensors = load_language_model(folder), random_weights(SHAPE).tensors
    assert model.weights.shape == SHAPE
    assert model.origin == {"text": "x"}
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(model.weights[name], tensor.astype(np.float16))
        assert model.weights[name].dtype == np.float32


def test_layers_that_differ_come_back(tmp_path):
    (tmp_path / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    shape = replace(UNLIKE, vocabulary=2048)
    save_weights(tmp_path / WEIGHTS, shape, random_weights(shape).tensors, {})
    assert load_language_model(tmp_path).weights.shape == shape


@pytest.mark.parametrize(("shape", "version"), [(TINY, 1), (UNLIKE, 2)])
def test_a_model_whose_layers_are_alike_is_written_as_ever(tmp_path, shape, version):
    save_weights(tmp_path / WEIGHTS, shape, random_weights(shape).tensors, {})
    with safe_open(tmp_path / WEIGHTS, framework="np") as file:
        assert json.loads(file.metadata()["celosia"])["version"] == version


def test_numbers_that_float16_does_not_have_are_not_written(tmp_path):
    tensors = random_weights(SHAPE).tensors
    tensors["norm"][3] = 1e6
    with pytest.raises(ValueError, match="tensor norm: has numbers that are not finite"):
        save_weights(tmp_path / WEIGHTS, SHAPE, tensors, {})
    assert not (tmp_path / WEIGHTS).exists()


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "its metadata are missing"),
        ({"celosia": "{"}, "its metadata are missing"),
        ({"celosia": "[" * 10_000}, "its metadata are missing"),
        (header(format="x"), "format 'x' version 1 is not 'celosia-llama' 1 or 2"),
        (header(version=3), "version 3 is not"),
        (header([1]), "is no object"),
        (header({"layers": 1}), "is not whole numbers for context, heads"),
        (header(dict.fromkeys(SIZES, 1.0)), "is not whole numbers for context, heads"),
        (header({**SIZES, "hidden": 0}), "hidden: 0 is not positive"),
        (header(origin=3), "origin 3: is no object"),
    ],
)
def test_another_header_is_refused(folder, metadata, message):
    save_file(halves(), folder / WEIGHTS, metadata=metadata)
    with pytest.raises(LanguageModelError, match=message):
        load_language_model(folder)


def test_other_tensors_are_refused(folder):
    right = halves()
    for change, message in (
        ({"norm": right["norm"].astype(np.float32)}, "tensor norm: type F32 is not F16"),
        ({"norm": right["norm"][:2].copy()}, r"tensor norm: its shape is \(2,\)"),
        ({"other": right["norm"]}, "tensor other: is superfluous"),
    ):
        save_file({**right, **change}, folder / WEIGHTS, metadata=header())
        with pytest.raises(LanguageModelError, match=message):
            load_language_model(folder)


def test_damaged_and_missing_files_are_refused(folder, tmp_path):
    whole = (folder / WEIGHTS).read_bytes()
    for text in (whole[:-1], whole[:40], b"", b"x" * 100):
        (folder / WEIGHTS).write_bytes(text)
        with pytest.raises(LanguageModelError, match="not a safetensors file"):
            load_language_model(folder)
    (folder / WEIGHTS).unlink()
    with pytest.raises(LanguageModelError, match="No such file"):
        load_language_model(folder)
    with pytest.raises(TokenizerError, match="No such file"):
        load_language_model(Path("nowhere"))


def test_a_tokenizer_of_another_vocabulary_is_refused(folder):
    shape = small_shape(vocabulary=100, layers=1, width=8, heads=2, key_heads=1, hidden=4)
    save_weights(folder / WEIGHTS, shape, random_weights(shape).tensors, {})
    with pytest.raises(LanguageModelError, match="the tokenizer has 2048 tokens, the model 100"):
        load_language_model(folder)
