"""`celosia bench`: what is measured, and whether it reaches its bounds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.lab.bench.baseline import save_baseline as save_cycles
from celosia.lab.bench.benches import BENCHES, COMPILERS, NONLINEAR, PASSES, Asked
from celosia.lab.bench.silicon import SILICON, Sweep
from celosia.lab.bench.suite import baseline_path, run_bench
from celosia.lab.compilers.workload import ModelFiles
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


def _models(
    *,
    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            metavar="FILE.onnx",
            help="A file in the place of what the benchmark has of its own (repeatable); "
            f"{PASSES} and {COMPILERS} alone.",
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option("--dim", metavar="NAME=N", help="A size of its inputs."),
    ] = None,
    rtl: Annotated[
        bool, typer.Option("--rtl", help=f"Simulate what {PASSES} predicts, too.")
    ] = False,
) -> ModelFiles:
    """Models of a user's own."""
    return ModelFiles(paths=tuple(models or ()), sizes=parse_sizes(sizes or ()), rtl=rtl)


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
    models: Annotated[ModelFiles, Group(_models)],
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
    if models.rtl and name != PASSES:
        raise InputError(f"--rtl: only bench {PASSES} has it")
    if models != ModelFiles() and name not in (PASSES, COMPILERS):
        raise InputError(f"--model, --dim: only bench {PASSES} and bench {COMPILERS} have them")
    if models.sizes and not models.paths:
        raise InputError("--dim: it is the size of an input of --model")
    check_destination(json)
    with progress_bar() as tell:
        sweep = Sweep.of(lanes or (), scale_bits or ())
        asked = Asked(issue=issue.value, seq=seq, sweep=sweep, models=models)
        measured = run_bench([name] if name else (), tell, command_line(), asked)
    measured.show(table_console(json))
    write_document(json, measured)
    if save_baseline:
        save_cycles(baseline_path(), measured.cycles, measured.baseline)
    raise typer.Exit(0 if measured.right else WRONG)
