"""ResNet-50 as sizes of its layers, an image of 224 x 224."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Layer", "resnet_layers"]

_STAGES: Final = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Blocks, channels of their 3 x 3 convolution, and the first one's stride."""
_WIDER: Final = 4
"""Channels behind a block over those of its 3 x 3 convolution."""
_CLASSES: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A convolution, with the residual sum behind it if there is one."""

    kernel: int
    channels: int
    filters: int
    size: int
    """Rows, and columns, of its output."""
    stride: int = 1
    residual: bool = False
    normalized: bool = True

    @property
    def outputs(self) -> int:
        """Elements of its output."""
        return self.filters * self.size**2

    @property
    def weights(self) -> int:
        """Elements of its filters."""
        return self.kernel**2 * self.channels * self.filters

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.weights * self.size**2

    @property
    def bytes(self) -> int:
        """Bytes if each tensor moves once."""
        inputs = self.channels * (self.size * self.stride) ** 2
        return inputs + self.weights + self.outputs * (4 if self.residual else 1)

    @property
    def unfused_bytes(self) -> int:
        """Further bytes if normalization and ReLU read and write the output again."""
        return 4 * self.outputs if self.normalized else 0


def resnet_layers() -> tuple[Layer, ...]:
    """All convolutions, and the classifier."""
    return tuple(_layers())


def _layers() -> Iterator[Layer]:
    yield Layer(kernel=7, channels=3, filters=64, size=112, stride=2)
    channels, size = 64, 56
    for blocks, width, first in _STAGES:
        for block in range(blocks):
            stride = 1 if block else first
            wide, before = _WIDER * width, size
            size //= stride
            yield Layer(kernel=1, channels=channels, filters=width, size=before)
            yield Layer(kernel=3, channels=width, filters=width, size=size, stride=stride)
            yield Layer(kernel=1, channels=width, filters=wide, size=size, residual=True)
            if not block:
                yield Layer(kernel=1, channels=channels, filters=wide, size=size, stride=stride)
            channels = wide
    yield Layer(kernel=1, channels=channels, filters=_CLASSES, size=1, normalized=False)
