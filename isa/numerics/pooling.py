"""Max-pooling."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["max_pool"]

_SPATIAL: Final = 2


def max_pool(
    image: ArrayLike, *, size: int, stride: int, top: int, left: int, rows: int, cols: int
) -> NDArray[Any]:
    """The maximum over each `size` x `size` window of an image of (rows, columns, channels).

    The result has `rows` x `cols` pixels.  The window of pixel (r, c) begins at row
    ``r*stride - top`` and column ``c*stride - left``; what lies outside of the image is 0.

    >>> max_pool([[[-5], [7]], [[-9], [-8]]], size=2, stride=1, top=1, left=0, rows=2, cols=1)
    array([[[7]],
    <BLANKLINE>
           [[7]]])
    """
    pixels = np.asarray(image)
    high = max(0, (rows - 1) * stride + size - top - pixels.shape[0])
    wide = max(0, (cols - 1) * stride + size - left - pixels.shape[1])
    padded = np.pad(pixels, ((top, high), (left, wide), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(0, 1))
    chosen = windows[: rows * stride : stride, : cols * stride : stride]
    return chosen[:rows, :cols].max(axis=(-_SPATIAL, -1))
