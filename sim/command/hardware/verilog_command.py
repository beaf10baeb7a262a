"""`celosia verilog`: the accelerator as Verilog."""

from importlib import import_module
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.options.common import PresetOption, SetOption
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.files import check_destinations
from celosia.sim.support.display import progress_bar
from celosia.sim.support.output import STANDARD_OUTPUT

__all__ = ["verilog"]


def verilog(
    *,
    preset: PresetOption = "base",
    overrides: SetOption = None,
    top: Annotated[
        TopChoice, typer.Option(help="core: with a command stream; axi: with registers and a ring.")
    ] = TopChoice.CORE,
    memories: Annotated[
        Memories, typer.Option(help="blackbox: instances of modules to be replaced by macros.")
    ] = Memories.INFERRED,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.v",
            help="FILE.f lists the files, FILE.md describes ports; - is standard output.",
        ),
    ] = STANDARD_OUTPUT,
) -> None:
    """Write the accelerator as Verilog, the same text whenever the RTL is the same."""
    config = resolve_config("base" if preset is None else preset, overrides or ())
    check_destinations(output, memories)
    with progress_bar() as tell:
        tell("writing the Verilog", None)
        # Loads Amaranth, which no other command needs.
        writer = import_module("celosia.sim.export.write")
        writer.write_verilog(config, top, memories, output)
