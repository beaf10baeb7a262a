"""What operations and what becomes of them say in addition, where Gemmini's features are built.

Each function returns members of a structure, or none.
"""

from typing import Any

from amaranth import unsigned
from amaranth.lib import data

from celosia.hw.gemmini.norms.op import PASSING
from celosia.hw.gemmini.settings import POOLING_OPERANDS
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_ST, SHIFT_BITS

__all__ = [
    "POOLING",
    "copy_fields",
    "kept_fields",
    "pixel_fields",
    "read_fields",
    "repeat_fields",
    "resident_fields",
    "store_fields",
]

_OPERANDS = {field.name: field for field in CONFIG_ST.operands}

ROW_STRIDE_BITS = _OPERANDS["pool_pitch"].bits + _OPERANDS["stride"].bits
"""Bits of the bytes in memory from one row of pixels to the next, pitch times stride."""

POOLING = data.StructLayout({
    name: unsigned(_OPERANDS[operand].bits) for name, operand in POOLING_OPERANDS.items()
})
"""Windows over an image whose pixels are consecutive local rows.

``size`` and ``stride`` are rows and columns, ``top`` and ``left`` rows and columns of zeros around
the image, ``rows`` and ``cols`` pixels that leave.
"""

_Members = dict[str, Any]


def repeat_fields(config: AcceleratorConfig) -> _Members:
    """The pixel repeats of a load: copies of each row, beyond the first."""
    return {"copies": range(config.dim)} if config.convolution else {}


def copy_fields(config: AcceleratorConfig) -> _Members:
    """The copies of a local row, each a row less and ``cols`` columns further.

    The columns that they are apart count only if there are some.
    """
    repeats = repeat_fields(config)
    return {**repeats, "cols": range(config.dim)} if repeats else {}


def resident_fields(config: AcceleratorConfig) -> _Members:
    """What an output-stationary product is: `dim` rows stream, and are added to those that stay."""
    if not config.output_stationary:
        return {}
    return {
        "resident": 1,  # Output-stationary.
        "start": 1,  # What stayed does not count: the sums are new.
        "kept": range(config.dim + 1),  # Rows that go to C as well.
        "shift": unsigned(SHIFT_BITS),  # Of what goes to C.
    }


def store_fields(config: AcceleratorConfig) -> _Members:
    """The max-pooling of a store, and the activations and norm commands of its rows."""
    windows = {"pools": 1, "pooling": POOLING, "row_stride": unsigned(ROW_STRIDE_BITS)}
    passing = {"passing": PASSING}
    return {**(windows if config.convolution else {}), **(passing if config.bert else {})}


def kept_fields(config: AcceleratorConfig) -> tuple[str, ...]:
    """The fields of a store that are the same for all its rows."""
    return ("passing",) if config.bert else ()


def read_fields(config: AcceleratorConfig) -> _Members:
    """What a local row on its way out says."""
    window = {
        "pools": 1,  # What leaves is the maximum of all rows up to `last_in_row`.
        "first": 1,  # Of those.
        "blank": 1,  # It counts as zeros.
    }
    passing = {
        "passing": PASSING,
        "elements": range(config.dim + 1),  # Of a block that leaves as int8.
    }
    return {**(window if config.convolution else {}), **(passing if config.bert else {})}


def pixel_fields(config: AcceleratorConfig) -> _Members:
    """What rows in memory say that are pixels of an image, if `pools`."""
    pixels = {"pools": 1, "cols": unsigned(8), "row_stride": unsigned(ROW_STRIDE_BITS)}
    return pixels if config.convolution else {}
