"""Where values are clipped: at their largest one, or where one of three criteria says.

`error` takes the least squared error; `percentile` leaves out one element in ten thousand;
`entropy` loses the least information (Kullback and Leibler's divergence from the histogram), as
TensorRT does ("8-bit Inference with TensorRT", Migacz, GTC 2017); `minmax` clips nothing.
"""

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.sw.quantize.ranges import INT8_LARGEST, best_step, largest
from celosia.sw.reference.encoder import Floats

__all__ = ["CLIPS", "Clip", "int8_step", "top_of"]

Clip = Literal["error", "minmax", "percentile", "entropy"]
CLIPS: Final[tuple[Clip, ...]] = get_args(Clip)

_PERCENTILE: Final = 99.99
_BINS: Final = 2048
_LEVELS: Final = INT8_LARGEST + 1
_STRIDE: Final = 16
"""Limits are tried at every so many bins."""
_LEAST: Final = 1e-12


def int8_step(x: Floats, clip: Clip, worth: Floats | None = None) -> float:
    """The step of symmetric int8; `worth` is what errors of a column count by `error`."""
    if clip == "error":
        return best_step(x, worth)
    return (top_of(x, clip) or 1.0) / INT8_LARGEST


def top_of(x: Floats, clip: Clip) -> float:
    """The magnitude at which `x` is clipped, by a criterion other than `error`."""
    if clip == "percentile":
        return float(np.percentile(np.abs(x), _PERCENTILE, method="higher")) or largest(x)
    return _least_divergent(np.abs(x)) if clip == "entropy" else largest(x)


def _least_divergent(sizes: Floats) -> float:
    """The limit with the least divergence of its levels from the histogram of magnitudes."""
    top = float(sizes.max(initial=0))
    if top == 0:
        return 0.0
    counts, edges = np.histogram(sizes, _BINS, (0, top))
    ends = range(_LEVELS, _BINS + 1, _STRIDE)
    return float(edges[min(ends, key=lambda end: _divergence(counts.astype(np.float64), end))])


def _divergence(counts: NDArray[np.float64], end: int) -> float:
    """What is lost if `counts` before the bin `end` become levels, and all others the last one."""
    kept = counts[:end]
    levels = np.arange(end) * _LEVELS // end
    filled = kept > 0
    each = np.bincount(levels, kept, _LEVELS) / np.maximum(np.bincount(levels, filled, _LEVELS), 1)
    found = np.where(filled, each[levels], 0)
    wanted = kept.copy()
    wanted[-1] += counts[end:].sum()
    p = wanted / wanted.sum()
    q = found / max(found.sum(), _LEAST)
    present = p > 0
    return float(np.sum(p[present] * np.log(p[present] / np.maximum(q[present], _LEAST))))
