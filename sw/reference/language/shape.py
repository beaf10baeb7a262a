"""The sizes of a decoder, and the tensors that one of Llama's form has."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DOCS", "LITTLE", "SMALL", "LlamaShape", "rotary_frequencies", "tensor_shapes"]

_ROTARY_BASE: Final = 10_000.0
"""The ratio of the slowest turn of rotary positions to the fastest, about, in most models."""


@dataclass(frozen=True, kw_only=True)
class LlamaShape:
    """The sizes of a decoder with RMSNorm, SwiGLU, rotary positions and grouped queries.

    Raises `ValueError` for sizes that do not fit each other.
    """

    EPSILON: ClassVar[float] = 1e-5
    """Added to the mean of squares in RMSNorm."""

    vocabulary: int
    layers: int
    width: int
    """Elements of a token between operators."""
    heads: int
    key_heads: int
    """Heads of keys and values; `heads` / `key_heads` queries share each."""
    hidden: int
    """Elements of a token between the products of the feed-forward network."""
    context: int
    """Tokens of the longest text that the model was trained on."""

    def __post_init__(self):
        for name in ("vocabulary", "layers", "width", "heads", "key_heads", "hidden", "context"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not positive")
        if self.width % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide a width of {self.width}")
        if self.heads % self.key_heads:
            raise ValueError(f"key_heads: {self.key_heads} do not divide {self.heads} heads")
        if self.head_width % 2:
            raise ValueError(f"heads: a head of {self.head_width} elements has no two halves")

    @property
    def head_width(self) -> int:
        """Columns of Q, K and V that belong to one head."""
        return self.width // self.heads

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(map(math.prod, tensor_shapes(self).values()))


def rotary_frequencies(width: int) -> NDArray[np.float64]:
    """The angle in radians from a token to the next, for each element of half a head of `width`."""
    half = width // 2
    return _ROTARY_BASE ** (-np.arange(half) / half)


def tensor_shapes(shape: LlamaShape) -> dict[str, tuple[int, ...]]:
    """The name and the size of each tensor; matrices are inputs x outputs.

    ``embedding`` (vocabulary x width) is the table of tokens, and transposed the last product.
    """
    width, hidden, keys = shape.width, shape.hidden, shape.key_heads * shape.head_width
    layer = {
        "attention_norm": (width,),
        "query": (width, width),
        "key": (width, keys),
        "value": (width, keys),
        "output": (width, width),
        "norm": (width,),
        "gate": (width, hidden),
        "up": (width, hidden),
        "down": (hidden, width),
    }
    layers = {
        f"{index}.{name}": size for index in range(shape.layers) for name, size in layer.items()
    }
    return {"embedding": (shape.vocabulary, width), **layers, "norm": (width,)}


SMALL: Final = LlamaShape(
    vocabulary=2048, layers=4, width=128, heads=4, key_heads=2, hidden=384, context=256
)
"""The trained model that generates unless told otherwise."""
DOCS: Final = LlamaShape(
    vocabulary=2048, layers=4, width=256, heads=8, key_heads=2, hidden=576, context=256
)
"""The larger model that comes with the project: in float16 as much as fits into 6 MB."""
LITTLE: Final = LlamaShape(
    vocabulary=2048, layers=2, width=64, heads=2, key_heads=1, hidden=192, context=256
)
"""A model that foretells what that one says: a fifth of its weights."""
