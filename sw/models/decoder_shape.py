"""The sizes of decoders."""

from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Final, Literal

from celosia.sw.reference.language.shape import LayerShape

__all__ = ["GPT2_SMALL", "OPT_125M", "TINYLLAMA", "DecoderShape", "Form"]

Form = Literal["gpt2", "opt", "llama"]
"""``gpt2``: LayerNorm and GELU; ``opt``: LayerNorm and ReLU; ``llama``: RMSNorm, SwiGLU, rotary
positions."""


@dataclass(frozen=True, kw_only=True)
class DecoderShape:
    """The sizes of a decoder, whose layers need not be alike.

    Raises `ValueError` for sizes that do not fit each other.
    """

    form: Form
    width: int
    """Elements of a token between operators."""
    vocabulary: int
    layers: tuple[LayerShape, ...]

    def __post_init__(self):
        for name in ("width", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not positive")
        if not self.layers:
            raise ValueError("layers: there are none")

    @property
    def cache_width(self) -> int:
        """Elements of a token in all caches, those of keys and those of values."""
        return 2 * sum(layer.key_width for layer in self.layers)

    @property
    def layer_weights(self) -> int:
        """Elements of the matrices of all layers, which are their bytes in int8."""
        products = 3 if self.form == "llama" else 2
        return self.width * sum(
            2 * (layer.query_width + layer.key_width) + products * layer.hidden
            for layer in self.layers
        )

    @property
    def weights(self) -> int:
        """Elements of all matrices, that of the vocabulary included: without padding or bias."""
        return self.layer_weights + self.width * self.vocabulary

    def with_layers(self, layers: int) -> "DecoderShape":
        """The same shape with another number of layers: the first ones, over and over."""
        return replace(self, layers=tuple(islice(cycle(self.layers), layers)))

    def __str__(self) -> str:
        heads = _said([layer.heads for layer in self.layers])
        hidden = _said([layer.hidden for layer in self.layers])
        return f"{self.form} {len(self.layers)}x{self.width}, {heads} heads, {hidden} hidden"


def _said(sizes: list[int]) -> str:
    """The size of all layers, or that of each."""
    return "/".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))


GPT2_SMALL: Final = DecoderShape(
    form="gpt2",
    width=768,
    vocabulary=50_257,
    layers=(LayerShape(heads=12, key_heads=12, head_width=64, hidden=3072),) * 12,
)
OPT_125M: Final = replace(GPT2_SMALL, form="opt", vocabulary=50_272)
TINYLLAMA: Final = DecoderShape(
    form="llama",
    width=2048,
    vocabulary=32_000,
    layers=(LayerShape(heads=32, key_heads=4, head_width=64, hidden=5632),) * 22,
)
