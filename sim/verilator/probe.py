"""What is watched inside the accelerator in each cycle, and the lines of text made from it.

The layouts are shared by the RTL (`celosia.sim.wave.top`), which fills a `Probe` and shows the
lines, and by whoever stands between them.
"""

from collections.abc import Mapping
from ctypes import Structure, c_uint8, c_uint32, c_uint64
from typing import Final

from celosia.isa.registers.queues import QUEUES

__all__ = ["LINES", "TEXT_BYTES", "WAVE_SCOPE", "Probe", "pack_lines"]

WAVE_SCOPE: Final = "wave"
"""Where the lines are, below the top."""

_WIDE: Final = 120

LINES: Final[Mapping[str, int]] = {
    "command": _WIDE,
    **{f"{queue}{part}": _WIDE for queue in QUEUES for part in ("", "_next")},
    "array": 24,
}
"""Names of the lines, and how many characters each may have."""

TEXT_BYTES: Final = sum(LINES.values())


class Probe(Structure):
    """One cycle.  The first byte is not zero in cycles whose repetition means something."""

    _fields_ = [
        ("event", c_uint8),
        ("accepted", c_uint8),
        ("funct", c_uint8),
        ("reset", c_uint8),
        ("busy", c_uint8),
        ("owner", c_uint8),
        ("starts", c_uint8 * len(QUEUES)),
        ("done", c_uint8 * len(QUEUES)),
        ("heads", c_uint8 * len(QUEUES)),
        ("waits", c_uint8 * len(QUEUES)),
        ("zero", c_uint8 * 2),
        ("tags", c_uint32 * len(QUEUES)),
        ("rs1", c_uint64),
        ("rs2", c_uint64),
    ]


def pack_lines(lines: Mapping[str, str]) -> bytes:
    """`lines` as bits of one number, little-endian: in each line, the last character is lowest.

    That is how Verilog packs strings, and what viewers make text of.  What is too long is cut.
    """
    return b"".join(
        _cut(lines[name], size).encode("ascii", "replace")[::-1].ljust(size, b"\0")
        for name, size in LINES.items()
    )


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 3]}..."
