"""The sizes of decoders."""

from dataclasses import dataclass, replace
from typing import Final, Literal

__all__ = ["GPT2_SMALL", "OPT_125M", "TINYLLAMA", "DecoderShape", "Form"]

Form = Literal["gpt2", "opt", "llama"]
"""``gpt2``: LayerNorm and GELU; ``opt``: LayerNorm and ReLU; ``llama``: RMSNorm, SwiGLU, rotary
positions."""


@dataclass(frozen=True, kw_only=True)
class DecoderShape:
    """The sizes of a decoder: all layers are alike.

    Raises `ValueError` for sizes that do not fit each other.
    """

    form: Form
    layers: int
    width: int
    """Elements of a token between operators."""
    heads: int
    key_heads: int
    """Heads of keys and values; `heads` / `key_heads` queries share each."""
    hidden: int
    """Elements of a token between the products of the feed-forward network."""
    vocabulary: int

    def __post_init__(self):
        for name in ("layers", "width", "heads", "key_heads", "hidden", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not positive")
        if self.width % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide a width of {self.width}")
        if self.heads % self.key_heads:
            raise ValueError(f"key_heads: {self.key_heads} do not divide {self.heads} heads")

    @property
    def head_width(self) -> int:
        """Columns of Q, K and V that belong to one head."""
        return self.width // self.heads

    @property
    def cache_width(self) -> int:
        """Elements of a token in the cache of keys, and in that of values."""
        return self.key_heads * self.head_width

    @property
    def layer_weights(self) -> int:
        """Elements of the matrices of a layer, which are its bytes in int8."""
        attention = 2 * self.width * (self.width + self.cache_width)
        return attention + (3 if self.form == "llama" else 2) * self.width * self.hidden

    @property
    def weights(self) -> int:
        """Elements of all matrices, that of the vocabulary included: without padding or bias."""
        return self.layers * self.layer_weights + self.width * self.vocabulary

    def with_layers(self, layers: int) -> "DecoderShape":
        """The same shape with another number of layers."""
        return replace(self, layers=layers)

    def __str__(self) -> str:
        return f"{self.form} {self.layers}x{self.width}, {self.heads} heads, {self.hidden} hidden"


GPT2_SMALL: Final = DecoderShape(
    form="gpt2", layers=12, width=768, heads=12, key_heads=12, hidden=3072, vocabulary=50_257
)
OPT_125M: Final = DecoderShape(
    form="opt", layers=12, width=768, heads=12, key_heads=12, hidden=3072, vocabulary=50_272
)
TINYLLAMA: Final = DecoderShape(
    form="llama", layers=22, width=2048, heads=32, key_heads=4, hidden=5632, vocabulary=32_000
)
