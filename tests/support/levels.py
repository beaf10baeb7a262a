"""Configurations on which graphs are compared, level by level."""

from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS

__all__ = ["CONFIGS", "configured"]


def configured(preset: str, **values: Any) -> AcceleratorConfig:
    """A preset with a normalization unit, and other `values`."""
    return PRESETS[preset].with_values({"normalization": True, **values})


CONFIGS = {
    "tiny": configured("tiny"),
    "small": configured("small"),
    "base": configured("base"),
    "rebalanced": configured("rebalanced"),
    "dim 2": configured("tiny", dim=2, scratchpad_kib=2, accumulator_kib=1),
    "dim 64": configured("base", dim=64, scratchpad_kib=128, parameter_rows=16),
    "least": configured(
        "tiny", scratchpad_kib=1, accumulator_kib=1, parameter_rows=8, statistics_rows=16
    ),
}
"""From wide to narrow; the last has no room for anything twice."""
