"""The trained model beside 3-gram models of its text, on the same held-out tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from celosia.lab.training.ngram import Trigrams
from celosia.lab.training.perplexity import Likelihood, score
from celosia.lab.training.scorers import float_scorer
from celosia.lab.training.text.corpora import Corpus, corpora_of
from celosia.lab.training.text.corpus import corpus_key
from celosia.lab.training.text.held_out import held_out_texts
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import LanguageModel

__all__ = ["Comparison", "calibration_windows", "compare_with_trigrams", "held_out_tokens"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Likelihoods of the same tokens."""

    model: Likelihood
    trigrams: Mapping[Corpus, Likelihood]
    """By the text that the 3-grams are of."""
    same_text: bool
    """Whether the text that the model was trained on is among those of the 3-grams.

    Another version of Python has another documentation.
    """


def held_out_tokens(model: LanguageModel) -> list[int]:
    """The held-out documents of the project as one row of tokens."""
    return model.tokenizer.stream([text for _, text in held_out_texts()])


def calibration_windows(
    model: LanguageModel, texts: Sequence[str], count: int = 16
) -> list[list[int]]:
    """So many windows of the model's context out of `texts`, at equal distances."""
    tokens, context = model.tokenizer.stream(texts), model.weights.shape.context
    starts = range(0, max(len(tokens) - context, 1), max((len(tokens) - context) // count, 1))
    return [tokens[start : start + context] for start in starts[:count]]


def compare_with_trigrams(
    model: LanguageModel, texts: Mapping[Corpus, Sequence[str]]
) -> Comparison:
    """Score the held-out tokens by `model` and by 3-grams of each of `texts`."""
    shape, tokens = model.weights.shape, held_out_tokens(model)
    trigrams: dict[Corpus, Likelihood] = {}
    for corpus, text in texts.items():
        counted = Trigrams(model.tokenizer.stream(text), shape.vocabulary)
        trigrams[corpus] = Likelihood(counted.log_likelihood(tokens), len(tokens) - 1)
    scorer = float_scorer(llama_float_graph(model.weights, shape.context))
    learned = texts.get(corpora_of(model)[-1], ())
    return Comparison(
        model=score(scorer, tokens, shape.context),
        trigrams=trigrams,
        same_text=corpus_key(learned) == model.origin.get("text"),
    )
