"""`celosia bench`: what is measured, and whether it reaches its bounds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.lab.bench.baseline import save_baseline as save_cycles
from celosia.lab.bench.benches import BENCHES, NONLINEAR, PASSES, Asked
from celosia.lab.bench.silicon import SILICON, Sweep
from celosia.lab.bench.suite import baseline_path, run_bench
from celosia.lab.compilers.passes import PassAsked
from celosia.sim.command.options.common import IssueChoice, IssueOption, JsonOption, SeqOption
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line
from celosia.sim.workloads.models.prepare import parse_sizes

__all__ = ["bench"]


def _names(*, on_request: bool) -> str:
    return ", ".join(name for name, each in BENCHES.items() if each.on_request == on_request)


def _only(what: str) -> Any:
    return typer.Option(min=1, help=f"Only so many {what} (repeatable); {SILICON} alone.")


def _passes(
    *,
    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            metavar="FILE.onnx",
            help=f"A file in the place of the corpus (repeatable); {PASSES} alone.",
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=N", help="A size of its inputs."),
    ] = None,
    rtl: Annotated[
        bool, typer.Option("--rtl", help=f"Simulate what {PASSES} predicts, too.")
    ] = False,
) -> PassAsked:
    """The models of `bench passes`."""
    return PassAsked(models=tuple(models or ()), sizes=parse_sizes(sizes or ()), rtl=rtl)


@grouped
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
    passes: Annotated[PassAsked, Group(_passes)],
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
    if passes != PassAsked() and name != PASSES:
        raise InputError(f"--model, --dim, --rtl: only bench {PASSES} has them")
    check_destination(json)
    with progress_bar() as tell:
        sweep = Sweep.of(lanes or (), scale_bits or ())
        asked = Asked(issue=issue.value, seq=seq, sweep=sweep, passes=passes)
        measured = run_bench([name] if name else (), tell, command_line(), asked)
    measured.show(table_console(json))
    write_document(json, measured)
    if save_baseline:
        save_cycles(baseline_path(), measured.cycles, measured.baseline)
    raise typer.Exit(0 if measured.right else WRONG)
