"""How alike texts are, from vectors that a test knows."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.sim.workloads import similarity
from celosia.sim.workloads.similarity import Texts, compare_texts

VECTORS = np.array([[1, 0], [0.6, 0.8]], np.float32)
REAL = np.array([[0.8, 0.6], [0, 1]], np.float32)


@pytest.fixture
def sentences(monkeypatch):
    """Vectors by the tokens of each text, those of the device turned by nothing."""
    seen = []

    def vectors(model, output, lengths):
        seen.append((model, output, lengths))
        return VECTORS

    found = SimpleNamespace(
        sentence_vectors=vectors,
        cosines=lambda ones, others: (ones * others).sum(axis=1),
        FloatSentences=lambda: SimpleNamespace(vectors=lambda tokens: REAL[: len(tokens)]),
    )
    monkeypatch.setattr(similarity, "import_module", lambda _: found)
    return seen


def texts(published: bool) -> Texts:
    model: Any = "model"
    return Texts(model, ("one", "two"), ([1, 2, 3], [1, 4]), published)


def test_cosines_of_texts_and_of_their_vectors_in_float32(sentences):
    found = compare_texts(texts(published=True), np.zeros(3))
    assert (found.texts, found.lengths) == (("one", "two"), [3, 2])
    np.testing.assert_allclose(found.cosines, [[1, 0.6], [0.6, 1]], rtol=1e-6)
    assert found.float_cosines is not None
    np.testing.assert_allclose(found.float_cosines, [[1, 0.6], [0.6, 1]], rtol=1e-6)
    assert found.to_float is not None
    np.testing.assert_allclose(found.to_float, [0.8, 0.8], rtol=1e-6)
    assert sentences[0][0] == "model"
    assert sentences[0][2] == [3, 2]


def test_each_pair_of_float32_is_of_float32_alone(sentences, monkeypatch):
    monkeypatch.setattr(
        similarity, "float_vectors", lambda _: np.array([[1, 0], [0, 1]], np.float32)
    )
    found = compare_texts(texts(published=True), np.zeros(3))
    assert found.float_cosines is not None
    assert found.float_cosines.tolist() == [[1, 0], [0, 1]]
    assert found.to_float is not None
    np.testing.assert_allclose(found.to_float, [1, 0.8], rtol=1e-6)


@pytest.mark.parametrize(("published", "wanted"), [(False, True), (True, False)])
def test_without_float32_there_is_nothing_to_compare_with(published, wanted, sentences):
    found = compare_texts(texts(published), np.zeros(3), with_float=wanted)
    assert found.float_cosines is None
    assert found.to_float is None
    assert found.cosines.shape == (2, 2)
