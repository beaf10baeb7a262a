"""A causal decoder in integers: formats of tensors, and a graph for any step of any texts.

Formats are those that the one quantizer chooses by whole texts: they know no length, so a step has
the integers that a whole text has.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.step_graph import TOKENS, StepGraph, step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.ir.graph import DeferredSoftmax, Graph, MatMul, View
from celosia.sw.quantize.caps import uncapped
from celosia.sw.quantize.graphs.calibrate import calibrate, calibrate_each
from celosia.sw.quantize.graphs.formats import Formats, mixed
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate
from celosia.sw.quantize.precision import Numbers
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.names import product_names
from celosia.sw.quantize.units.segments import Segment
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES, WeightTypes
from celosia.sw.reference.encoder import Floats

__all__ = [
    "Decoder",
    "DecoderStep",
    "Kinds",
    "check_shorter",
    "check_tokens",
    "quantize_decoder",
    "vocabulary_of",
]


Kinds = Callable[[Collection[str], Collection[str]], Mapping[str, Numbers]]
"""What each of these products multiplies, by its name, where the latter ones can read int16."""


@dataclass(frozen=True, eq=False)
class DecoderStep:
    """A step in integers."""

    float_graph: StepGraph
    model: QuantizedGraph

    def least_bytes(self, texts: Sequence[Text]) -> int:
        """What the step has to read for these texts: weights, keys and values; no bias, no scales.

        Attention to a window reads the keys that some token of the step sees.
        """
        found = 0
        for graph in (segment.graph for segment in self.model.segments):
            products = [op.b.tensor for op in graph.ops if isinstance(op, MatMul)]
            known = {name for name in products if name in graph.constants}
            found += sum(graph.tensors[name].bytes for name in known)
            for name, window in _windows(graph).items():
                found += graph.tensors[name].cols * sum(_seen(text, window) for text in texts)
        return found

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
    out; scores have no caps."""
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
        shorter: int = 0,
        named: bool = False,
        moving: bool = False,
    ) -> DecoderStep:
        """The step that takes the tokens which `texts` add, as `step_graph` makes it.

        `named` is what it is to `instantiate`; with `moving`, programs can be patched for a smaller
        context.  Raises `DecoderProblem` and `ValueError` as `step_graph` does, and `GraphError` as
        `instantiate` does.
        """
        found = step_graph(self.graph, texts, layout, keys, shorter)
        model = instantiate(found.graph, self.formats, named=named, moving=moving)
        return DecoderStep(found, model)


def _windows(graph: Graph) -> dict[str, int | None]:
    """How many keys a query sees of each cache at most; None: all."""
    found: dict[str, int | None] = {n: 0 for n, tensor in graph.tensors.items() if tensor.cache}
    behind: dict[View, int | None] = {}
    for op in graph.ops:
        if not isinstance(op, MatMul):
            continue
        if isinstance(op.finish, DeferredSoftmax):
            behind[op.out] = op.finish.mask.window
        window = behind.get(op.out, behind.get(op.a))
        most = found.get(op.b.tensor)
        if most is not None:
            found[op.b.tensor] = None if window is None else max(most, window)
    return found


def _seen(text: Text, window: int | None) -> int:
    """The keys that some token of a step sees, whose queries see so many."""
    return text.keys if window is None else min(text.keys, window + text.rows - 1)


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
    weights: WeightTypes = INT8_WEIGHTS,
    kinds: Kinds | None = None,
) -> Decoder:
    """A decoder whose formats are chosen by texts; `graph` is that of the longest text.

    Its products have `weights`, or multiply what `kinds` says.

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
    if kinds is None:
        formats = calibrate(graph_of, samples, progress, clip=clip, weights=weights)
    else:
        both = INT8_WEIGHTS, WEIGHT_CHOICES["int4-vocabulary"]
        each = calibrate_each(graph_of, samples, progress, clip=clip, weights=both, wide=True)
        formats = _chosen(whole(len(calibration[0])).graph, each, kinds)
    plain = uncapped(graph, formats.caps)
    for node in plain.nodes:
        if "cap" in node.attributes:
            place, cap = node.origin or node.name, node.attributes["cap"]
            raise DecoderProblem(
                f"{place}: its scores come too near to {cap}, their cap: that is the host's, "
                "which computes no attention in a step"
            )
    return Decoder(plain, formats)


def _chosen(graph: FloatGraph, each: Sequence[Formats], kinds: Kinds) -> Formats:
    """The formats that `kinds` says, of those with int8, int4 weights and int16 operands."""
    usual, four, sixteen = each
    units = units_of(graph, usual.apart, usual.caps)
    names = product_names(units, graph)
    wide = {names[name] for name in names if name in sixteen.int16_operands}
    found = kinds([*names.values()], wide)
    packed = [name for name in names if found[names[name]] is Numbers.INT4]
    return mixed(
        (usual, four, sixteen), packed, [name for name in names if found[names[name]].wide], units
    )
