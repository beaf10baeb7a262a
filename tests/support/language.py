"""Small language models with random weights."""

from dataclasses import replace

import numpy as np

from celosia.sw.reference.language.shape import SMALL, LlamaShape, tensor_shapes
from celosia.sw.reference.language.weights import LlamaWeights

TINY = LlamaShape(vocabulary=24, layers=2, width=16, heads=4, key_heads=2, hidden=24, context=32)


def random_weights(shape: LlamaShape = TINY, seed: int = 0) -> LlamaWeights:
    """Weights for `shape` under which attention has favourites and no result vanishes."""
    random = np.random.default_rng(seed)
    tensors = {
        name: (1 + 0.1 * random.standard_normal(size)).astype(np.float32)
        if len(size) == 1
        else (1.5 * random.standard_normal(size) / np.sqrt(size[0])).astype(np.float32)
        for name, size in tensor_shapes(shape).items()
    }
    return LlamaWeights(shape, tensors)


def small_shape(**sizes: int) -> LlamaShape:
    """The project's model with other sizes."""
    return replace(SMALL, **sizes)
