"""A norm's epsilon fits the steps of what it normalizes."""

import numpy as np

from celosia.sw.ir.graph import LayerNorm
from tests.support.quantized_exports import quantized


def test_an_epsilon_is_in_squared_steps_of_what_is_normalized():
    model = quantized("llama")
    segment = model.segments[0]
    norm = next(op for op in segment.graph.ops if isinstance(op, LayerNorm))
    step = segment.graph.tensors[norm.source.tensor].step
    assert norm.rms
    assert step is not None
    assert norm.epsilon == round(64 * np.float64(np.float32(1e-5)) / step**2) > 0
