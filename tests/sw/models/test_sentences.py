"""The quantized published model, against float32."""

from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.models import sentences
from celosia.sw.models.sentences import (
    FloatSentences,
    cosines,
    evaluation_cosines,
    integer_vectors,
    model_key,
    quantize_published,
)
from celosia.sw.quantize.encoders.encoder_file import load_encoder, save_encoder
from celosia.sw.reference.published import MissingModelError, model_files, tokenize
from celosia.sw.reference.texts import evaluation_texts

try:
    model_files()
except MissingModelError as missing:
    pytest.skip(str(missing), allow_module_level=True)

OTHERS = [
    "SEE YOU AT THE STATION AT NOON",
    "who wrote the moonlight sonata",
    "x, y = divmod(17, 5)",
    "7 14 21 28 35 42",
    "Flour. Sugar. Butter. Eggs.",
    "Ministers meet today to agree on fishing quotas for the coming year.",
    " ".join(["The river rose, the fields were flooded, and the ferry stopped."] * 17),
]
"""Of other kinds than the evaluation texts; the last one of about 256 tokens."""


@cache
def model():
    return quantize_published()


def found_cosines(texts):
    tokens = tokenize(texts)
    return cosines(integer_vectors(model(), tokens), FloatSentences().vectors(tokens))


@pytest.mark.slow
@pytest.mark.parametrize("scale_bits", [8, 24])
def test_the_evaluation_set_is_reached(scale_bits):
    config = PRESETS["base"].with_values({"scale_bits": scale_bits})
    found = evaluation_cosines(model(), config)
    assert len(found) == len(evaluation_texts())
    assert found.mean() >= 0.998
    assert found.min() >= 0.996


@pytest.mark.slow
def test_other_texts_are_reached():
    found = found_cosines(OTHERS)
    assert found.mean() >= 0.993
    assert found.min() >= 0.98


@pytest.mark.slow
def test_a_text_of_the_greatest_length_is_reached():
    (tokens,) = tokenize([OTHERS[-1] + " again" * 16])
    assert 240 <= len(tokens) <= 256
    found = cosines(integer_vectors(model(), [tokens]), FloatSentences().vectors([tokens]))
    assert found.min() >= 0.98


@pytest.mark.slow
def test_the_model_survives_its_file(tmp_path):
    path = tmp_path / "model.plan"
    with path.open("wb") as file:
        save_encoder(model(), file)
    loaded = load_encoder(path)
    tokens = tokenize(["One small sentence."])
    assert (integer_vectors(loaded, tokens) == integer_vectors(model(), tokens)).all()


def test_the_key_is_that_of_what_the_model_is_made_from(monkeypatch):
    key = model_key()
    assert key == model_key()
    monkeypatch.setattr(sentences, "calibration_texts", lambda: ["Other text."])
    assert model_key() != key


def test_cosines_are_of_rows():
    a = np.array([[1, 0], [0.6, 0.8]], np.float32)
    assert cosines(a, a[::-1]) == pytest.approx([0.6, 0.6])


def test_no_text_is_an_error():
    with pytest.raises(ValueError, match="no text"):
        FloatSentences().vectors([])
