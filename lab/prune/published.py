"""The published MiniLM, as what can be pruned: cosines of sentences, one run, a plan."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from celosia.lab.prune.costs import Meter, together
from celosia.lab.prune.minilm import (
    calibrate,
    count_weights,
    prune_encoder,
    varied,
    zero_encoder,
)
from celosia.lab.prune.parts.part import CRITERIA, Criterion, Gram
from celosia.lab.prune.parts.tokens import Drop, encode_fewer, pieces
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.sim.support.output import check_destination, open_atomically
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import DEFAULT_TEXTS
from celosia.sim.workloads.models.saved_model import SAVED_SUFFIX
from celosia.sw.models.sentences import FloatSentences, cosines
from celosia.sw.quantize.encoders.encoder import quantize_encoder
from celosia.sw.quantize.encoders.encoder_file import save_encoder
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph
from celosia.sw.reference.embedding import pool
from celosia.sw.reference.encoder import EncoderWeights, Floats
from celosia.sw.reference.published import tokenize
from celosia.sw.reference.texts import calibration_texts, evaluation_texts

__all__ = ["Published"]


class Published:
    """The published model.  Raises `MissingModelError` without its package."""

    criteria: Sequence[Criterion] = CRITERIA[:2]
    reason = "minilm has no loss to take a gradient of"

    def __init__(self, meter: Meter, tell: Progress):
        self.meter, self.tell = meter, tell
        self.sentences = FloatSentences()
        self.weights = self.sentences.weights
        tell("encoding texts", None)
        self.calibration = tokenize(calibration_texts())
        self.texts = tokenize(evaluation_texts())
        self.vectors = self.sentences.vectors(self.texts)
        self.grams: dict[str, Gram] | None = None

    def check_output(self, output: Path) -> None:
        """A plan, as `celosia build` writes it."""
        if output.suffix != SAVED_SUFFIX:
            raise InputError(f"-o {output}: the name of a plan ends with {SAVED_SUFFIX}")
        check_destination(output)

    def check(self, wanted: Wanted) -> None:
        """Refuse shares that leave or remove nothing."""
        shape = self.weights.shape
        if wanted.heads is not None:
            wanted.heads.heads(shape.heads, 1)
        if wanted.ffn is not None:
            wanted.ffn.channels(shape.hidden, wanted.dim)
        for _ in pieces(self.weights, [1], wanted.drops):
            pass

    def check_trained(self, option: str) -> None:
        """It is not trained."""
        raise InputError(f"{option}: minilm is not trained; language models are")

    def as_it_was(self) -> Narrower:
        """The model in float32."""
        return self._measured(self.weights)

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with fewer hidden channels or heads, in float32."""
        if wanted.drops and not (wanted.ffn or wanted.heads or wanted.tiles):
            return self._measured(self.weights, wanted.drops)
        if self.grams is None:
            embeddings = self.sentences.embeddings
            texts = varied(self.calibration, len(embeddings.words))
            self.tell(f"calibrating on {len(texts)} texts", None)
            x, lengths = embeddings.sums(texts), [len(text) for text in texts]
            self.grams = calibrate(self.weights, x, lengths)
        prune = prune_encoder if wanted.tiles is None else zero_encoder
        return self._measured(prune(self.weights, self.grams, wanted), wanted.drops)

    def _measured(self, weights: EncoderWeights, drops: Sequence[Drop] = ()) -> Narrower:
        self.tell(f"encoding {len(self.texts)} sentences", None)
        found = cosines(self._vectors(weights, drops), self.vectors)
        lengths = [len(text) for text in tokenize(DEFAULT_TEXTS)]
        name = f"{len(lengths)} texts, {sum(lengths)} tokens"
        graphs = (encoder_float_graph(*each) for each in pieces(weights, lengths, drops))
        cost = together([self.meter.cost(name, graph) for graph in graphs])
        return Narrower(
            weights=count_weights(weights),
            quality={"mean cosine": float(np.mean(found)), "least cosine": float(np.min(found))},
            costs=[cost],
            save=None if drops else lambda output: self._save(weights, output),
        )

    def _vectors(self, weights: EncoderWeights, drops: Sequence[Drop]) -> Floats:
        """The vectors of all sentences, of the mean of the tokens that are left."""
        found = []
        for text in self.texts:
            x = self.sentences.embeddings.sums([text])
            found.append(pool(*encode_fewer(weights, x, [len(text)], drops)))
        return np.concatenate(found)

    def _save(self, weights: EncoderWeights, output: Path) -> None:
        self.tell("choosing integers", None)
        embeddings = self.sentences.embeddings
        x, lengths = embeddings.sums(self.calibration), [len(text) for text in self.calibration]
        model = quantize_encoder(weights, x, lengths, embeddings=embeddings)
        with open_atomically(output) as file:
            save_encoder(model, file)
