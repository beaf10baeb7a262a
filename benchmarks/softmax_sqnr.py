"""How exact the int32 context of attention is, by spread and length of its scores.

``python benchmarks/softmax_sqnr.py`` prints the tables of
docs/adr/0012-numerators-of-eight-bits.md: signal to quantization noise of `deferred_context` beside
float64, for scores N(0, sigma) and random int8 values, and what other numerators would give.
Figures are the same on every machine.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import EXPONENT, deferred_context, deferred_softmax, exponent

__all__ = ["LENGTHS", "NUMERATORS", "SPREADS", "context_sqnr", "other_sqnr", "tables"]

SPREADS: Final = (0.3, 1.0, 2.0, 3.0)
LENGTHS: Final = (512, 1024, 2048, 4096)
MEANS: Final = (0, 20)
"""Means of the values, whose deviation is 40."""
ROWS: Final = 128
WIDTH: Final = 64
GOLDEN: Final = 0.6180339887498949

Array = NDArray[Any]


def context_sqnr(
    sigma: float, length: int, mean: int = 0, *, dithered: bool = False
) -> tuple[float, float]:
    """SQNR in dB of the accelerator's context, and the share of numerators that are 0."""
    q, values, exact = _operands(sigma, length, mean)
    numerators, totals = deferred_softmax(q, dithered=dithered)
    products = (numerators.astype(np.int64) @ values.astype(np.int64)).astype(np.int32)
    found = deferred_context(products, totals) / 2.0**16
    return _decibels(exact, found), float((numerators == 0).mean())


def other_sqnr(sigma: float, length: int, mean: int, numerators: str) -> float:
    """SQNR in dB with one of the `NUMERATORS`."""
    q, values, exact = _operands(sigma, length, mean)
    exponents = exponent(q.astype(np.int32) - q.max(axis=1, keepdims=True)) / EXPONENT.one
    weights, totals = NUMERATORS[numerators](exponents)
    return _decibels(exact, weights @ values / totals[:, np.newaxis])


def tables() -> Iterator[str]:
    """The lines of both tables, in Markdown."""
    yield "| scores | " + " | ".join(f"l = {length:,}" for length in LENGTHS) + " |"
    yield "|---" * (1 + len(LENGTHS)) + "|"
    for sigma in SPREADS:
        cells = (context_sqnr(sigma, length) for length in LENGTHS)
        texts = (f"{decibels:.1f} dB, {zeros:.0%} are 0" for decibels, zeros in cells)
        yield f"| N(0, {sigma:g}) | " + " | ".join(texts) + " |"
    yield ""
    yield "| l = 4,096 | rounded | dithered | " + " | ".join(NUMERATORS) + " |"
    yield "|---" * (3 + len(NUMERATORS)) + "|"
    for sigma in SPREADS:
        for mean in MEANS:
            length = LENGTHS[-1]
            cells = [context_sqnr(sigma, length, mean, dithered=how)[0] for how in (False, True)]
            cells += [other_sqnr(sigma, length, mean, name) for name in NUMERATORS]
            texts = " | ".join(f"{decibels:.1f}" for decibels in cells)
            yield f"| scores N(0, {sigma:g}), values N({mean}, 40) | {texts} |"


def _operands(sigma: float, length: int, mean: int) -> tuple[Array, Array, Array]:
    """Scores as int16 with 10 fraction bits, values, and the exact context."""
    random = np.random.default_rng([round(10 * sigma), length])
    scores = random.normal(0, sigma, (ROWS, length))
    values = np.clip(np.rint(random.normal(mean, 40, (length, WIDTH))), -128, 127)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    exact = weights @ values / weights.sum(axis=1, keepdims=True)
    q = np.clip(np.rint(scores * 1024), -32768, 32767).astype(np.int16)
    return q, values, exact


def _decibels(exact: Array, found: Array) -> float:
    return float(10 * np.log10((exact**2).sum() / ((found - exact) ** 2).sum()))


def _bits(bits: int) -> Callable[[Array], tuple[Array, Array]]:
    """Numerators of so many bits."""

    def made(exponents: Array) -> tuple[Array, Array]:
        numerators = np.rint(exponents * ((1 << bits) - 1))
        return numerators, numerators.sum(axis=1)

    return made


def _exact_sums(exponents: Array) -> tuple[Array, Array]:
    """Numerators as they are, over the sum of what was rounded."""
    return np.rint(exponents * 255), exponents.sum(axis=1) * 255


def _by_golden_ratio(exponents: Array) -> tuple[Array, Array]:
    """What is added before a numerator is cut is a fraction of its key's number, modulo 1."""
    offsets = np.arange(exponents.shape[1]) * GOLDEN % 1
    numerators = np.minimum(np.floor(exponents * 255 + offsets), 255)
    return numerators, numerators.sum(axis=1)


NUMERATORS: Final[dict[str, Callable[[Array], tuple[Array, Array]]]] = {
    "9 bits": _bits(9),
    "10 bits": _bits(10),
    "11 bits": _bits(11),
    "16 bits": _bits(16),
    "exact sums": _exact_sums,
    "by golden ratio": _by_golden_ratio,
}
"""Other numerators, from exponents of at most 1 to them and their sums."""

if __name__ == "__main__":
    print("\n".join(tables()))
