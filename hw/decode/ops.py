"""Operations: commands with their configuration resolved, as the three controllers take them.

A decoder makes them from commands; any other source (a loop engine) may make them too.
"""

from amaranth import unsigned
from amaranth.lib import data, enum

from celosia.hw.gemmini.fields import repeat_fields, resident_fields, store_fields
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.tokens import COUNT_BITS, TOKEN_BITS

__all__ = [
    "DRAM_ADDRESS_BITS",
    "TAG_BITS",
    "ExecuteOp",
    "LoadOp",
    "ResultOp",
    "Space",
    "StoreOp",
    "local_row_bits",
]

DRAM_ADDRESS_BITS = 64
TAG_BITS = 32
"""Width of the number of the command that an operation comes from, in bits; errors report it."""


class Space(enum.Enum, shape=2):
    """The local memories."""

    SCRATCHPAD = 0
    ACCUMULATOR = 1
    PARAMETER = 2


def local_row_bits(config: AcceleratorConfig) -> int:
    """Width of a row number of the largest local memory."""
    rows = max(config.scratchpad_rows, config.accumulator_rows, config.parameter_rows)
    return (rows - 1).bit_length()


class LoadOp(data.StructLayout):
    """Rows from memory into a local memory.

    Row r, column block b lands in local row ``row + r + b * block_stride``.  For the parameter
    memory, `rows` is 1 and `cols` elements fill consecutive rows (``block_stride`` 1).
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "stride": unsigned(64),
            "rows": unsigned(16),
            "cols": unsigned(20),
            "space": Space,
            "row": unsigned(local_row_bits(config)),
            "block_stride": unsigned(16),
            "zero": 1,  # Write zeros, read nothing.
            "accumulate": 1,
            "shrunk": 1,  # int8 in memory, int32 in the accumulator.
            "scale": unsigned(32),
            **repeat_fields(config),
            "wait": 1,  # For so many finished stores.
            "wait_token": unsigned(TOKEN_BITS),
            "wait_count": unsigned(COUNT_BITS),
            "tag": unsigned(TAG_BITS),
        })


class ExecuteOp(data.StructLayout):
    """C (+)= A * W + D."""

    def __init__(self, config: AcceleratorConfig):
        row = unsigned(local_row_bits(config))
        extent = range(config.dim + 1)
        super().__init__({
            "load_weights": 1,  # Put new weights into the array before A streams.
            "w_zero": 1,
            "w_row": row,
            "w_rows": extent,  # Logical sizes: after the transposition.
            "w_cols": extent,
            "w_transpose": 1,
            "w_int4": 1,  # Two lines in a row.
            "a_zero": 1,
            "a_row": row,
            "a_rows": unsigned(16),
            "a_cols": extent,
            "a_stride": unsigned(16),
            "a_transpose": 1,
            "a_unsigned": 1,
            "d_valid": 1,
            "d_row": row,
            "d_rows": unsigned(16),
            "d_cols": extent,
            "c_row": row,
            "c_rows": unsigned(16),  # Rows that stream; 0 when C is garbage.
            "c_cols": extent,
            "c_stride": unsigned(16),
            "c_accumulator": 1,  # Into the accumulator; else saturated into the scratchpad.
            "accumulate": 1,
            "relu": 1,
            **resident_fields(config),
            "tag": unsigned(TAG_BITS),
        })


class ResultOp(data.StructLayout):
    """Where the rows of a product go."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "row": unsigned(local_row_bits(config)),
            "rows": unsigned(16),
            "stride": unsigned(16),
            "mask": unsigned(config.dim),
            "to_accumulator": 1,
            "accumulate": 1,
            "relu": 1,
            "add_d": 1,
            **resident_fields(config),
        })


class StoreOp(data.StructLayout):
    """Rows of a local memory to memory.

    Row r, column block b comes from local row ``row + r + b * block_stride``.
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "address": unsigned(DRAM_ADDRESS_BITS),
            "stride": unsigned(32),
            "rows": unsigned(16),
            "cols": unsigned(16),
            "space": Space,
            "row": unsigned(local_row_bits(config)),
            "block_stride": unsigned(16),
            "full": 1,  # int32, not scaled and not activated.
            "int16": 1,  # Scaled to int16, not to int8.
            "relu": 1,
            "scale": unsigned(32),
            "bias": 1,
            "bias_row": unsigned((config.parameter_rows - 1).bit_length()),
            **store_fields(config),
            "signal": 1,  # Counts when it has finished.
            "signal_token": unsigned(TOKEN_BITS),
            "tag": unsigned(TAG_BITS),
        })
