"""`celosia bench`: what is measured, and whether it reaches its bounds."""

from typing import Annotated, Any

import typer

from celosia.lab.bench.baseline import save_baseline as save_cycles
from celosia.lab.bench.benches import BENCHES, NONLINEAR, Asked
from celosia.lab.bench.silicon import SILICON, Sweep
from celosia.lab.bench.suite import baseline_path, run_bench
from celosia.sim.command.options.common import IssueChoice, IssueOption, JsonOption, SeqOption
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line

__all__ = ["bench"]


def _names(*, on_request: bool) -> str:
    return ", ".join(name for name, each in BENCHES.items() if each.on_request == on_request)


def _only(what: str) -> Any:
    return typer.Option(min=1, help=f"Only so many {what} (repeatable); {SILICON} alone.")


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=f"{_names(on_request=False)}; default: all these; or one of "
            f"{_names(on_request=True)}.",
        ),
    ] = None,
    *,
    issue: IssueOption = IssueChoice.STREAM,
    seq: SeqOption = None,
    lanes: Annotated[list[int] | None, _only("lanes")] = None,
    scale_bits: Annotated[list[int] | None, _only("bits of scales")] = None,
    save_baseline: Annotated[
        bool,
        typer.Option("--save-baseline", help="Commit to these cycles: benchmarks/baseline.jsonl."),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Measure, and fail where a number is below its bound, or worse than the baseline."""
    if seq is not None and name != NONLINEAR:
        raise InputError(f"--seq {seq}: only bench {NONLINEAR} has it")
    for option, numbers in (("lanes", lanes), ("scale-bits", scale_bits)):
        if numbers and name != SILICON:
            raise InputError(f"--{option} {numbers[0]}: only bench {SILICON} has it")
    check_destination(json)
    with progress_bar() as tell:
        asked = Asked(issue=issue.value, seq=seq, sweep=Sweep.of(lanes or (), scale_bits or ()))
        measured = run_bench([name] if name else (), tell, command_line(), asked)
    measured.show(table_console(json))
    write_document(json, measured)
    if save_baseline:
        save_cycles(baseline_path(), measured.cycles, measured.baseline)
    raise typer.Exit(0 if measured.right else WRONG)
