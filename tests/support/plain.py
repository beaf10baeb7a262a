"""An accelerator of products alone: the least for simulators to build and run."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config

__all__ = ["PLAIN", "PLAIN_OVERRIDES"]

PLAIN_OVERRIDES: Final = ("normalization=false", "loop_entries=0")
PLAIN: Final[AcceleratorConfig] = resolve_config("tiny", PLAIN_OVERRIDES)
"""`tiny` without the normalization unit and the loop body: a third of what it costs with them."""
