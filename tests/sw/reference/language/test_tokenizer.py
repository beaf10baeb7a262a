"""Text to tokens and back."""

import json

import pytest

from celosia.sw.reference.language.model_file import TOKENIZER, shipped_folder
from celosia.sw.reference.language.tokenizer import (
    END,
    OwnTokenizer,
    TextTokenizer,
    TokenizerError,
)


@pytest.fixture(scope="module")
def tokenizer():
    return TextTokenizer(shipped_folder() / TOKENIZER)


@pytest.mark.parametrize(
    "text", ["Return a list.", "  two\n\n    indents\t", "Überraschung: 木 and \x00", "<|end|>", ""]
)
def test_every_text_comes_back(tokenizer, text):
    tokens = tokenizer.encode(text)
    assert END not in tokens
    assert "".join(tokenizer.pieces(iter(tokens))) == text


def test_a_row_of_texts_has_an_end_around_each(tokenizer):
    a, b = tokenizer.encode("one"), tokenizer.encode("two")
    assert tokenizer.stream(["one", "two"]) == [END, *a, END, *b, END]
    assert tokenizer.stream([]) == [END]


def test_a_character_waits_for_all_its_bytes(tokenizer):
    tokens = tokenizer.encode("木.")
    assert len(tokens) > 2
    assert list(tokenizer.pieces(iter(tokens))) == ["木", "."]
    assert list(tokenizer.pieces(iter(tokens[:1]))) == []


def test_an_ordinary_text_takes_fewer_tokens_than_letters(tokenizer):
    text = "Return the number of elements that are equal to the argument."
    assert len(tokenizer.encode(text)) * 3 < len(text)


def test_what_is_no_text_is_refused(tokenizer):
    with pytest.raises(TokenizerError, match="surrogates not allowed"):
        tokenizer.encode("a\udc80")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"model": {"type": "BPE"}}', "\x00"])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path, text):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(TokenizerError, match=f"{path}: not a tokenizer"):
        TextTokenizer(path)


def test_a_missing_file_and_a_foreign_tokenizer_are_refused(tmp_path):
    with pytest.raises(TokenizerError, match="No such file"):
        TextTokenizer(tmp_path / "t.json")
    text = (shipped_folder() / TOKENIZER).read_text().replace("<|end|>", "<|other|>")
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(TokenizerError, match=r"token 0 is not <\|end\|>"):
        TextTokenizer(path)


SLOW = {"Regex": "(a+)+$"}
"""A regular expression that looks at the start of aaa... in all ways, before it gives up."""
SPLIT = {"type": "Split", "pattern": SLOW, "behavior": "Isolated", "invert": False}
REPLACE = {"type": "Replace", "pattern": SLOW, "content": "x"}


def hostile(path, **changed):
    """A tokenizer of a few letters, with a part that somebody wrote to hurt."""
    model = {"type": "WordLevel", "vocab": {"b": 0, "a" * 40 + "!": 1}, "unk_token": "?"}
    parts = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
    document = {"version": "1.0", "added_tokens": [], **dict.fromkeys(parts), "model": model}
    path.write_text(json.dumps(document | changed))
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pre_tokenizer": SPLIT}, "cannot take the text apart: .*retry-limit-in-match over"),
        ({"normalizer": REPLACE}, "cannot take the text apart: .*retry-limit-in-match over"),
        ({}, r"cannot take the text apart: .*Missing"),
        ({"decoder": REPLACE}, "has no text for token 1: .*retry-limit-in-match over"),
    ],
)
def test_what_a_hostile_file_makes_of_a_text_is_one_sentence(tmp_path, capfd, changed, message):
    path = hostile(tmp_path / "t.json", **changed)
    tokenizer = OwnTokenizer(path)
    with pytest.raises(TokenizerError, match=f"^{path}: {message}") as caught:
        _ = [*tokenizer.pieces(iter([1]))], tokenizer.encode("a" * 40 + "!c")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_file_that_ends_its_reader_is_no_tokenizer(tmp_path, capfd):
    precompiled = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    path = hostile(tmp_path / "t.json", normalizer=precompiled)
    with pytest.raises(TokenizerError, match=f"^{path}: not a tokenizer: Precompiled"):
        OwnTokenizer(path)
    assert capfd.readouterr().err == ""


def test_what_a_file_puts_around_a_text_is_there_only_if_it_is_asked_for(tmp_path):
    document = json.loads((shipped_folder() / TOKENIZER).read_text())
    mark = {"SpecialToken": {"id": "<|end|>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [mark, text],
        "pair": [mark, text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [END], "tokens": ["<|end|>"]}},
    }
    path = tmp_path / TOKENIZER
    path.write_text(json.dumps(document))
    framed = OwnTokenizer(path)
    tokens = framed.encode("Return a list.")
    assert END not in tokens
    assert framed.encode("Return a list.", frame=True) == [END, *tokens]
