"""From the interpreter's documentation to a folder with a model."""

import platform
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np

from celosia.lab.training.compare import calibration_windows
from celosia.lab.training.corpus import corpus_key, training_texts
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.tokens import train_tokenizer
from celosia.lab.training.train import Told, train
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, save_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.reference.language.calibration import save_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    load_language_model,
    save_weights,
)

__all__ = ["CHECKPOINT", "make_model"]

CHECKPOINT: Final = "checkpoint.npz"


def make_model(folder: Path, recipe: Recipe, tell: Told = lambda steps, loss: None) -> None:
    """Train tokenizer and weights on this interpreter's documentation, and write them to `folder`.

    A training that was interrupted goes on from the checkpoint in `folder`, and what `train`
    raises is raised.
    """
    texts = training_texts()
    tokenizer = train_tokenizer(texts, recipe.shape.vocabulary, folder / TOKENIZER)
    stream = tokenizer.stream(texts)
    save_ngrams(folder / NGRAMS, count_ngrams(stream))
    tokens = np.array(stream, np.uint16)
    tensors = train(recipe, tokens, checkpoint=folder / CHECKPOINT, tell=tell)
    origin = {
        "text": corpus_key(texts),
        "python": platform.python_version(),
        "recipe": {name: value for name, value in asdict(recipe).items() if name != "shape"},
    }
    save_weights(folder / WEIGHTS, recipe.shape, tensors, origin)
    save_calibration(folder, calibration_windows(load_language_model(folder), texts))
