"""The tokens of a search: to learn from, to search by, and to compare on in the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.lab.training.text.corpora import Corpus, corpus_texts
from celosia.lab.training.text.corpus import documents, without_near_duplicates
from celosia.lab.training.text.held_out import held_out_texts
from celosia.sw.reference.language.model_file import shipped_folder
from celosia.sw.reference.language.tokenizer import TextTokenizer

__all__ = ["Texts", "read_texts", "sums_of_documents"]

Tokens = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Texts:
    """Three texts that have nothing in common, in tokens of the small model that is shipped."""

    learned: Tokens
    validation: Tokens
    """What searches score by."""
    held_out: Tokens
    """What no search sees."""
    documents: NDArray[np.int32]
    """For each of `held_out` but the first, the number of the document that it is of."""

    @property
    def key(self) -> str:
        """Tells the learned text from another."""
        return sha256(self.learned.tobytes()).hexdigest()[:16]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Tokens of each held-out document."""
        return np.bincount(self.documents)


def read_texts(corpus: Corpus) -> Texts:
    """The texts of this interpreter's documentation.

    Raises `ManualError` where the manual is wanted and not installed.
    """
    tokenizer = TextTokenizer(shipped_folder() / "tokenizer.json")
    validation = [
        each.text for each in without_near_duplicates(documents()) if each.part == "validation"
    ]
    held_out = [text for _, text in held_out_texts()]
    lengths = [len(tokenizer.stream([text])) - 1 for text in held_out]
    whole = _tokens(tokenizer, held_out)
    numbers = np.repeat(np.arange(len(held_out), dtype=np.int32), lengths)
    return Texts(
        _tokens(tokenizer, corpus_texts(corpus)),
        _tokens(tokenizer, validation),
        whole,
        numbers,
    )


def _tokens(tokenizer: TextTokenizer, texts: Sequence[str]) -> Tokens:
    return np.array(tokenizer.stream(texts), np.uint16)


def sums_of_documents(likelihoods: NDArray[Any], texts: Texts) -> NDArray[np.float64]:
    """The sum for each held-out document of what `likelihoods` says of its tokens."""
    return np.bincount(texts.documents, likelihoods.astype(float)).astype(float)
