"""An accelerator of products alone: the least for Amaranth's simulator to do."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS

__all__ = ["PLAIN"]

PLAIN: Final[AcceleratorConfig] = PRESETS["tiny"].with_values({
    "normalization": False,
    "loop_entries": 0,
})
"""`tiny` without the normalization unit and the loop body: a third of its cost to build and run."""
