"""N-grams come back from their file, and files of another kind are refused."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from celosia.sw.decoding.drafts.ngram_file import NGRAMS, NgramError, load_ngrams, save_ngrams
from celosia.sw.decoding.drafts.ngrams import Ngrams, count_ngrams
from celosia.sw.reference.language.model_file import load_language_model, shipped_folder


def test_shares_are_kept_in_parts_of_255(tmp_path):
    tokens = np.random.default_rng(3).integers(0, 9, 400).tolist()
    ngrams, path = count_ngrams(tokens), tmp_path / "n.safetensors"
    save_ngrams(path, ngrams)
    found = load_ngrams(path, 9)
    assert found.followers.keys() == ngrams.followers.keys()
    for context, (token, share) in ngrams.followers.items():
        assert found.followers[context][0] == token
        assert found.followers[context][1] == pytest.approx(share, abs=0.5 / 255)
    save_ngrams(path, Ngrams({}))
    assert load_ngrams(path, 9).followers == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"2.tokens": None}, "has no tensor '2.tokens'"),
        ({"more": np.zeros(1)}, "tensors that no n-grams have: more"),
        ({"1.shares": np.zeros(2, np.float32)}, "tensor 1.shares: float32"),
        ({"1.contexts": np.zeros((9, 2), np.uint16)}, "tensor 1.contexts: uint16"),
        ({"1.tokens": np.zeros((), np.uint16)}, "tensor 1.contexts: uint16"),
        ({"2.tokens": np.zeros(2, np.uint16)}, "tensor 2.contexts: uint16"),
        ({"1.tokens": np.full(3, 9, np.uint16)}, r"token 9 is not in 0\.\.8 of the model"),
        ({"1.contexts": np.full((3, 1), 9, np.uint16)}, r"token 9 is not in 0\.\.8"),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, changes, message):
    path = tmp_path / "n.safetensors"
    save_ngrams(path, count_ngrams([1, 2, 8, 1, 2, 8]))
    tensors = load_file(path) | changes
    save_file({name: value for name, value in tensors.items() if value is not None}, path)
    with pytest.raises(NgramError, match=message):
        load_ngrams(path, 9)


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(NgramError, match="No such file"):
        load_ngrams(tmp_path / "n", 8)
    (tmp_path / "n").write_bytes(b"x" * 99)
    with pytest.raises(NgramError, match="n: not a safetensors file"):
        load_ngrams(tmp_path / "n", 8)


def test_the_projects_are_of_its_text_and_small():
    path, model = shipped_folder() / NGRAMS, load_language_model()
    assert path.stat().st_size < 1 << 20
    found = load_ngrams(path, model.weights.shape.vocabulary)
    # What the documentation of Python says most often behind these words.
    for begin, end in (("Return a new", " instance"), ("Raises an Attribute", "Error")):
        token, share = found(model.tokenizer.encode(begin)) or (0, 0)
        assert "".join(model.tokenizer.pieces(iter([token]))) == end
        assert 0 < share < 1
