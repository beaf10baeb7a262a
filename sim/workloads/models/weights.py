"""How many bits the weights of products have, as `--weights` and `--precision` say it."""

from math import isfinite
from pathlib import Path
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.precision_file import PrecisionFile, read_precision
from celosia.sw.quantize.precision import Bounds
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES, WeightTypes

__all__ = ["parse_rule", "parse_weights"]

_AUTO: Final = "auto"


def parse_weights(word: str | None) -> WeightTypes:
    """What `--weights` says of each product.  Raises `InputError` that names what there is."""
    if word is None:
        return INT8_WEIGHTS
    if word not in WEIGHT_CHOICES:
        near = did_you_mean(word, WEIGHT_CHOICES)
        raise InputError(f"--weights {word}: there are {', '.join(WEIGHT_CHOICES)}{near}")
    return WEIGHT_CHOICES[word]


def parse_rule(
    precision: str | None,
    least_sqnr: float | None,
    most_cycles: int | None,
    weights: str | None = None,
) -> PrecisionFile | Bounds | None:
    """What `--precision` says: a file, which is read, or what a choice has to reach.

    Raises `InputError` for what has no meaning beside each other, and for a file that is none.
    """
    for name, value in (("least-sqnr", least_sqnr), ("most-cycles", most_cycles)):
        if value is not None and precision != _AUTO:
            raise InputError(f"--{name} {value:g}: is a bound of --precision {_AUTO}")
    if precision is None:
        return None
    if weights is not None:
        raise InputError(f"--weights {weights}: --precision {precision} chooses the weights")
    if precision != _AUTO:
        return read_precision(Path(precision))
    if least_sqnr is not None and not isfinite(least_sqnr):
        raise InputError(f"--least-sqnr {least_sqnr}: is no number of dB")
    if most_cycles is not None and most_cycles < 1:
        raise InputError(f"--most-cycles {most_cycles}: is not 1 or more")
    return Bounds(least_sqnr, most_cycles)
