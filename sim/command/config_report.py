"""`celosia config`: configurations as documents and tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Final, Literal

import typer
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Key, Record
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.command.options.common import JsonOption, SetOption
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import table_console
from celosia.sim.support.guard import guarded
from celosia.sim.support.output import check_destination

__all__ = [
    "DERIVED",
    "ShownConfig",
    "ShownPresets",
    "app",
    "config_table",
    "preset_table",
]

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


@dataclass(frozen=True)
class ShownConfig(Record):
    """A configuration."""

    preset: str
    """Its name or file."""
    config: AcceleratorConfig
    """Every parameter."""
    schema: Literal["celosia.config/1"] = "celosia.config/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""

    @Key
    def derived(self) -> Mapping[str, int]:
        """What follows from the parameters."""
        return {key: getattr(self.config, key) for key in DERIVED}


@dataclass(frozen=True)
class ShownPresets(Record):
    """All named configurations."""

    presets: Mapping[str, AcceleratorConfig]
    """The parameters of each."""
    schema: Literal["celosia.presets/1"] = "celosia.presets/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


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
    write_document(json, ShownConfig(preset, config))


@app.command("list")
@guarded
def config_list(*, json: JsonOption = None) -> None:
    """List the named configurations."""
    check_destination(json)
    table_console(json).print(preset_table(PRESETS))
    write_document(json, ShownPresets(PRESETS))
