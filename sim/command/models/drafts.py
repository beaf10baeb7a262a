"""What foretells the tokens of a text, by the command's options."""

from dataclasses import dataclass
from pathlib import Path

from celosia.sim.command.models.text_model import (
    TextModel,
    check_known,
    read_graph,
    tokens_of,
)
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.decoder import vocabulary_of
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.little_model import LittleModel
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.drafts.ngram_file import load_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import load_language_model
from celosia.sw.reference.language.sampling import Draft
from celosia.sw.reference.language.tokenizer import Tokenizer

__all__ = ["Drafts", "choose_drafts", "little_model"]


@dataclass(frozen=True)
class Drafts:
    """What foretells tokens, if anything does."""

    most: int | None = None
    """Tokens of a draft at most; None: nothing is foretold."""
    names: tuple[str, ...] = ()
    """Where guesses come from, the first that has one first."""
    draft: Draft | None = None
    note: str = ""
    """What the user should know."""


def choose_drafts(
    model: TextModel, most: int | None, text: Path | None, little: Path | None
) -> Drafts:
    """Up to `most` tokens: of the text so far, and of n-grams or a `little` model.

    N-grams are those of `text`, or those beside the model.  Raises `InputError` for files that
    nothing is foretold with, that cannot be read, or that have other tokens than the model, and
    `LanguageError` as `load_ngrams` and `load_language_model` do.
    """
    if most is None:
        for option, path in (("--draft-text", text), ("--draft-model", little)):
            if path is not None:
                raise InputError(f"{option} {path}: is for --speculate K, which is not given")
        return Drafts()
    if text is not None and little is not None:
        raise InputError(f"--draft-model {little}: foretells in place of --draft-text {text}")
    vocabulary = vocabulary_of(model.graph)
    if little is not None:
        name = f"little model {little}"
        source = little_model(little, model.tokenizer, vocabulary, model.context)
    elif text is not None:
        tokens = tokens_of("--draft-text", text, model.tokenizer)
        check_known(f"--draft-text {text}", tokens, vocabulary)
        name, source = f"n-grams of {text}", count_ngrams(tokens)
    elif model.ngrams is not None and model.ngrams.is_file():
        name, source = "n-grams", load_ngrams(model.ngrams, vocabulary)
    else:
        note = "only the text so far foretells tokens; --draft-text takes a text to count"
        return Drafts(most, ("lookup",), draft_of(most, look_up), note)
    return Drafts(most, ("lookup", name), draft_of(most, look_up, source))


def little_model(path: Path, tokenizer: Tokenizer, vocabulary: int, context: int) -> LittleModel:
    """The little model at `path`, of the tokens of a model of this `vocabulary`.

    One of an ONNX file takes texts of up to `context` tokens.  Raises `InputError` for a file that
    is no decoder and for other tokens, and `LanguageError` as `load_language_model` does.
    """
    if path.is_dir():
        found = load_language_model(path)
        if not found.tokenizer.is_like(tokenizer):
            raise InputError(f"--draft-model {path}: its tokenizer is not that of the model")
        context = found.weights.shape.context
        graph = llama_float_graph(found.weights, context)
    else:
        graph = read_graph(path, context)
    if vocabulary_of(graph) != vocabulary:
        raise InputError(
            f"--draft-model {path}: has {vocabulary_of(graph)} tokens, the model {vocabulary}"
        )
    return LittleModel(graph, context)
