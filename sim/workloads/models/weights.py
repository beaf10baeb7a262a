"""How many bits the weights of products have, as `--weights` says it."""

from dataclasses import replace

from celosia.isa.config import AcceleratorConfig, did_you_mean
from celosia.sim.support.problems import InputError
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES, WeightTypes

__all__ = ["file_weights", "parse_weights"]


def parse_weights(word: str | None) -> WeightTypes:
    """What `--weights` says of each product.  Raises `InputError` that names what there is."""
    if word is None:
        return INT8_WEIGHTS
    if word not in WEIGHT_CHOICES:
        near = did_you_mean(word, WEIGHT_CHOICES)
        raise InputError(f"--weights {word}: there are {', '.join(WEIGHT_CHOICES)}{near}")
    return WEIGHT_CHOICES[word]


def file_weights(word: str | None, config: AcceleratorConfig) -> WeightTypes:
    """The same of a model in a file: products that do not fit the tiles of `config` keep int8.

    Raises `InputError`.
    """
    return replace(parse_weights(word), lines=config.dim)
