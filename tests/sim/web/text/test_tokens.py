"""The page's tokens are those of the tokenizer: of any text, and back."""

import random

import pytest

from celosia.sim.web.text.tokens import TokenizerFormError, tokens_document
from celosia.sw.reference.language.model_file import TOKENIZER, shipped_folder
from celosia.sw.reference.language.tokenizer import TextTokenizer
from tests.support.page_scripts import evaluated
from tests.support.wasm_node import needs_node

TEXTS = [
    "Return the",
    "It's a test, isn't it?  We'll see: they'VE 12 pages\n\n    of x = [1, 2]; <|end|>",
    " leading, trailing  ",
    "tabs\tand\r\nlines\n\n\n  ",
    "naïve café \u2013 日本語 Ωmega ½ ²³ ١٢٣ 🎉👩‍👩‍👧 e\u0301",
    "\u0085next\u00a0line\u2003wide\ufeffmark\u200bnone\u3000",
    "\x00\x01\x7f",
]


@pytest.fixture(scope="module")
def tokenizer():
    return TextTokenizer(shipped_folder() / TOKENIZER)


@pytest.fixture(scope="module")
def document(tokenizer):
    return tokens_document(tokenizer)


def in_page(document, body, given):
    return evaluated(
        ["text/tokens.js"],
        f"const tokens = new Tokens(given.document); {body}",
        {"document": document, "given": given},
    )


@needs_node
def test_a_text_has_the_tokens_that_it_has_here(tokenizer, document):
    letters = random.Random(3)
    pieces = [*"aeiou the of '  \n.,(é日🎉1", "ing", "'s", "   "]
    texts = TEXTS + ["".join(letters.choices(pieces, k=40)) for _ in range(60)]
    found = in_page(document, "return given.given.map((text) => tokens.encode(text));", texts)
    assert found == [tokenizer.encode(text) for text in texts]


@needs_node
def test_tokens_are_spoken_piece_by_piece(tokenizer, document):
    """Random tokens: of characters that never end, and of bytes that are none."""
    letters = random.Random(4)
    rows = [tokenizer.encode(text) for text in TEXTS]
    rows += [letters.choices(range(tokenizer.size), k=30) for _ in range(40)]
    rows += [letters.choices(document["bytes"], k=30) for _ in range(40)]
    body = """return given.given.map((row) => {
      const speak = tokens.speaker();
      return row.map(speak);
    });"""
    found = in_page(document, body, rows)
    assert [[piece for piece in each if piece] for each in found] == [
        list(tokenizer.pieces(iter(row))) for row in rows
    ]


def test_merges_are_all_tokens_but_bytes_and_the_end(tokenizer, document):
    assert len(document["bytes"]) == 256
    assert len(document["merges"]) == tokenizer.size - 257
    assert [document["bytes"][ord(letter)] for letter in "aB "] == [
        tokenizer.encode(letter)[0] for letter in "aB "
    ]


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("model", "type", "Unigram"),
        ("model", "byte_fallback", True),
        ("pre_tokenizer", "add_prefix_space", True),
        ("normalizer", None, {"type": "NFC"}),
        ("pre_tokenizer", None, None),
    ],
)
def test_another_tokenizer_is_refused(tokenizer, monkeypatch, part, key, value):
    changed = tokenizer.document()
    if key is None:
        changed[part] = value
    else:
        changed[part][key] = value
    monkeypatch.setattr(tokenizer, "document", lambda: changed)
    with pytest.raises(TokenizerFormError, match=part):
        tokens_document(tokenizer)
