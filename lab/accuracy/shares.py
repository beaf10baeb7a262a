"""MiniLM with some of its layers' products in int4: how close it is, over the share of weights."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.quantized import published_model
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES

__all__ = ["ShareAccuracy", "growing", "mixed", "share_accuracies"]

_TEXTS: Final = 24
"""Calibration texts that the loss of each product is measured on."""
_TOKENS: Final = range(6, 33)
"""Tokens of such a text."""
_STEP: Final = 1 / 8
"""The share of weights from line to line."""


@dataclass(frozen=True)
class ShareAccuracy:
    """Cosines of sentences to float32 with some weights in int4."""

    share: float
    """The share of the weights of all layers that are int4."""
    products: int
    """How many products have int4 weights."""
    added: str
    """The products that the line before does not have in int4, the least loss first."""
    mean: float
    """The mean cosine of the evaluation texts."""
    least: float
    """The least cosine."""


def share_accuracies(tell: Progress = silent) -> Iterator[ShareAccuracy]:
    """Lines from no weights to all, products in order of what each loses for a weight.

    Losses are of the mean cosine of calibration texts, with one product alone in int4; lines are
    measured on the evaluation texts.  Raises `EnvironmentProblem` without the published weights.
    """
    eight = published_model(tell)
    four = published_model(tell, weights=WEIGHT_CHOICES["int4"])
    # Loaded when it is asked for: it needs packages that nothing else here does.
    sentences: Any = import_extra("celosia.sw.models.sentences", "minilm")
    measure = _Measure(sentences, eight, four)
    sizes = {name: each.weights.size for name, each in eight.formats.integers.items()}
    lost, least = {}, measure.lost(())
    for number, name in enumerate(sizes):
        tell(f"minilm: {name} in int4", number / len(sizes))
        lost[name] = (measure.lost({name}) - least) / sizes[name]
    order = sorted(lost, key=lambda name: lost[name])
    lines = list(growing(order, sizes, _STEP))
    known: frozenset[str] = frozenset()
    for number, names in enumerate(lines):
        tell(f"minilm: {len(names)} products in int4", number / len(lines))
        cosines = sentences.evaluation_cosines(mixed(eight, four, names))
        yield ShareAccuracy(
            share=sum(sizes[name] for name in names) / sum(sizes.values()),
            products=len(names),
            added=", ".join(name for name in order if name in names and name not in known),
            mean=float(cosines.mean()),
            least=float(cosines.min()),
        )
        known = names


def mixed(
    eight: QuantizedEncoder, four: QuantizedEncoder, names: Collection[str]
) -> QuantizedEncoder:
    """The model `eight` with the products of these names as `four` has them."""
    integers = {
        name: four.formats.integers[name] if name in names else each
        for name, each in eight.formats.integers.items()
    }
    return replace(eight, formats=replace(eight.formats, integers=integers))


def growing(order: Sequence[str], sizes: dict[str, int], step: float) -> Iterator[frozenset[str]]:
    """None, more and more, and all of `order`: the first set with each multiple of `step`."""
    total, reached = sum(sizes.values()), 0
    yield frozenset()
    for count in range(1, len(order) + 1):
        multiple = int(sum(sizes[name] for name in order[:count]) / total / step)
        if multiple > reached or count == len(order):
            yield frozenset(order[:count])
            reached = multiple


class _Measure:
    """What is lost on some texts of the calibration."""

    def __init__(self, sentences: Any, eight: QuantizedEncoder, four: QuantizedEncoder):
        published = import_extra("celosia.sw.reference.published", "minilm")
        texts = import_extra("celosia.sw.reference.texts", "minilm")
        tokens = published.tokenize(texts.calibration_texts())
        self.texts = [each for each in tokens if len(each) in _TOKENS][:_TEXTS]
        self.sentences, self.eight, self.four = sentences, eight, four
        self.real = sentences.FloatSentences().vectors(self.texts)

    def lost(self, names: Collection[str]) -> float:
        """One less the mean cosine with these products in int4."""
        found = self.sentences.integer_vectors(mixed(self.eight, self.four, names), self.texts)
        return 1 - float(self.sentences.cosines(found, self.real).mean())
