"""The command `celosia mutate`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from celosia.lab.mutate.campaign import Campaign, trial_lanes
from celosia.lab.mutate.equivalents import load_equivalents
from celosia.lab.mutate.fault import Fault
from celosia.lab.mutate.generate import draw, sources_of
from celosia.lab.mutate.patch import load_foreign
from celosia.lab.mutate.planted import load_faults
from celosia.lab.mutate.sample import MutationSample, outcomes_table, survivors, try_sample
from celosia.lab.mutate.trial import GENERATED, Ended, Trial
from celosia.sim.command.options.common import ExecutorOption, JsonOption
from celosia.sim.run.origin import write_document
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import parse_executor

__all__ = ["mutate"]


@dataclass(frozen=True)
class _Sample:
    """A sample of changes to draw."""

    package: str
    count: int
    seed: int


def mutate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Faults; default: all.")
    ] = None,
    *,
    patch: Annotated[
        str | None, typer.Option("--patch", metavar="FILE", help="A fault from anywhere.")
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            "--package",
            metavar="PATH",
            help="Only faults there: sw, sw/passes, isa/execution/machine.py.",
        ),
    ] = None,
    generate: Annotated[
        int | None,
        typer.Option(
            "--generate", metavar="N", min=1, help="Try N random single changes of --package."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of --generate.")] = 0,
    json: JsonOption = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="The same as local:N.")] = 1,
    executor: ExecutorOption = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Try again what is known from an earlier run.")
    ] = False,
) -> None:
    """Plant faults in copies of the checkout; 1 if the tests miss one.

    With --generate, changes that nobody planned are tried with the tests that mirror their files,
    and --json writes what became of each.  The same command goes on where it was interrupted.
    """
    root, workers = checkout_root(), executor or f"local:{jobs}"
    parse_executor(workers)
    if generate is not None:
        if names or patch is not None or package is None:
            raise InputError("--generate: takes --package, and neither faults nor --patch")
        check_destination(json)
        _try_generated(_Sample(package, generate, seed), root, (fresh, workers), json)
        return
    if json is not None:
        raise InputError("--json: only --generate writes it")
    faults = _chosen(names or (), patch, package, root)
    with progress_bar() as tell, trial_lanes(workers) as lanes:
        trials = Campaign(root, fresh).run(faults, lanes, tell)
    table_console().print(_table(trials))
    missed = [trial.name for trial in trials if not trial.caught_by]
    typer.echo(f"{len(trials) - len(missed)} of {len(trials)} caught")
    if missed:
        typer.echo(f"survived: {', '.join(missed)}")
        raise typer.Exit(WRONG)


def _chosen(
    names: Sequence[str], patch: str | None, package: str | None, root: Path
) -> Sequence[Fault]:
    """What is to be planted.  Raises `InputError`."""
    if patch is not None:
        if names or package is not None:
            raise InputError("--patch: name either a patch or faults of the checkout, not both")
        foreign = load_foreign(patch)
        foreign.changed(root)  # Says at once if it does not apply.
        return [foreign]
    known = {fault.name: fault for fault in load_faults(root)}
    for name in names:
        if name not in known:
            raise InputError(f"there is no fault {name!r}; they are in tests/faults")
    faults = [known[name] for name in names or known]
    if package is not None:
        files = {*sources_of(package, root)}
        faults = [fault for fault in faults if files.intersection(fault.paths)]
        if not faults:
            raise InputError(f"--package {package}: none of these faults is there")
    return faults


def _try_generated(sample: _Sample, root: Path, how: tuple[bool, str], json: str | None) -> None:
    """Draw `sample`, try it, and tell."""
    fresh, workers = how
    changes = draw(sample.package, sample.count, sample.seed, root)
    equivalents = load_equivalents(root)
    campaign = Campaign(root, fresh, GENERATED)
    with progress_bar() as tell, trial_lanes(workers) as lanes:
        outcomes = try_sample(changes, equivalents, campaign, lanes, tell)
    write_document(json, MutationSample(sample.package, sample.seed, outcomes))
    missed = survivors(outcomes)
    listed = sum(each.result == "equivalent" for each in outcomes)
    console = table_console(json)
    if missed or listed:
        console.print(outcomes_table(outcomes))
    caught = len(outcomes) - len(missed) - listed
    console.print(f"{caught} of {len(outcomes)} caught, {listed} equivalent, {len(missed)} missed")
    if missed:
        raise typer.Exit(WRONG)


def _table(trials: Sequence[Trial]) -> Table:
    table = Table("fault", "what it does", "caught by", title="Planted faults")
    table.add_column("seconds", justify="right")
    for trial in trials:
        late = f" ({trial.ended})" if trial.ended == Ended.KILLED else ""
        caught = trial.caught_by or f"[bold red]nobody[/]{late}"
        table.add_row(trial.name, trial.title, caught, f"{trial.seconds:.1f}")
    return table
