"""What a store says about the rows that pass."""

from amaranth import unsigned
from amaranth.lib import data

from celosia.isa.bert import STATISTICS_BITS

__all__ = ["CONSTANTS", "PASSING"]

CONSTANTS = data.StructLayout(dict.fromkeys(("qb", "qc", "ln2", "ln2_inverse"), unsigned(32)))
"""The constants of the polynomials that CONFIG_BERT sets."""

PASSING = data.StructLayout({
    "passes": 1,  # The rows are from the accumulator, and do not leave as int32.
    "command": unsigned(3),
    "activation": unsigned(3),
    "statistics": unsigned(STATISTICS_BITS),
    "constants": CONSTANTS,
})
"""Layout of what `celosia.isa.bert.Passing` says of a store."""
