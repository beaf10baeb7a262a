"""What foretells the tokens of a text, by the command's options."""

from dataclasses import dataclass
from pathlib import Path

from celosia.sim.command.models.text_model import TextModel, check_known, tokens_of
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.decoder import vocabulary_of
from celosia.sw.decoding.drafts.draft import Source, draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.drafts.ngram_file import load_ngrams
from celosia.sw.decoding.drafts.ngrams import count_ngrams
from celosia.sw.reference.language.sampling import Draft

__all__ = ["Drafts", "choose_drafts"]


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


def choose_drafts(model: TextModel, most: int | None, text: Path | None) -> Drafts:
    """Up to `most` tokens: of the text so far, and of the n-grams of `text`, or those of the model.

    Raises `InputError` for a text that nothing is foretold with, that cannot be read, or has tokens
    which the model does not have, and `NgramError` as `load_ngrams` does.
    """
    if most is None:
        if text is not None:
            raise InputError(f"--draft-text {text}: is for --speculate K, which is not given")
        return Drafts()
    names, sources, note = ["lookup"], list[Source]([look_up]), ""
    if text is not None:
        tokens = tokens_of("--draft-text", text, model.tokenizer)
        check_known(f"--draft-text {text}", tokens, vocabulary_of(model.graph))
        sources.append(count_ngrams(tokens))
        names.append(f"n-grams of {text}")
    elif model.ngrams is not None and model.ngrams.is_file():
        sources.append(load_ngrams(model.ngrams, vocabulary_of(model.graph)))
        names.append("n-grams")
    else:
        note = "only the text so far foretells tokens; --draft-text takes a text to count"
    return Drafts(most, tuple(names), draft_of(most, *sources), note)
