"""NaN and infinity are refused wherever they are, with their place."""

from dataclasses import fields

import numpy as np
import pytest

from celosia.sw.quantize.checks import check_finite
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPE = EncoderShape(layers=2, width=8, heads=2, hidden=12)


def parts():
    """An encoder, and its arrays by the names that a message has for them."""
    weights = random_encoder(SHAPE, 0)
    words, positions = (random_embeddings(SHAPE, [5], seed) for seed in (1, 2))
    calibration = random_embeddings(SHAPE, [3], 3)
    named = {
        "calibration": calibration,
        "embedding.words": words,
        "embedding.positions": positions,
        "norm.gamma": weights.norm.gamma,
        "norm.beta": weights.norm.beta,
    }
    for number, layer in enumerate(weights.layers):
        for part in fields(layer):
            of = getattr(layer, part.name)
            for each in fields(of):
                named[f"layers.{number}.{part.name}.{each.name}"] = getattr(of, each.name)
    return (weights, Embeddings(words, positions), calibration), named


NAMES = [*parts()[1]]


def test_numbers_are_no_reason():
    given, named = parts()
    check_finite(*given)
    check_finite(given[0], None, given[2])
    assert len(named) == 5 + 2 * 8 * 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_each_array_is_looked_at_and_named_with_the_place(name, value):
    given, named = parts()
    array = named[name]
    place = (0, 3) if array.ndim == 1 else (2, 3)
    np.atleast_2d(array)[place] = value
    said = f"^{name}: {value} at row {place[0]}, column 3 is not finite$"
    with pytest.raises(ValueError, match=said):
        check_finite(*given)
