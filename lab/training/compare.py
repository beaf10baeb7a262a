"""The trained model beside a 3-gram model of the same text, on the same held-out tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.lab.training.corpus import corpus_key
from celosia.lab.training.held_out import held_out_texts
from celosia.lab.training.ngram import Trigrams
from celosia.lab.training.perplexity import Likelihood, score
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import LanguageModel

__all__ = ["Comparison", "calibration_windows", "compare_with_trigrams", "held_out_tokens"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Likelihoods of the same tokens."""

    model: Likelihood
    trigrams: Likelihood
    same_text: bool
    """Whether the 3-grams are of the text that the model was trained on.

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


def compare_with_trigrams(model: LanguageModel, texts: Sequence[str]) -> Comparison:
    """Score the held-out tokens by `model` and by 3-grams of `texts`."""
    shape, tokens = model.weights.shape, held_out_tokens(model)
    trigrams = Trigrams(model.tokenizer.stream(texts), shape.vocabulary)
    scorer = float_scorer(llama_float_graph(model.weights, shape.context))
    return Comparison(
        model=score(scorer, tokens, shape.context),
        trigrams=Likelihood(trigrams.log_likelihood(tokens), len(tokens) - 1),
        same_text=corpus_key(texts) == model.origin.get("text"),
    )
