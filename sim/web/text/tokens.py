"""The tokens of a page: bytes of each, and which two become one, in the order in which they do."""

from collections.abc import Iterator
from typing import Any, Final

from celosia.sw.reference.language.tokenizer import END, Tokenizer

__all__ = ["TokenizerFormError", "tokens_document"]

_FORM: Final = {
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
    "model": {
        "type": "BPE",
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "byte_fallback": False,
        "ignore_merges": False,
    },
}
"""What a tokenizer's document has of this, `tokens.js` does."""


class TokenizerFormError(ValueError):
    """A tokenizer that takes texts apart in another way than the page does."""


def tokens_document(tokenizer: Tokenizer) -> dict[str, Any]:
    """The JSON document of a byte-level BPE: tokens of single bytes, and merges, the first first.

    A merge is the two tokens and the one that they become.  Raises `TokenizerFormError` for
    another tokenizer.
    """
    document = tokenizer.document()
    for part, form in _FORM.items():
        found = document[part]
        if found is None or form is None:
            alike = found is form
        else:
            alike = all(found[key] == value for key, value in form.items())
        if not alike:
            raise TokenizerFormError(f"the tokenizer's {part} is {found}, not like {form}")
    known: dict[str, int] = document["model"]["vocab"]
    merges = [(known[a], known[b], known[a + b]) for a, b in document["model"]["merges"]]
    alphabet = [known[letter] for letter in _letters()]
    made = {END, *alphabet, *(merge[2] for merge in merges)}
    if made != {*range(tokenizer.size)}:
        raise TokenizerFormError(f"tokens {sorted({*range(tokenizer.size)} ^ made)} are not merged")
    return {"end": END, "bytes": alphabet, "merges": merges}


def _letters() -> Iterator[str]:
    """The character that stands for each byte in tokens, as GPT-2's tokenizer began it.

    Bytes that print stand for themselves; the others, in order, for the characters from 256 on.
    """
    others = iter(range(256, 512))
    for byte in range(256):
        prints = 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174
        yield chr(byte if prints else next(others))
