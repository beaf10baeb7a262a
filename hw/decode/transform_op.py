"""The operation of TRANSFORM: a command with its configuration resolved."""

from amaranth import signed, unsigned
from amaranth.lib import data

from celosia.hw.decode.ops import TAG_BITS, local_row_bits
from celosia.hw.memory.ports import row_shape
from celosia.hw.vector.steps import LaneConstants, Normalization
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WINDOW_BITS
from celosia.isa.numerics import MAX_COLUMNS

__all__ = ["TransformOp"]


class TransformOp(data.StructLayout):
    """A function of rows of a local memory.

    It is `celosia.isa.operations.transforms.Transform` in hardware.

    Block b of row r is local row ``row + r + b * stride``, of the source, of the residual and of
    each result.
    """

    def __init__(self, config: AcceleratorConfig):
        row = unsigned(local_row_bits(config))
        parameter = row_shape(config.parameter_rows)
        super().__init__({
            "function": unsigned(4),
            "staged": 1,  # Its source are rows of int16 in the scratchpad.
            "kind": unsigned(2),  # An ElementType.
            "kind2": unsigned(2),
            "two": 1,  # There is a second result.
            "bias": 1,
            "column_scale": 1,
            "relu": 1,
            "start": 1,
            "finish": 1,
            "moments": 1,
            "stored": 1,  # Its scores saturate to int16.
            "zero_point": unsigned(8),
            "slot": row_shape(config.statistics_rows),
            "scale": unsigned(32),
            "scale2": unsigned(32),
            "shift": unsigned(5),
            "shift2": unsigned(5),
            "rows": unsigned(16),
            "cols": range(MAX_COLUMNS + 1),
            "row": row,
            "stride": unsigned(16),
            "target": row,
            "target_stride": unsigned(16),
            "target2": row,
            "target2_stride": unsigned(16),
            "residual": row,
            "residual_stride": unsigned(16),
            # From a block of a row's first half to that of its second half, if it rotates.
            "halfway": row,
            "residual_halfway": row,
            "bias_row": parameter,
            "scale_row": parameter,
            "gamma_row": parameter,
            # Columns that count: below `visible`, and with `causal` at most `diagonal` in row 0,
            # one more in each row after it.
            "visible": signed(18),
            "causal": 1,
            "diagonal": signed(18),
            # With `causal` and a `window`, columns before the last so many do not count, unless a
            # `ring` is closed: so many columns further on they do.
            "window": unsigned(WINDOW_BITS),
            "ring": unsigned(WINDOW_BITS),
            "norm": Normalization(),
            "constants": LaneConstants(),
            "tag": unsigned(TAG_BITS),
        })
