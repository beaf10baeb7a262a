"""Ranges of local rows, over all local memories: parameters first, then the others."""

from amaranth import unsigned
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.hw.decode.ops import Space
from celosia.isa.config import AcceleratorConfig

__all__ = ["RowRange", "overlap", "parameter_overlap", "space_base", "space_rows"]

ORDER = (Space.PARAMETER, Space.SCRATCHPAD, Space.ACCUMULATOR)
"""In which the rows of all memories are counted through."""


def space_rows(config: AcceleratorConfig, space: Space) -> int:
    """Rows of one local memory."""
    return {
        Space.SCRATCHPAD: config.scratchpad_rows,
        Space.ACCUMULATOR: config.accumulator_rows,
        Space.PARAMETER: config.parameter_rows,
    }[space]


def space_base(config: AcceleratorConfig, space: Space) -> int:
    """Number of the first row of a memory when all rows of all memories are counted through."""
    return sum(space_rows(config, other) for other in ORDER[: ORDER.index(space)])


class RowRange(data.StructLayout):
    """Rows `first` to `last`, both included, counted through all memories."""

    def __init__(self, config: AcceleratorConfig):
        rows = sum(space_rows(config, space) for space in Space)
        super().__init__({
            "valid": 1,
            "first": unsigned((rows - 1).bit_length()),
            "last": unsigned((rows - 1).bit_length()),
        })


def overlap(one: data.View, other: data.View) -> Value:
    """Whether two ranges have a row in common."""
    return one.valid & other.valid & (one.first <= other.last) & (other.first <= one.last)


def parameter_overlap(config: AcceleratorConfig, one: data.View, parameters: data.View) -> Value:
    """Whether a range has a row in common with another one, which is of parameters."""
    bits = (config.parameter_rows - 1).bit_length()  # They are counted from 0.
    first, last = parameters.first[:bits], parameters.last[:bits]
    meets = (one.first[:bits] <= last) & (first <= one.last[:bits])
    return one.valid & parameters.valid & (one.first[bits:] == 0) & meets
