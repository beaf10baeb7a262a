"""Logits of whole texts: in float32, by the integer graph's interpreter, and on a device."""

from collections.abc import Sequence
from functools import cache

from celosia.lab.training.perplexity import Scorer
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.driver.device import Device
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.reference.encoder import Floats

__all__ = ["device_scorer", "float_scorer", "integer_scorer"]


def float_scorer(graph: FloatGraph) -> Scorer:
    """The scorer of the float graph of a whole text, for texts that are not longer."""
    whole = cache(lambda rows: step_graph(graph, [Text(0, rows)]))

    def scorer(tokens: Sequence[int]) -> Floats:
        step = whole(len(tokens))
        (found,) = interpret(step.graph, step.inputs(tokens, [Text(0, len(tokens))])).values()
        return found.reshape(len(tokens), -1)

    return scorer


def integer_scorer(model: Decoder) -> Scorer:
    """The scorer of the integer graph: all tokens of a text in one step."""
    whole = cache(lambda rows: model.step([Text(0, rows)]))

    def scorer(tokens: Sequence[int]) -> Floats:
        step = whole(len(tokens))
        inputs = step.float_graph.inputs(tokens, [Text(0, len(tokens))])
        return step.logits(run_model(step.model, inputs, count=False).outputs)

    return scorer


def device_scorer(device: Device, model: Decoder) -> Scorer:
    """The scorer of `device`, which takes tokens step by step, behind caches in its memory.

    It raises what `DecoderSession.append` does.
    """
    return lambda tokens: DecoderSession(device, model, len(tokens), Comparison()).append(tokens)[0]
