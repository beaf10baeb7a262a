"""Small language models with random weights."""

import numpy as np
from numpy.typing import NDArray

from celosia.sw.reference.language.shape import SMALL, LayerShape, LlamaShape, tensor_shapes
from celosia.sw.reference.language.shape_document import read_shape, shape_document
from celosia.sw.reference.language.weights import LlamaWeights

TINY = LlamaShape(
    vocabulary=24,
    width=16,
    context=32,
    layers=(LayerShape(heads=4, key_heads=2, head_width=4, hidden=24),) * 2,
)
UNLIKE = LlamaShape(
    vocabulary=24,
    width=16,
    context=32,
    layers=(
        LayerShape(heads=4, key_heads=2, head_width=4, hidden=24),
        LayerShape(heads=3, key_heads=1, head_width=8, hidden=40),
        LayerShape(heads=1, key_heads=1, head_width=4, hidden=8),
    ),
)
"""Heads, their width and hidden width differ, and no layer's heads are as wide as the model."""


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
    """The project's model with other sizes, which files have one number for (`layers`, `heads`)."""
    return read_shape(shape_document(SMALL) | sizes)


def predictable_text(count: int) -> NDArray[np.uint16]:
    """Tokens of a vocabulary of 64 that mostly follow from the one before them."""
    random, tokens = np.random.default_rng(0), [1]
    while len(tokens) < count:
        noise = int(random.integers(0, 64)) if random.random() < 0.1 else 3
        tokens.append((tokens[-1] * 5 + noise) % 64)
    return np.array(tokens, np.uint16)
