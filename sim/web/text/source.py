"""The language model that goes on a page."""

from dataclasses import dataclass

from celosia.sim.support.progress import Progress, silent
from celosia.sw.decoding.decoder import Decoder, quantize_decoder
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, load_ngrams
from celosia.sw.decoding.drafts.ngrams import Ngrams
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.calibration import load_calibration
from celosia.sw.reference.language.model_file import load_language_model, shipped_folder
from celosia.sw.reference.language.tokenizer import Tokenizer

__all__ = ["TextSource", "shipped_source"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TextSource:
    """A model in integers, with what turns texts into its tokens, and what foretells them."""

    decoder: Decoder
    context: int
    """Tokens that a text takes at most: all but the last one that it makes."""
    tokenizer: Tokenizer
    ngrams: Ngrams
    parameters: int
    """How many the model has."""


def shipped_source(progress: Progress = silent) -> TextSource:
    """The small language model that comes with the project, as `celosia generate` has it."""
    found = load_language_model()
    shape = found.weights.shape
    decoder = quantize_decoder(
        llama_float_graph(found.weights, shape.context),
        load_calibration(None, shape.vocabulary, shape.context),
        lambda what, done, total: progress(f"language model: {what}: {done} of {total}", None),
    )
    return TextSource(
        decoder=decoder,
        context=shape.context,
        tokenizer=found.tokenizer,
        ngrams=load_ngrams(shipped_folder() / NGRAMS, shape.vocabulary),
        parameters=sum(tensor.size for tensor in found.weights.tensors.values()),
    )
