"""A causal decoder in integers: formats of tensors, and a graph for any step of any texts.

Formats are those that the one quantizer chooses by whole texts: they know no length, so a step has
the integers that a whole text has.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from celosia.sw.decoding.step_graph import TOKENS, StepGraph, step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.ir.graph import MatMul
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.segments import Segment
from celosia.sw.reference.encoder import Floats

__all__ = [
    "Decoder",
    "DecoderStep",
    "check_shorter",
    "check_tokens",
    "quantize_decoder",
    "vocabulary_of",
]


@dataclass(frozen=True, eq=False)
class DecoderStep:
    """A step in integers."""

    float_graph: StepGraph
    model: QuantizedGraph

    def least_bytes(self, keys: int) -> int:
        """What the step has to read: weights, and so many keys and values; no bias, no scales."""
        weights = cached = 0
        for graph in (segment.graph for segment in self.model.segments):
            products = [op.b.tensor for op in graph.ops if isinstance(op, MatMul)]
            known = {name for name in products if name in graph.constants}
            weights += sum(graph.tensors[name].bytes for name in known)
            cached += sum(tensor.cols for tensor in graph.tensors.values() if tensor.cache)
        return weights + keys * cached

    def tables(self, segment: Segment, texts: Sequence[Text]) -> dict[str, Array]:
        """The integers of those inputs of `segment` that the places of tokens alone decide."""
        found = {}
        for name, form in segment.inputs.items():
            table = self.float_graph.tables.get(self.model.values[form.key].tensor)
            if table is not None:
                found[name], _ = self.model.formats[form].integers(table.at(texts))
        return found

    def logits(self, outputs: Mapping[str, Array]) -> Floats:
        """The outputs of a run as logits: (tokens, vocabulary)."""
        (found,) = outputs.values()
        return found.reshape(-1, found.shape[-1])


@dataclass(frozen=True, eq=False)
class Decoder:
    """A causal decoder whose tensors have integer formats."""

    graph: FloatGraph
    """The float graph of a whole text, behind `recognize`: tokens or their embeddings in, logits
    out."""
    formats: Formats

    @cached_property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return vocabulary_of(self.graph)

    def step(
        self,
        texts: Sequence[Text],
        layout: CacheLayout | None = None,
        keys: int | None = None,
        *,
        named: bool = False,
        moving: bool = False,
    ) -> DecoderStep:
        """The step that takes the tokens which `texts` add, as `step_graph` makes it.

        `named` is what it is to `instantiate`; with `moving`, programs can be patched for a smaller
        context.  Raises `DecoderProblem` and `ValueError` as `step_graph` does, and `GraphError` as
        `instantiate` does.
        """
        found = step_graph(self.graph, texts, layout, keys)
        model = instantiate(found.graph, self.formats, named=named, moving=moving)
        return DecoderStep(found, model)


def check_tokens(tokens: Sequence[int], length: int, context: int, vocabulary: int) -> None:
    """Raise `ValueError` for tokens that cannot follow `length` others, or are none."""
    if not len(tokens):
        raise ValueError("tokens: there are none")
    if length + len(tokens) > context:
        raise ValueError(
            f"tokens: {len(tokens)} after {length} are more than the {context} of the context"
        )
    for place, token in enumerate(tokens):
        if not 0 <= token < vocabulary:
            raise ValueError(f"token {place}: {token} is not in 0..{vocabulary - 1}")


def check_shorter(length: int, found: int) -> None:
    """Raise `ValueError` if a text of `found` tokens cannot go back to `length` of them."""
    if not 0 <= length <= found:
        raise ValueError(f"length: {length} is not in 0..{found}, the tokens of the text")


def vocabulary_of(graph: FloatGraph) -> int:
    """How many tokens a decoder has logits of."""
    (tensor,) = graph.outputs.values()
    return graph.types()[tensor].shape[-1]


def quantize_decoder(
    graph: FloatGraph,
    calibration: Sequence[Sequence[int]],
    progress: Callable[[str, int, int], object] = lambda what, done, total: None,
    *,
    clip: Clip = "error",
) -> Decoder:
    """A decoder whose formats are chosen by texts; `graph` is that of the longest text.

    Raises `DecoderProblem` for a graph that is none of a causal decoder, and `GraphError` as
    `calibrate` does.
    """
    known: dict[int, StepGraph] = {}

    def whole(length: int) -> StepGraph:
        if length not in known:
            known[length] = step_graph(graph, [Text(0, length)])
        return known[length]

    def graph_of(types: Mapping[str, TensorType]) -> FloatGraph:
        return whole(types[TOKENS].shape[1]).graph

    samples = [whole(len(each)).inputs(each, [Text(0, len(each))]) for each in calibration]
    return Decoder(graph, calibrate(graph_of, samples, progress, clip=clip))
