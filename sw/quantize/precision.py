"""Which products of a model have int4 weights, or int16 operands: by decibels and by cycles.

Nothing here quantizes, runs or predicts: it is told what int4 weights of each product alone lose
and save, or what an int16 operand gains and takes, and asks for what a set of them does together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, log10, sqrt
from typing import Final

from celosia.isa.encoding import WeightType

__all__ = [
    "Bounds",
    "BoundsError",
    "Candidate",
    "Numbers",
    "choose",
    "choose_wide",
    "decibels_of",
    "noise_of",
    "share_of",
]

_USUAL_DB: Final = 1.0
"""What may be lost where no bound is given."""
_TRIES: Final = 8
"""Products behind the best set that are tried one by one."""


class Numbers(Enum):
    """What a product multiplies."""

    INT8 = WeightType.INT8, False
    """Operands and weights of eight bits."""
    INT4 = WeightType.INT4, False
    """Weights of four bits, operands of eight."""
    INT16 = WeightType.INT8, True
    """Operands of sixteen bits, weights of eight."""

    def __init__(self, weights: WeightType, wide: bool) -> None:
        self.weights = weights
        self.wide = wide
        """Whether its operand is int16."""


class BoundsError(ValueError):
    """No choice is within the bounds."""


@dataclass(frozen=True)
class Bounds:
    """What a choice has to reach."""

    least_db: float | None = None
    """The least SQNR; None: there is no bound."""
    most_cycles: int | None = None
    """The most predicted cycles; None: there is no bound."""


@dataclass(frozen=True)
class Candidate:
    """A product that may have int4 weights, or an int16 operand."""

    tensor: str
    """What it computes."""
    lost: float
    """The noise that these alone add, as a share of the signal; negative, if there is less."""
    saved: int
    """The predicted cycles that they save; negative, if they take more."""


def noise_of(db: float) -> float:
    """The share of the signal that the noise at so many dB is."""
    return 10 ** (-db / 10)


def decibels_of(noise: float) -> float:
    """The dB of noise that is such a share of the signal; infinite, if there is none."""
    return -10 * log10(noise) if noise > 0 else inf


def share_of(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The share that noise has of the signal of samples together, and its standard error.

    A sample is the energies of its noise and of its signal.  The error is that of a ratio of sums
    (W. G. Cochran, Sampling Techniques, section 2.11); 0 of one sample.
    """
    count = len(samples)
    signal = sum(each for _, each in samples)
    share = sum(each for each, _ in samples) / signal
    apart = sum((noise - share * each) ** 2 for noise, each in samples)
    return share, sqrt(apart * count / (count - 1)) / signal if count > 1 else 0.0


def choose(
    candidates: Sequence[Candidate],
    bounds: Bounds,
    cycles: int,
    noise: Callable[[frozenset[str]], float],
) -> frozenset[str]:
    """The tensors of the products that get int4 weights.

    With int8 all take `cycles`; `noise` measures that of a set of products together.  Products
    that save cycles are taken in the order of what they lose for a cycle.  With a bound of the
    accuracy, as many as it lets; with one of the cycles, as few as it takes; with both, these, if
    they are accurate enough; with none, as many as one dB lets.

    Raises `BoundsError` that says what is nearest if nothing is within the bounds.
    """
    useful = sorted(
        (each for each in candidates if each.saved > 0),
        key=lambda each: max(each.lost, 0.0) / each.saved,
    )
    least = bounds.least_db
    none = frozenset[str]()
    if least is not None and (best := noise(none)) > noise_of(least):
        raise BoundsError(f"--least-sqnr {least:g}: int8 weights reach {decibels_of(best):.1f} dB")
    if bounds.most_cycles is not None:
        found = _fewest(useful, bounds.most_cycles, cycles)
        if least is not None and (reached := noise(found)) > noise_of(least):
            within = _most(useful, noise_of(least), noise)
            left = cycles - sum(each.saved for each in useful if each.tensor in within)
            raise BoundsError(
                f"--most-cycles {bounds.most_cycles}: {decibels_of(reached):.1f} dB are reached "
                f"with so few; --least-sqnr {least:g} takes {left:,} cycles"
            )
        return found
    limit = noise_of(least) if least is not None else noise(none) * 10 ** (_USUAL_DB / 10)
    return _most(useful, limit, noise)


def choose_wide(
    candidates: Sequence[Candidate],
    bounds: Bounds,
    cycles: int,
    noise: Callable[[frozenset[str]], float],
) -> frozenset[str]:
    """The tensors of the products that get int16 operands, where int8 misses a bound of accuracy.

    As few as it takes, in the order of what they gain for a cycle.  `cycles` and `noise` are as
    `choose` has them.

    Raises `BoundsError` that says what is nearest if nothing is within the bounds.
    """
    assert bounds.least_db is not None
    limit = noise_of(bounds.least_db)
    order = sorted(candidates, key=lambda each: each.lost / max(-each.saved, 1))
    found = frozenset[str]()
    for each in order:
        if noise(found) <= limit:
            break
        found |= {each.tensor}
    if (reached := noise(found)) > limit:
        eight = decibels_of(noise(frozenset()))
        raise BoundsError(
            f"--least-sqnr {bounds.least_db:g}: {decibels_of(reached):.1f} dB are reached with "
            f"int16 operands in every product that can have them, {eight:.1f} with int8"
        )
    for each in reversed(order):
        if each.tensor in found and noise(found - {each.tensor}) <= limit:
            found -= {each.tensor}
    taken = cycles - sum(each.saved for each in candidates if each.tensor in found)
    if bounds.most_cycles is not None and taken > bounds.most_cycles:
        raise BoundsError(
            f"--most-cycles {bounds.most_cycles}: --least-sqnr {bounds.least_db:g} takes "
            f"{taken:,} cycles, with int16 operands in {len(found)} products"
        )
    return found


def _fewest(useful: Sequence[Candidate], most: int, cycles: int) -> frozenset[str]:
    """The first products with which no more than so many cycles are left."""
    found, left = [], cycles
    for each in useful:
        if left <= most:
            break
        found.append(each.tensor)
        left -= each.saved
    if left > most:
        raise BoundsError(
            f"--most-cycles {most}: with int4 weights in every product that gains by them, "
            f"{left:,} cycles are predicted"
        )
    return frozenset(found)


def _most(
    useful: Sequence[Candidate], limit: float, noise: Callable[[frozenset[str]], float]
) -> frozenset[str]:
    """As many of the first products as the limit of the noise lets, and some behind them."""

    def first(count: int) -> frozenset[str]:
        return frozenset(each.tensor for each in useful[:count])

    least, most = 0, len(useful)
    while least < most:
        middle = (least + most + 1) // 2
        if noise(first(middle)) <= limit:
            least = middle
        else:
            most = middle - 1
    found = first(least)
    for each in useful[least : least + _TRIES]:
        if noise(found | {each.tensor}) <= limit:
            found |= {each.tensor}
    return found
