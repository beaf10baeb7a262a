"""The file of counted n-grams: safetensors, beside the model whose training text they are of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from celosia.isa.foreign_file import ForeignFileError, check_foreign
from celosia.sw.decoding.drafts.draft import Guess
from celosia.sw.decoding.drafts.ngrams import ORDERS, Ngrams
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.reference.language.errors import LanguageError

__all__ = ["NGRAMS", "NgramError", "load_ngrams", "save_ngrams"]

NGRAMS: Final = "ngrams.safetensors"
_MOST_BYTES: Final = 64 << 20
"""The largest file of n-grams that is opened."""
_SHARES: Final = 255
"""Shares are whole parts of this."""
_KINDS: Final = {"contexts": np.uint16, "tokens": np.uint16, "shares": np.uint8}


class NgramError(LanguageError):
    """A file that does not hold n-grams of a model's tokens."""


def save_ngrams(path: Path, ngrams: Ngrams) -> None:
    """Write n-grams of tokens below 2^16, shares as parts of 255."""
    tensors = {}
    for order in ORDERS:
        found = [(*key, *guess) for key, guess in ngrams.followers.items() if len(key) == order]
        rows = np.array(sorted(found), np.float64).reshape(-1, order + 2)
        parts = rows[:, :order], rows[:, order], np.rint(rows[:, order + 1] * _SHARES)
        for (name, kind), part in zip(_KINDS.items(), parts, strict=True):
            tensors[f"{order}.{name}"] = np.ascontiguousarray(part, kind)
    save_file(tensors, path)


def load_ngrams(path: Path, vocabulary: int) -> Ngrams:
    """The n-grams in a file.

    Raises `NgramError` for a file that is missing, of another form, or that has tokens outside of
    the `vocabulary`.
    """
    try:
        check_foreign(path, _MOST_BYTES)
        tensors = load_file(path)
    except ForeignFileError as error:
        raise NgramError(str(error)) from None
    except SafetensorError as error:
        raise NgramError(f"{path}: not a safetensors file: {error}") from None
    return Ngrams(dict(_followers(path, tensors, vocabulary)))


def _followers(
    path: Path, tensors: dict[str, Array], vocabulary: int
) -> Iterator[tuple[tuple[int, ...], Guess]]:
    for order in ORDERS:
        try:
            found = {name: tensors.pop(f"{order}.{name}") for name in _KINDS}
        except KeyError as error:
            raise NgramError(f"{path}: has no tensor {error}") from None
        rows = len(found["tokens"]) if found["tokens"].ndim else 0
        shapes = {"contexts": (rows, order), "tokens": (rows,), "shares": (rows,)}
        for name, kind in _KINDS.items():
            tensor = found[name]
            if tensor.dtype != kind or tensor.shape != shapes[name]:
                raise NgramError(
                    f"{path}: tensor {order}.{name}: {tensor.dtype} {tensor.shape} is not "
                    f"{np.dtype(kind)} {shapes[name]}"
                )
        greatest = max(found[name].max(initial=0) for name in ("contexts", "tokens"))
        if greatest >= vocabulary:
            raise NgramError(f"{path}: token {greatest} is not in 0..{vocabulary - 1} of the model")
        shares = (found["shares"] / _SHARES).tolist()
        guesses = zip(found["tokens"].tolist(), shares, strict=True)
        yield from zip(map(tuple, found["contexts"].tolist()), guesses, strict=True)
    if tensors:
        raise NgramError(f"{path}: has tensors that no n-grams have: {', '.join(tensors)}")
