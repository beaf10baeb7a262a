"""How large a model is."""

from dataclasses import dataclass
from typing import Final

__all__ = ["SMALL", "STANDARD", "Size"]


@dataclass(frozen=True, kw_only=True)
class Size:
    """The sizes of a transformer; models that lack a part ignore its size."""

    layers: int = 4
    width: int = 256
    """Elements of a token between operators."""
    heads: int = 4
    key_heads: int = 2
    """Heads of keys and values, where several heads of queries share one (Llama)."""
    hidden: int = 1024
    """Elements of a token between the products of a feed-forward network."""
    vocabulary: int = 512
    positions: int = 256
    """The longest text."""
    window: int = 48
    """Keys that a query sees, its own and those before it (Mistral)."""
    image: int = 64
    """Height and width of an image (ViT and the hybrid)."""
    patch: int = 8
    """Height and width of a patch of an image."""
    mels: int = 80
    """Rows of a spectrogram (Whisper)."""

    @property
    def head_width(self) -> int:
        """Elements of one head."""
        return self.width // self.heads


STANDARD: Final = Size()
SMALL: Final = Size(
    layers=2,
    width=64,
    heads=4,
    hidden=128,
    vocabulary=64,
    positions=64,
    window=12,
    image=32,
    mels=16,
)
"""A size for fast tests."""
