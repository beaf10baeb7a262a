"""ResNet-50 as sizes of its layers, an image of 224 x 224: as first published (v1).

A stage's stride is in its first 1 x 1 convolution, and not in the 3 x 3 one behind it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Layer", "resnet_layers"]

_STAGES: Final = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Blocks, channels of their 3 x 3 convolution, and the first block's stride."""
_WIDER: Final = 4
"""Channels behind a block over those of its 3 x 3 convolution."""
_CLASSES: Final = 1000


_NORM_FLOPS: Final = 3
"""Operations per element of batch normalization (a product and a sum) and ReLU."""


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
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.weights * self.size**2

    @property
    def flops(self) -> int:
        """Operations: those of normalization, ReLU and the residual sum are there, fused or not."""
        others = (_NORM_FLOPS if self.normalized else 0) + self.residual
        return 2 * self.macs + others * self.outputs

    @property
    def bytes(self) -> int:
        """Bytes if each tensor moves once; a residual sum reads two and writes one."""
        inputs = self.channels * (self.size * self.stride) ** 2
        return inputs + self.weights + self.outputs * (4 if self.residual else 1)

    @property
    def unfused_bytes(self) -> int:
        """Further bytes if normalization and ReLU read and write the output again."""
        return 4 * self.outputs if self.normalized else 0


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The largest, or the mean, of each window."""

    channels: int
    size: int
    """Rows, and columns, of its output."""
    stride: int
    window: int
    """Rows, and columns, of a window."""

    @property
    def flops(self) -> int:
        """One operation for each element of a window."""
        return self.channels * (self.size * self.window) ** 2

    @property
    def bytes(self) -> int:
        """Bytes if its input and its output move once."""
        return self.channels * self.size**2 * (self.stride**2 + 1)

    @property
    def unfused_bytes(self) -> int:
        """It has nothing that is fused."""
        return 0


def resnet_layers() -> tuple[Layer | Pool, ...]:
    """All convolutions, both poolings, and the classifier."""
    return tuple(_layers())


def _layers() -> Iterator[Layer | Pool]:
    yield Layer(kernel=7, channels=3, filters=64, size=112, stride=2)
    yield Pool(channels=64, size=56, stride=2, window=3)
    channels, size = 64, 56
    for blocks, width, first in _STAGES:
        for block in range(blocks):
            stride = 1 if block else first
            wide = _WIDER * width
            size //= stride
            yield Layer(kernel=1, channels=channels, filters=width, size=size, stride=stride)
            yield Layer(kernel=3, channels=width, filters=width, size=size)
            yield Layer(kernel=1, channels=width, filters=wide, size=size, residual=True)
            if not block:
                yield Layer(kernel=1, channels=channels, filters=wide, size=size, stride=stride)
            channels = wide
    yield Pool(channels=channels, size=1, stride=size, window=size)
    yield Layer(kernel=1, channels=channels, filters=_CLASSES, size=1, normalized=False)
