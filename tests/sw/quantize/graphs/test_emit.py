"""Integer graphs see as many keys as a run's masks show."""

import numpy as np

from celosia.sw.ir.graph import DeferredSoftmax, LayerNorm, Mask, MatMul
from celosia.sw.quantize.graphs.emit import with_keys
from tests.support.quantized_exports import TOKENS, quantized


def masks(graph):
    """The masks of scores by the text that they are of."""
    ops = (op for op in graph.ops if isinstance(op, MatMul))
    return {
        op.name.split(".")[2]: op.finish.mask
        for op in ops
        if isinstance(op.finish, DeferredSoftmax)
    }


def test_keys_are_those_of_the_text_of_each_head():
    (segment,) = quantized("opt").segments
    assert masks(segment.graph) == {"text0": Mask(causal=True), "text1": Mask(causal=True)}
    counts = {keys: TOKENS - 5 * keys[1] for keys in segment.keys.values()}
    found = masks(with_keys(segment, counts))
    assert found == {"text0": Mask(causal=True), "text1": Mask(keys=TOKENS - 5, causal=True)}


def test_an_epsilon_is_in_squared_steps_of_what_is_normalized():
    model = quantized("llama")
    segment = model.segments[0]
    norm = next(op for op in segment.graph.ops if isinstance(op, LayerNorm))
    step = segment.graph.tensors[norm.source.tensor].step
    assert norm.rms
    assert step is not None
    assert norm.epsilon == round(64 * np.float64(np.float32(1e-5)) / step**2) > 0
