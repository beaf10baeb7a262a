"""The texts that a language model may learn, by their keys."""

from typing import Final, Literal, get_args

from celosia.lab.training.text.corpus import training_texts
from celosia.lab.training.text.manual import manual_texts
from celosia.sw.reference.language.model_file import LanguageModel

__all__ = ["CORPORA", "Corpus", "corpora_of", "corpus_texts"]

Corpus = Literal["docstrings", "manual"]
"""`manual` is the docstrings and topics of `docstrings`, and the manual's sources behind them."""

CORPORA: Final[tuple[Corpus, ...]] = get_args(Corpus)


def corpus_texts(corpus: Corpus) -> list[str]:
    """The documents to learn; raises `ManualError` as `manual_texts` does."""
    texts = training_texts()
    return texts if corpus == "docstrings" else [*texts, *manual_texts(texts)]


def corpora_of(model: LanguageModel) -> tuple[Corpus, ...]:
    """The corpora up to the one that `model` was trained on."""
    learned = model.origin.get("corpus", CORPORA[0])
    return CORPORA[: CORPORA.index(learned) + 1] if learned in CORPORA else CORPORA[:1]
