"""The sizes of a decoder, and the tensors that one of Llama's form has."""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DOCS",
    "LITTLE",
    "SMALL",
    "LayerShape",
    "LlamaShape",
    "rotary_frequencies",
    "tensor_shapes",
]

_ROTARY_BASE: Final = 10_000.0
"""The ratio of the slowest turn of rotary positions to the fastest, about, in most models."""


@dataclass(frozen=True, kw_only=True)
class LayerShape:
    """The sizes of one layer of a decoder.  Raises `ValueError` for sizes that do not fit."""

    heads: int
    key_heads: int
    """Heads of keys and values; `heads` / `key_heads` queries share each."""
    head_width: int
    """Columns of Q, K and V that belong to one head."""
    hidden: int
    """Elements of a token between the products of the feed-forward network."""

    def __post_init__(self):
        for name, size in asdict(self).items():
            if size < 1:
                raise ValueError(f"{name}: {size} is not positive")
        if self.heads % self.key_heads:
            raise ValueError(f"key_heads: {self.key_heads} do not divide {self.heads} heads")

    @property
    def query_width(self) -> int:
        """Elements of a token in queries, and in what attention finds for them."""
        return self.heads * self.head_width

    @property
    def key_width(self) -> int:
        """Elements of a token in keys, and in values."""
        return self.key_heads * self.head_width


@dataclass(frozen=True, kw_only=True)
class LlamaShape:
    """The sizes of a decoder with RMSNorm, SwiGLU, rotary positions and grouped queries.

    Layers need not be alike.  Raises `ValueError` for sizes that do not fit each other.
    """

    EPSILON: ClassVar[float] = 1e-5
    """Added to the mean of squares in RMSNorm."""

    vocabulary: int
    width: int
    """Elements of a token between operators."""
    context: int
    """Tokens of the longest text that the model was trained on."""
    layers: tuple[LayerShape, ...]

    def __post_init__(self):
        for name in ("vocabulary", "width", "context"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not positive")
        if not self.layers:
            raise ValueError("layers: there are none")
        for index, layer in enumerate(self.layers):
            if layer.head_width % 2:
                raise ValueError(
                    f"layer {index}: a head of {layer.head_width} elements has no two halves"
                )

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
    width = shape.width
    found: dict[str, tuple[int, ...]] = {"embedding": (shape.vocabulary, width)}
    for index, layer in enumerate(shape.layers):
        queries, keys, hidden = layer.query_width, layer.key_width, layer.hidden
        sizes = {
            "attention_norm": (width,),
            "query": (width, queries),
            "key": (width, keys),
            "value": (width, keys),
            "output": (queries, width),
            "norm": (width,),
            "gate": (width, hidden),
            "up": (width, hidden),
            "down": (hidden, width),
        }
        found |= {f"{index}.{name}": size for name, size in sizes.items()}
    return {**found, "norm": (width,)}


SMALL: Final = LlamaShape(
    vocabulary=2048,
    width=128,
    context=256,
    layers=(LayerShape(heads=4, key_heads=2, head_width=32, hidden=384),) * 4,
)
"""The trained model that generates unless told otherwise."""
DOCS: Final = LlamaShape(
    vocabulary=2048,
    width=256,
    context=256,
    layers=(LayerShape(heads=8, key_heads=2, head_width=32, hidden=576),) * 4,
)
"""The larger model that comes with the project: in float16 as much as fits into 6 MB."""
LITTLE: Final = LlamaShape(
    vocabulary=2048,
    width=64,
    context=256,
    layers=(LayerShape(heads=2, key_heads=1, head_width=32, hidden=192),) * 2,
)
"""A model that foretells what that one says: a fifth of its weights."""
