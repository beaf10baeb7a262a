"""Which commands bring scales, whose mantissas an accelerator may bound."""

from collections.abc import Mapping
from typing import Final

from celosia.isa.encoding.fields import Instruction
from celosia.isa.encoding.gemmini import CONFIG_LD, CONFIG_ST
from celosia.isa.encoding.transform import CONFIG_TRANSFORM

__all__ = ["SCALES"]

SCALES: Final[Mapping[Instruction, tuple[str, ...]]] = {
    CONFIG_LD: ("scale",),
    CONFIG_ST: ("scale",),
    CONFIG_TRANSFORM: ("scale", "scale2"),
}
"""The scales of each command; with `KEEP_SCALE`, CONFIG_ST brings none."""
