"""The commands that look for faults, and for tests that miss them."""

from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.faults.mutate_command import mutate
from celosia.sim.command.options.common import (
    ExecutorOption,
    PresetOption,
    SetOption,
    SimOption,
    Simulator,
)
from celosia.sim.devices.devices import open_device
from celosia.sim.fuzz.campaign import SEED_BITS, Plan
from celosia.sim.fuzz.campaign import fuzz as run_fuzz
from celosia.sim.fuzz.report import print_findings, print_signals
from celosia.sim.fuzz.signals import measure_signals
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG, guarded
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to `app`."""
    app.command()(guarded(fuzz))
    app.command()(guarded(mutate))


def fuzz(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    sim: SimOption = Simulator.VERILATOR,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the first program.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="The same as local:N.")] = 1,
    executor: ExecutorOption = "",
    out: Annotated[
        str, typer.Option("--out", metavar="DIRECTORY", help="Where failures are written.")
    ] = ".",
    signals: Annotated[
        int,
        typer.Option(
            "--signals", metavar="N", min=0, help="Show which signals the first N programs change."
        ),
    ] = 0,
) -> None:
    """Run random programs on the functional model and on the RTL; 1 if they differ.

    A failure is made small and written as a program file that `celosia run` takes.  The same
    command goes on where it was interrupted.
    """
    if sim is Simulator.FUNCTIONAL:
        raise InputError("--sim functional: it is what the RTL is compared with")
    if not Path(out).is_dir():
        raise InputError(f"--out: {out} is no directory")
    workers = executor or f"local:{jobs}"
    parse_executor(workers)
    changes = tuple(overrides or ())
    preset = preset or "tiny"
    config = resolve_config(preset, changes)
    plan = Plan(
        preset=preset,
        overrides=changes,
        simulator=sim.value,
        seconds=seconds,
        seed=seed,
        place=out,
    )
    with progress_bar() as tell:
        open_device(sim.value, config, progress=tell).close()  # Built once, before workers ask.
        with lanes_of(workers) as lanes:
            found = run_fuzz(plan, Path(out) / ".celosia-fuzz.json", lanes, tell)
        first = seed << SEED_BITS
        seen = measure_signals(range(first, first + signals), preset, changes, tell)
    print_findings(table_console(), found, config)
    if signals:
        print_signals(table_console(), seen)
    if found.failures:
        raise typer.Exit(WRONG)
