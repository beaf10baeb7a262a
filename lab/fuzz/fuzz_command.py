"""The commands that look for faults, and for tests that miss them."""

from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.config import did_you_mean
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.batches import SEED_BITS
from celosia.lab.fuzz.campaign import fuzz as run_fuzz
from celosia.lab.fuzz.files.kinds import KINDS, kinds
from celosia.lab.fuzz.findings import Plan, What
from celosia.lab.fuzz.report import print_findings, print_signals
from celosia.lab.fuzz.signals import measure_signals
from celosia.sim.command.options.common import (
    ExecutorOption,
    PresetOption,
    SetOption,
    SimOption,
    Simulator,
)
from celosia.sim.devices.devices import open_device
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import import_extra
from celosia.sim.support.guard import WRONG
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["fuzz"]


def fuzz(
    what: Annotated[
        What,
        typer.Argument(help="Commands, graphs of operators, ONNX models, or damaged files."),
    ] = What.PROGRAMS,
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    sim: SimOption = Simulator.VERILATOR,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the first case.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="The same as local:N.")] = 1,
    executor: ExecutorOption = "",
    out: Annotated[
        str, typer.Option("--out", metavar="DIRECTORY", help="Where failures are written.")
    ] = ".",
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help=f"files: {', '.join(KINDS)} (repeatable)."),
    ] = None,
    signals: Annotated[
        int,
        typer.Option(
            "--signals", metavar="N", min=0, help="Show which signals the first N programs change."
        ),
    ] = 0,
) -> None:
    """Try random programs, graphs, models or files; 1 if one of them shows a fault.

    A program must do the same on the functional model and on the RTL; one that does not is made
    small and written as a file that `celosia run` takes.  A graph must mean the same as operators,
    as a program, as commands and on the simulator; one that does not is written as text.  An
    ONNX model must compute what another runtime does, as floats and nearly as integers.  A damaged
    file must end in a message or in a result; one that does not is written with the
    command that reads it.  The same command goes on where it was interrupted.
    """
    if sim is Simulator.FUNCTIONAL and what is What.PROGRAMS:
        raise InputError("--sim functional: it is what the RTL is compared with")
    if signals and what is not What.PROGRAMS:
        raise InputError(f"--signals {signals}: only programs have signals to show, not {what}")
    _check_kinds(what, tuple(kind or ()))
    if not Path(out).is_dir():
        raise InputError(f"--out: {out} is no directory")
    workers = executor or f"local:{jobs}"
    parse_executor(workers)
    if what is What.FILES and not workers.startswith("local:"):
        raise InputError(f"--executor {workers}: files are damaged on this machine: give local:N")
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
        what=what,
        kinds=tuple(kind or ()),
    )
    if what is What.MODELS:
        import_extra("celosia.lab.fuzz.models.check", "onnx")
    with progress_bar() as tell:
        if what is not What.FILES:
            open_device(sim.value, config, progress=tell).close()  # Built before workers ask.
        with lanes_of(workers) as lanes:
            found = run_fuzz(plan, Path(out) / ".celosia-fuzz.json", lanes, tell)
        first = seed << SEED_BITS
        seen = measure_signals(range(first, first + signals), preset, changes, tell)
    print_findings(table_console(), found, config, what)
    if signals:
        print_signals(table_console(), seen)
    if found.failures:
        raise typer.Exit(WRONG)


def _check_kinds(what: What, chosen: tuple[str, ...]) -> None:
    if chosen and what is not What.FILES:
        raise InputError(f"--kind {chosen[0]}: only files have kinds, not {what}")
    for name in chosen:
        if name not in KINDS:
            near = did_you_mean(name, KINDS)
            raise InputError(f"--kind {name}: there are {', '.join(KINDS)}{near}")
        if not kinds((name,)):
            raise InputError(f"--kind {name}: it needs the package {KINDS[name].needs()}")
