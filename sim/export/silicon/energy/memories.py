"""Energies of memories, of which the library has no cells: by a formula.

The terms are those of CACTI (S. Wilton and N. Jouppi, CACTI: an enhanced cache access and cycle
time model, 1996), each with one constant of a 180 nm process: word line, bit lines, what senses and
drives, and the wires between the parts of a bank and its port.
"""

import math
from typing import Final

__all__ = ["FORMULA", "access_pj"]

_MOST_ROWS: Final = 256
"""The rows of a part of a bank that has bit lines of its own."""
_BIT_LINE_FF: Final = 1.8
"""The capacitance of a bit line, for each row."""
_WORD_LINE_FF: Final = 2.5
"""The capacitance of a word line, for each bit."""
_SENSED_FF: Final = 15.0
"""The capacitance of what senses a bit, holds and drives it."""
_WIRE_FF: Final = 0.2
"""The capacitance of a wire, for each um."""
_CELL_UM2: Final = 4.65
_FILLED: Final = 0.6
"""The share of a bank's area that is cells."""
_SWING: Final = 0.2
"""The share of the supply by which bit lines move that are read."""
_MOVING: Final = 0.25
"""Wires of a row that rise in an access, of all."""

FORMULA: Final = (
    "terms of CACTI (Wilton and Jouppi 1996): parts of at most 256 rows, 1.8 fF of bit line a row, "
    "2.5 fF of word line a bit, 15 fF to sense a bit, swing of a read 0.2 Vdd, 0.2 fF/um of wire"
)
"""What sources of entries say."""


def access_pj(rows: int, bits: int, volts: float, *, write: bool) -> float:
    """Picojoules of an access to a row of a bank."""
    own_rows = min(rows, _MOST_ROWS)
    word_line = bits * _WORD_LINE_FF
    # One of the two bit lines of a column moves: a little in a read, wholly in a write.
    bit_lines = bits * own_rows * _BIT_LINE_FF * (1.0 if write else _SWING)
    side_um = math.sqrt(rows * bits * _CELL_UM2 / _FILLED)
    wires = bits * _MOVING * side_um * _WIRE_FF
    sensed = 0.0 if write else bits * _SENSED_FF
    return (word_line + bit_lines + wires + sensed) * volts**2 / 1000
