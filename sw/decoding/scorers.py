"""Perplexity of a decoder in integers: by its graph's interpreter, and on a device."""

from collections.abc import Sequence

import numpy as np

from celosia.sw.decoding.session import DecoderSession
from celosia.sw.driver.device import Device
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.decoder import CacheLayout, decoder_graph, position_angles
from celosia.sw.models.decoder_shape import Text
from celosia.sw.models.quantized_decoder import QuantizedDecoder
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.perplexity import Scorer

__all__ = ["device_scorer", "integer_scorer"]


def integer_scorer(model: QuantizedDecoder) -> Scorer:
    """The scorer of the integer graph: all tokens of a text in one step."""

    def scorer(tokens: Sequence[int]) -> Floats:
        text, shape = Text(0, len(tokens)), model.decoder.shape
        graph = decoder_graph(model.decoder, [text], text.keys)
        empty = np.zeros((CacheLayout(1, text.keys).rows, shape.cache_width), np.int8)
        inputs = {name: empty for name in graph.inputs if graph.tensors[name].cache}
        inputs |= {"embedding": model.embedded(tokens, 0), **position_angles(shape, [text])}
        return model.logits(interpret(graph, inputs)["logits"])

    return scorer


def device_scorer(device: Device, model: QuantizedDecoder) -> Scorer:
    """The scorer of `device`, which takes tokens step by step, behind caches in its memory.

    It raises what `DecoderSession.append` does.
    """
    return lambda tokens: DecoderSession(device, model, len(tokens)).append(tokens)[0]
