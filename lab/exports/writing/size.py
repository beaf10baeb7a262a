"""How large a model is."""

from dataclasses import dataclass, replace
from typing import Final

from celosia.sw.reference.language.shape import LayerShape

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

    columns: int | None = None
    """Elements of one head, if heads together are not as wide as the model."""
    unlike: tuple[LayerShape, ...] = ()
    """The sizes of each layer, if layers are not alike (Llama); their heads are equally wide."""

    @property
    def head_width(self) -> int:
        """Elements of one head."""
        return self.columns or self.width // self.heads

    def layer(self, index: int) -> "Size":
        """The sizes of one layer."""
        if not self.unlike:
            return self
        found = self.unlike[index]
        return replace(
            self,
            heads=found.heads,
            key_heads=found.key_heads,
            columns=found.head_width,
            hidden=found.hidden,
        )


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
