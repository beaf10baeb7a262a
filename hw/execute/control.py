"""What happens to the rows of operands that are on their way to the array."""

from amaranth import unsigned
from amaranth.lib import data

from celosia.isa.config import AcceleratorConfig

__all__ = ["RowControl", "WeightControl"]


class WeightControl(data.StructLayout):
    """What happens to the row that the weights port is asked for in this cycle."""

    def __init__(self, config: AcceleratorConfig):
        pairs = {
            "pair": 1,  # Both lines of the row enter.
            "second": 1,  # The second one of them is not zero.
        }
        super().__init__({
            "start": 1,  # Row 0 of a wave of weights.
            "mask": unsigned(config.dim),  # Elements of the weights row that are not zero.
            "int4": 1,  # The row has two lines.
            "high": 1,  # The second one of them is wanted.
            "from_transposer": 1,
            "shift": 1,  # The transposer shifts, to emit, to fill, or both.
            "turn": 1,  # The transposer changes direction, from this cycle on.
            "fill_mask": unsigned(config.dim),  # Elements of the row shifted in that are not zero.
            **(pairs if config.int4_pairs else {}),
        })


class RowControl(data.StructLayout):
    """What the row that the operands port is asked for in this cycle is good for."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,  # A row enters the array.
            "swap": 1,  # It is the first one for new weights (also without a row).
            "mask": unsigned(config.dim),  # Elements of A that are not zero.
            "is_unsigned": 1,
            "from_transposer": 1,
            "turn": 1,  # The transposer changes direction, from this cycle on.
            "d_valid": 1,  # A row of D is ready, for the row of A that comes next.
            "d_mask": unsigned(config.dim),  # Elements of D that are not zero.
        })
