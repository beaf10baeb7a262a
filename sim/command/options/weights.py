"""How many bits the weights of a model have, as commands ask for it."""

from enum import StrEnum
from typing import Annotated

import typer

from celosia.sw.quantize.weight_types import WEIGHT_CHOICES, WeightTypes

__all__ = ["WeightsChoice", "WeightsOption", "weight_types"]


class WeightsChoice(StrEnum):
    """The types of weights: the names of `WEIGHT_CHOICES`."""

    INT8 = "int8"
    INT4 = "int4"
    INT4_VOCABULARY = "int4-vocabulary"


WeightsOption = Annotated[
    WeightsChoice,
    typer.Option(
        "--weights",
        help="Of products: int4 packs two in a byte, but for those of the vocabulary; "
        "int4-vocabulary, these as well.",
    ),
]


def weight_types(choice: WeightsChoice) -> WeightTypes:
    """What `choice` says of each product."""
    return WEIGHT_CHOICES[choice.value]
