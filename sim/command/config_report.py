"""Configurations as documents and tables."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig

__all__ = [
    "CONFIG_SCHEMA",
    "DERIVED",
    "config_document",
    "config_table",
    "preset_table",
    "presets_document",
]

CONFIG_SCHEMA: Final = "celosia.config/1"
PRESETS_SCHEMA: Final = "celosia.presets/1"

DERIVED: Final = (
    "scratchpad_rows",
    "scratchpad_bank_rows",
    "scratchpad_row_bytes",
    "accumulator_rows",
    "accumulator_bank_rows",
    "accumulator_row_bytes",
    "bus_bytes",
    "max_blocks",
    "max_accumulator_blocks",
    "partial_sum_bits",
    "macs_per_cycle",
)
"""Properties of a configuration that are shown beside its parameters."""


def config_document(name: str, config: AcceleratorConfig) -> dict[str, Any]:
    """A configuration for JSON."""
    return {
        "schema": CONFIG_SCHEMA,
        "preset": name,
        "config": asdict(config),
        "derived": {key: getattr(config, key) for key in DERIVED},
    }


def presets_document(presets: Mapping[str, AcceleratorConfig]) -> dict[str, Any]:
    """All named configurations for JSON."""
    return {
        "schema": PRESETS_SCHEMA,
        "presets": {name: asdict(config) for name, config in presets.items()},
    }


def config_table(name: str, config: AcceleratorConfig) -> Table:
    """Every parameter, then every derived quantity."""
    table = Table(title=escape(name), title_justify="left")
    table.add_column("parameter")
    table.add_column("value", justify="right")
    for key, value in asdict(config).items():
        table.add_row(key, value if isinstance(value, str) else f"{value:,}")
    table.add_section()
    for key in DERIVED:
        table.add_row(key, f"{getattr(config, key):,}", style="dim")
    return table


def preset_table(presets: Mapping[str, AcceleratorConfig]) -> Table:
    """A line for each named configuration."""
    table = Table()
    table.add_column("preset")
    for head in ("array", "scratchpad", "accumulator", "bus"):
        table.add_column(head, justify="right")
    for name, config in presets.items():
        table.add_row(
            name,
            f"{config.dim}x{config.dim}",
            f"{config.scratchpad_kib} KiB",
            f"{config.accumulator_kib} KiB",
            f"{config.bus_bits} bit",
        )
    return table
