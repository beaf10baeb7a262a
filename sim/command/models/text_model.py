"""What goes on with a text: the project's language model, or a decoder of the user's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from celosia.isa.foreign_file import ForeignFileError, read_text
from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.command.models.prompts import Prompt
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.decoder import vocabulary_of
from celosia.sw.decoding.drafts.ngram_file import NGRAMS
from celosia.sw.decoding.steps import ROWS
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.calibration import load_calibration
from celosia.sw.reference.language.model_file import load_language_model, shipped_folder
from celosia.sw.reference.language.tokenizer import END, OwnTokenizer, Tokenizer

__all__ = ["TextModel", "check_known", "own_model", "project_model", "read_graph", "tokens_of"]

_MOST_BYTES: Final = 64 << 20
"""The largest file of text that is opened."""
_MOST_TOKENS: Final = MAX_COLUMNS + 1 - ROWS
"""Tokens of a text: a row of scores has room for them and for the rows of the last step."""
_LEAST: Final = 8
"""Tokens that a model is read for, at least: a single one does not show what is causal."""
_WINDOW: Final = 64
"""The most tokens of a window that ranges are chosen by."""
_WINDOWS: Final = 64
"""The most windows."""
_DRAWN: Final = 16
"""Windows of random tokens."""
_SEED: Final = 0x70CE


@dataclass(frozen=True, eq=False, kw_only=True)
class TextModel:
    """A model, and what it is to go on with."""

    graph: FloatGraph
    """The decoder for a whole text."""
    tokenizer: Tokenizer
    begins: Sequence[Sequence[int]]
    """The tokens of each prompt."""
    context: int
    """Tokens that a text takes at most: all but the last one that it makes."""
    end: int | None
    """The token that ends a text."""
    windows: Sequence[Sequence[int]]
    """Tokens that the ranges of its integers are chosen by."""
    note: str = ""
    """What the user should know."""
    ngrams: Path | None = None
    """The file of n-grams that belongs to it; it need not be there."""


def project_model(folder: Path | None, prompts: Sequence[Prompt], tokens: int) -> TextModel:
    """The language model in `folder`, or that of the project, for so many `tokens` more.

    Raises `InputError` for a prompt without tokens and for a text that is longer than the model's
    context, and what reading a model does.
    """
    found = load_language_model(folder)
    shape = found.weights.shape
    begins = _encoded(prompts, found.tokenizer.encode)
    longest = _check_length(prompts, begins, tokens, shape.context, "the model's context")
    return TextModel(
        graph=llama_float_graph(found.weights, shape.context),
        tokenizer=found.tokenizer,
        begins=[[END, *begin] for begin in begins],
        context=longest + tokens,
        end=END,
        windows=load_calibration(folder, shape.vocabulary, shape.context),
        ngrams=(folder or shipped_folder()) / NGRAMS,
    )


def own_model(
    path: Path,
    tokenizer: OwnTokenizer,
    prompts: Sequence[Prompt],
    tokens: int,
    calibration: Path | None,
) -> TextModel:
    """The decoder in the ONNX file at `path`, for so many `tokens` more.

    `calibration` is a file of text.  Raises `InputError` for a file that is no decoder, a prompt
    without tokens, a text that is too long, and tokens that the model does not have.
    """
    begins = _encoded(prompts, partial(tokenizer.encode, frame=True))
    longest = _check_length(prompts, begins, tokens, _MOST_TOKENS + 1, "the longest text")
    context = longest + tokens - 1
    graph, window = _graph_and_window(path, context)
    vocabulary = vocabulary_of(graph)
    for prompt, begin in zip(prompts, begins, strict=True):
        check_known(prompt.where, begin, vocabulary)
    if calibration is None:
        random = np.random.default_rng(_SEED)
        windows = random.integers(0, vocabulary, (_DRAWN, window)).tolist()
    else:
        found = tokens_of("--calibrate", calibration, tokenizer)
        windows = _windows(found, window)
        for window in windows:
            check_known(f"--calibrate {calibration}", window, vocabulary)
    note = "" if calibration else "ranges are chosen by random tokens; --calibrate takes a text"
    return TextModel(
        graph=graph,
        tokenizer=tokenizer,
        begins=begins,
        context=context,
        end=tokenizer.end,
        windows=windows,
        note=note,
    )


def _graph_and_window(path: Path, context: int) -> tuple[FloatGraph, int]:
    """The decoder in a file for texts of up to `context` tokens, and how many a window has.

    Windows are as long for a short text as for a long one, so that both have the same integers,
    unless the file takes no more tokens than the text.
    """
    if context < _WINDOW:
        try:
            return read_graph(path, _WINDOW), _WINDOW
        except InputError:  # What is wrong with the file itself is said of the text's length.
            pass
    return read_graph(path, context), min(_WINDOW, context)


def read_graph(path: Path, context: int) -> FloatGraph:
    """The decoder in the ONNX file at `path`, for texts of up to `context` tokens.

    Raises `InputError` for a file that is no decoder.
    """
    reader = import_extra("celosia.sw.decoding.read", "onnx")
    try:
        return reader.read_decoder(path, max(context, _LEAST))
    except ValueError as error:
        raise InputError(str(error)) from None


def _encoded(
    prompts: Sequence[Prompt], encode: Callable[[str], Sequence[int]]
) -> list[Sequence[int]]:
    """The tokens of each prompt."""
    found = [encode(prompt.text) for prompt in prompts]
    for prompt, begin in zip(prompts, found, strict=True):
        if not len(begin):
            raise InputError(f"{prompt.where} {prompt.text!r}: has no tokens")
    return found


def _check_length(
    prompts: Sequence[Prompt], begins: Sequence[Sequence[int]], tokens: int, most: int, what: str
) -> int:
    """The tokens of the longest prompt, which has room for so many more."""
    prompt, begin = max(zip(prompts, begins, strict=True), key=lambda pair: len(pair[1]))
    if len(begin) + tokens > most:
        raise InputError(
            f"--tokens {tokens}: with the {len(begin)} of {prompt.where} they are more than the "
            f"{most} of {what}"
        )
    return len(begin)


def check_known(option: str, tokens: Sequence[int], vocabulary: int) -> None:
    """Raise `InputError` for a token of the tokenizer that the model does not have."""
    for place, token in enumerate(tokens):
        if token >= vocabulary:
            raise InputError(
                f"{option}: token {place} is {token} by --tokenizer, which is not in "
                f"0..{vocabulary - 1} of the model"
            )


def tokens_of(option: str, path: Path, tokenizer: Tokenizer) -> list[int]:
    """The tokens of the text in a file that `option` names.

    Raises `InputError` for a file that cannot be read or has no text.
    """
    try:
        tokens = tokenizer.encode(read_text(path, _MOST_BYTES))
    except ForeignFileError as error:
        raise InputError(f"{option} {error}") from None
    if not tokens:
        raise InputError(f"{option} {path}: has no text")
    return tokens


def _windows(tokens: Sequence[int], size: int) -> list[Sequence[int]]:
    """Windows of a text, evenly from all of it."""
    starts = range(0, len(tokens), size)
    step = -(-len(starts) // _WINDOWS)
    return [tokens[start : start + size] for start in starts[::step]]
