"""`celosia board`: runs on an accelerator at a serial port."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.command.hardware.board_build import BAUD, BaudOption
from celosia.sim.command.options.common import (
    BudgetOption,
    JsonOption,
    PresetOption,
    SetOption,
)
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.report import AllOption, CheckChoice, CheckOption, OwnersOption
from celosia.sim.command.options.run_options import Asked, Outputs, asked_of_run, compiling
from celosia.sim.command.run_command import announce, show
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told, Watching
from celosia.sim.run.origin import as_json
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import progress_bar
from celosia.sim.support.extras import import_extra
from celosia.sim.support.guard import guarded
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import command_line
from celosia.sw.driver.buffers import BufferRuleError
from celosia.sw.driver.device import Device

__all__ = ["app"]

app = typer.Typer(
    help="Run on an accelerator on a board, at a serial port: docs/fpga.md.", no_args_is_help=True
)


@dataclass(frozen=True)
class _Port:
    """Where the board is."""

    path: str
    baud: int


@app.callback(invoke_without_command=True)
@guarded
def _board(
    context: typer.Context,
    port: Annotated[
        str | None, typer.Argument(metavar="PORT", help="The serial port: /dev/ttyUSB0.")
    ] = None,
    *,
    baud: BaudOption = BAUD,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Simulate a board; print its port, and serve until interrupted."
        ),
    ] = False,
    preset: PresetOption = None,
    overrides: SetOption = None,
) -> None:
    if simulate:
        if port is not None:
            raise InputError(f"--simulate: makes a port, and takes none: {port}")
        _simulate(preset or "tiny", overrides or [])
        return
    for option, given in (("--preset", preset), ("--set", overrides and overrides[0])):
        if given:
            raise InputError(
                f"{option} {given}: stands behind run; in front of it, it is --simulate's alone"
            )
    if port is None:
        raise InputError("board: which PORT?  /dev/ttyUSB0, or one that --simulate prints")
    if context.invoked_subcommand is None:
        raise InputError(f"board {port}: what shall it do?  run WORKLOAD")
    context.obj = _Port(port, baud)


def _simulate(preset: str, overrides: list[str]) -> None:
    resolve = import_module("celosia.isa.presets").resolve_config
    simulated = import_module("celosia.sim.board.simulated")
    config = resolve(preset, overrides)
    with progress_bar() as tell:
        program = simulated.board_program(config, progress=tell)
    with simulated.SimulatedBoard(program) as board:
        typer.echo(board.path)
        board.wait()


def board_target(
    *, preset: PresetOption = "tiny", overrides: SetOption = None, cycle_budget: BudgetOption = 0
) -> Target:
    """A board that has been built for this configuration, and its memory."""
    plain = Target(preset=preset or "tiny", overrides=tuple(overrides or ()))
    memory = import_module("celosia.hw.host.board.block_memory").BlockMemory
    timing = MemoryTiming(latency=memory.LATENCY, bytes_per_cycle=plain.config.bus_bytes)
    return Target(
        simulator="board",
        preset=plain.preset,
        overrides=plain.overrides,
        timing=timing,
        issue="ring",
        cycle_budget=cycle_budget,
    )


def board_outputs(
    *, json: JsonOption = None, owners: OwnersOption = False, every: AllOption = False
) -> Outputs:
    """What is written and shown."""
    return Outputs(json, None, None, profile=False, owners=owners, layers=every)


@app.command("run")
@guarded
@grouped
def board_run(
    *,
    ctx: typer.Context,
    asked: Annotated[Asked, Group(asked_of_run)],
    compiling: Annotated[Compiling, Group(compiling)],
    target: Annotated[Target, Group(board_target)],
    outputs: Annotated[Outputs, Group(board_outputs)],
    check: CheckOption = CheckChoice.ALL,
) -> None:
    """Run a workload on the board, and compare every element that it leaves in memory."""
    port: _Port = ctx.obj
    options = RunOptions(
        workload=asked.workload,
        details=asked.details(),
        target=target,
        compiling=compiling,
        watching=Watching(check=check.value),
        told=Told(command_line=command_line(), announce=announce),
    )
    check_destination(outputs.json)
    with progress_bar() as tell:
        tell("opening the port", None)
        opener = _opener(port)
        try:
            outcome = run_workload(options, tell, opener)
        except BufferRuleError as error:
            raise InputError(f"the board's memory is too small: {error}") from None
    show(outcome, outputs)
    if outputs.json:
        write_file(outputs.json, as_json(outcome.document()))
    raise typer.Exit(outcome.report.exit_code)


def _opener(port: _Port) -> Callable[..., Device]:
    """Opens the board, whatever memory is asked for: who places an array there finds out."""
    link = import_extra("celosia.sim.board.link", "board")
    device = import_module("celosia.sim.board.device")

    def opened(
        _name: str,
        config: AcceleratorConfig,
        _timing: MemoryTiming,
        _memory_bytes: int,
        *,
        progress: Progress,
    ) -> Any:
        return device.BoardDevice(config, link.SerialLink(port.path, port.baud), progress)

    return opened
