"""I-GELU, LayerNorm and softmax on the way out, as CONFIG_ST, CONFIG_BERT and MVOUT say."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

__all__ = ["STATISTICS", "STATISTICS_BITS", "Activation", "BertState", "NormCommand", "Passing"]

STATISTICS_BITS: Final = 2
STATISTICS: Final = 1 << STATISTICS_BITS
"""Records of statistics that CONFIG_BERT may name."""


class Activation(IntEnum):
    """The function that MVOUT applies between the accumulator and the scale."""

    NONE = 0
    RELU = 1
    LAYERNORM = 2
    IGELU = 3
    SOFTMAX = 4


class NormCommand(IntEnum):
    """What an MVOUT does to a record of statistics; only RESET writes memory."""

    RESET = 0
    SUM = 1
    MEAN = 2
    VARIANCE = 3
    INV_STDDEV = 4
    MAX = 5
    SUM_EXP = 6
    INV_SUM_EXP = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class BertState:
    """What CONFIG_BERT sets."""

    statistics: int = 0
    softmax: bool = False
    qb: int = 0
    qc: int = 0
    ln2: int = 0
    ln2_inverse: int = 0

    def set(self, values: dict[str, int]) -> "BertState":
        """The state after a CONFIG_BERT with these operands."""
        chosen = replace(self, statistics=values["statistics"])
        if values["statistics_only"]:
            return chosen
        constant = "ln2_inverse" if values["second_constant"] else "ln2"
        return replace(
            chosen,
            softmax=bool(values["softmax"]),
            qb=values["qb"],
            qc=values["qc"],
            **{constant: values["constant"]},
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Passing:
    """What becomes of the rows of an MVOUT, and of a record of statistics."""

    command: NormCommand
    activation: Activation
    state: BertState

    @property
    def silent(self) -> bool:
        """Memory is not written."""
        return self.command is not NormCommand.RESET
