"""The held-out text."""

from hashlib import sha256

import pytest

from celosia.lab.training.text.held_out import (
    HELD_OUT_FILE,
    HeldOutError,
    held_out_texts,
    save_held_out,
)
from celosia.sw.reference.language.model_file import TOKENIZER, shipped_folder
from celosia.sw.reference.language.tokenizer import TextTokenizer

HASH = "04b740ece6dcb8d14051f4f1400ac74abb5c3b5d662fc06766f0174951550c1d"
"""The file's SHA-256: perplexities of another text cannot be compared."""


def test_it_is_the_text_that_figures_were_measured_on():
    text = (shipped_folder() / HELD_OUT_FILE).read_bytes()
    assert sha256(text).hexdigest() == HASH


def test_it_has_enough_tokens():
    texts = [text for _, text in held_out_texts()]
    assert len(TextTokenizer(shipped_folder() / TOKENIZER).stream(texts)) > 20_000
    assert len(set(texts)) == len(texts)


def test_what_is_written_is_read(tmp_path):
    rows = [("email", 'Two\nlines, \u2028 and "quotes".'), ("json", "é")]
    path = tmp_path / "texts.jsonl"
    save_held_out(path, rows)
    assert held_out_texts(path) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "not a file of JSON lines"),
        ("[" * 10_000, "not a file of JSON lines"),
        ('["a", "b"]\n["a"]', ":2: is not a module and a text"),
        ('["a", 1]', ":1: is not a module and a text"),
        ('["a", ""]', ":1: is not a module and a text"),
    ],
)
def test_another_file_is_refused(tmp_path, text, message):
    path = tmp_path / "texts.jsonl"
    path.write_text(text)
    with pytest.raises(HeldOutError, match=message):
        held_out_texts(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(HeldOutError, match="No such file"):
        held_out_texts(tmp_path / "none.jsonl")
