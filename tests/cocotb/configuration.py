"""The accelerator that the bench drives: small, with a bus wider than a row."""

from typing import Final

from celosia.isa.presets import resolve_config

__all__ = ["CONFIG"]

CONFIG: Final = resolve_config(
    "tiny", ["scratchpad_kib=1", "accumulator_kib=1", "parameter_rows=8", "bus_bits=64"]
)
