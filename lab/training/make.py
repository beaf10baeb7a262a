"""From the interpreter's documentation to a folder with a model."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shutil import copyfile
from typing import Final

import numpy as np

from celosia.lab.training.compare import calibration_windows
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.text.corpora import Corpus
from celosia.lab.training.text.corpus import corpus_key
from celosia.lab.training.tokens import train_tokenizer
from celosia.lab.training.train import Told, train
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, save_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.calibration import save_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    load_language_model,
    save_weights,
    shipped_folder,
)
from celosia.sw.reference.language.tokenizer import TextTokenizer

__all__ = ["CHECKPOINT", "make_model", "write_model"]

CHECKPOINT: Final = "checkpoint.npz"
_WINDOWS: Final = 400
"""Windows that are learned from one checkpoint to the next."""


def make_model(
    folder: Path,
    recipe: Recipe,
    corpus: Corpus,
    texts: Sequence[str],
    tell: Told = lambda steps, loss: None,
) -> None:
    """Train weights on `texts`, those of `corpus`, and write to `folder` all that a model needs.

    The tokenizer is trained on the texts, too; of `manual`, it is that of the small model that
    comes with the project, so that perplexities of both are of the same tokens.  A training that
    was interrupted goes on from the checkpoint in `folder`, and what `train` raises is raised.
    """
    if corpus == "docstrings":
        tokenizer = train_tokenizer(texts, recipe.shape.vocabulary, folder / TOKENIZER)
    else:
        copyfile(shipped_folder() / TOKENIZER, folder / TOKENIZER)
        tokenizer = TextTokenizer(folder / TOKENIZER)
    stream = tokenizer.stream(texts)
    save_ngrams(folder / NGRAMS, count_ngrams(stream))
    tensors = train(
        recipe,
        np.array(stream, np.uint16),
        checkpoint=folder / CHECKPOINT,
        every=max(_WINDOWS // recipe.batch, 1),
        tell=tell,
    )
    write_model(folder, recipe, corpus, texts, tensors)


def write_model(
    folder: Path,
    recipe: Recipe,
    corpus: Corpus,
    texts: Sequence[str],
    tensors: Mapping[str, Floats],
) -> None:
    """Write the trained `tensors`, with where they are from, and windows for their ranges.

    The tokenizer is in `folder` already.
    """
    origin = {
        "text": corpus_key(texts),
        "corpus": corpus,
        "python": platform.python_version(),
        "recipe": {name: value for name, value in asdict(recipe).items() if name != "shape"},
    }
    save_weights(folder / WEIGHTS, recipe.shape, tensors, origin)
    save_calibration(folder, calibration_windows(load_language_model(folder), texts))
