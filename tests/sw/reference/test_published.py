"""The published model in float32."""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import FileHash
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from celosia.sw.models.sentences import FloatSentences, cosines
from celosia.sw.reference import published
from celosia.sw.reference.published import (
    MAX_TOKENS,
    MissingModelError,
    check_files,
    model_files,
    read_embeddings,
    read_encoder,
    tokenize,
)

try:
    model_files()
except MissingModelError as missing:
    pytest.skip(str(missing), allow_module_level=True)

FIGURES = [
    ("The new movie is awesome", "The new movie is so great", 0.8939),
    ("The cat sits outside", "The cat plays in the garden", 0.6788),
    ("I love pasta", "Do you like pizza?", 0.5096),
    ("I love pasta", "The new movie is so great", 0.2560),
    ("I love pasta", "The new movie is awesome", 0.2440),
]
"""Similarities that the documentation of sentence-transformers prints for this model."""


def test_similarities_are_the_published_ones():
    one, other, figures = zip(*FIGURES, strict=True)
    model = FloatSentences()
    found = cosines(model.vectors(tokenize(one)), model.vectors(tokenize(other)))
    assert found.round(4).tolist() == pytest.approx(list(figures), abs=1e-4)


def test_the_first_layer_can_be_read_alone():
    assert read_encoder(layers=1).shape.layers == 1


def test_there_is_a_position_for_each_token():
    assert len(read_embeddings().positions) == MAX_TOKENS


def test_texts_are_tokenized_with_marks():
    assert tokenize(["Hello world"]) == [[101, 7592, 2088, 102]]


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_text_is_an_error(text):
    with pytest.raises(ValueError, match=re.escape(f"text {text!r}: has no tokens")):
        tokenize(["fine", text])


def test_the_longest_text_is_the_model_s():
    assert len(tokenize(["word " * 254])[0]) == 256
    with pytest.raises(ValueError, match="257 tokens, the model takes at most 256"):
        tokenize(["word " * 255])


def test_a_damaged_file_of_the_package_is_an_error(monkeypatch, tmp_path):
    check_files()
    paths = tuple(tmp_path / name for name in ("model.safetensors", "tokenizer.json"))
    digest = urlsafe_b64encode(sha256(b"good").digest()).rstrip(b"=").decode()
    files = [
        SimpleNamespace(
            name=path.name, hash=FileHash(f"sha256={digest}"), locate=lambda path=path: path
        )
        for path in paths
    ]
    monkeypatch.setattr(published, "model_files", lambda: paths)
    monkeypatch.setattr(published, "distribution", lambda _: SimpleNamespace(files=files))
    for path in paths:
        path.write_text("good")
    check_files()
    paths[1].write_text("goo")
    with pytest.raises(
        MissingModelError, match=r"tokenizer\.json: is damaged; pip install --force"
    ):
        check_files()
    with pytest.raises(MissingModelError, match=r"tokenizer\.json of package"):
        tokenize(["a text"])


def test_a_missing_tensor_is_an_error(monkeypatch, tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"other": np.zeros(2, np.float32)}, path)
    monkeypatch.setattr(published, "model_files", lambda: (path, path))
    with pytest.raises(MissingModelError, match="embeddings"):
        read_encoder()
