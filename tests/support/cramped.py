"""An accelerator that has little of everything: the RTL model that several system tests share."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config

__all__ = ["CRAMPED", "CRAMPED_OVERRIDES", "CRAMPED_PRESET"]

CRAMPED_PRESET: Final = "tiny"
CRAMPED_OVERRIDES: Final = (
    *("normalization=true", "statistics_rows=16", "accumulator_kib=1"),
    *("vector_lanes=1", "scale_bits=8", "execute_queue=2", "int4_pairs=true"),
)
"""Few rows, so that operations conflict; one lane of four, short scales, a queue of products that
fills, and tiles of int4 weights that enter in two cycles, among others that take four.

A model takes twenty seconds to build: what needs one of these sizes takes all of them.
"""
CRAMPED: Final[AcceleratorConfig] = resolve_config(CRAMPED_PRESET, CRAMPED_OVERRIDES)
