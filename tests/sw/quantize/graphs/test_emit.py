"""Integer graphs see as many keys as a run's masks show."""

import numpy as np

from celosia.sw.ir.graph import DeferredSoftmax, LayerNorm
from celosia.sw.quantize.graphs.emit import with_keys
from tests.support.quantized_exports import TOKENS, quantized


def test_keys_are_those_of_the_text_of_each_head():
    (segment,) = quantized("opt").segments
    ops = [op for op in segment.graph.ops if not isinstance(op, LayerNorm)]
    scores = [op for op in ops if isinstance(op.finish, DeferredSoftmax)]
    assert all(op.finish.mask.causal and op.finish.mask.keys is None for op in scores)
    counts = {keys: TOKENS - 5 * keys[1] for keys in segment.keys.values()}
    graph = with_keys(segment, counts)
    found = {
        op.name.split(".")[2]: op.finish.mask.keys
        for op in graph.ops
        if not isinstance(op, LayerNorm) and isinstance(op.finish, DeferredSoftmax)
    }
    assert found == {"text0": None, "text1": TOKENS - 5}


def test_an_epsilon_is_in_squared_steps_of_what_is_normalized():
    model = quantized("llama")
    segment = model.segments[0]
    norm = next(op for op in segment.graph.ops if isinstance(op, LayerNorm))
    step = segment.graph.tensors[norm.source.tensor].step
    assert norm.rms
    assert norm.epsilon == round(64 * np.float64(np.float32(1e-5)) / step**2) > 0
