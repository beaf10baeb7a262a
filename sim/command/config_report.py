"""`celosia config`: configurations as documents and tables."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.command.options.common import JsonOption, SetOption
from celosia.sim.run.report import as_json
from celosia.sim.support.display import table_console
from celosia.sim.support.guard import guarded
from celosia.sim.support.output import check_destination, write_file

__all__ = [
    "CONFIG_SCHEMA",
    "DERIVED",
    "app",
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


app = typer.Typer(no_args_is_help=True, help="Show configurations.")


@app.command("show")
@guarded
def config_show(
    preset: Annotated[
        str, typer.Argument(metavar="[NAME|FILE.toml]", help=f"{', '.join(PRESETS)}, or a file.")
    ] = "base",
    *,
    overrides: SetOption = None,
    json: JsonOption = None,
) -> None:
    """Show every parameter of a configuration, and what follows from them."""
    check_destination(json)
    config = resolve_config(preset, overrides or ())
    table_console(json).print(config_table(preset, config))
    if json:
        write_file(json, as_json(config_document(preset, config)))


@app.command("list")
@guarded
def config_list(*, json: JsonOption = None) -> None:
    """List the named configurations."""
    check_destination(json)
    table_console(json).print(preset_table(PRESETS))
    if json:
        write_file(json, as_json(presets_document(PRESETS)))
