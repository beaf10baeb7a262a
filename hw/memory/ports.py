"""Payloads of the local memories' ports.

Data come first: where they begin at bit 0, simulation moves them word by word.
"""

from amaranth import signed, unsigned
from amaranth.lib import data, enum

from celosia.isa.config import AcceleratorConfig

__all__ = ["AccumulatorWrite", "BankUser", "ParameterWrite", "ScratchpadWrite", "row_shape"]


class BankUser(enum.Enum, shape=3):
    """The user of a bank that another user waits for; the first three belong to products."""

    RESULTS = 0
    WEIGHTS = 1
    OPERANDS = 2
    WORDS = 3  # Results of transforms.
    TRANSFORM = 4
    STORE = 5
    LOAD = 6


def row_shape(rows: int):
    """The shape of a row number of a memory of `rows` rows."""
    return unsigned((rows - 1).bit_length())


class ScratchpadWrite(data.StructLayout):
    """A row of int8, and which of its elements are written."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": data.ArrayLayout(unsigned(8), config.dim),
            "row": row_shape(config.scratchpad_rows),
            "mask": unsigned(config.dim),
        })


class AccumulatorWrite(data.StructLayout):
    """A row of int32 with a write enable for each element; it may be added to what is there."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": data.ArrayLayout(signed(32), config.dim),
            "row": row_shape(config.accumulator_rows),
            "accumulate": 1,
            "mask": unsigned(config.dim),
        })


class ParameterWrite(data.StructLayout):
    """A row of int32 parameters, and which of its elements are written."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": data.ArrayLayout(signed(32), config.dim),
            "row": row_shape(config.parameter_rows),
            "mask": unsigned(config.dim),
        })
