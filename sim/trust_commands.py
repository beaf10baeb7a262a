"""The commands that look for faults, and for tests that miss them."""

from typing import Annotated

import typer
from rich.table import Table

from celosia.sim.checkout import checkout_root
from celosia.sim.display import progress_bar, table_console
from celosia.sim.guard import WRONG, guarded
from celosia.sim.mutate.campaign import Campaign, load_faults, load_foreign
from celosia.sim.mutate.trial import Trial
from celosia.sim.problems import InputError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to `app`."""
    app.command()(guarded(mutate))


def mutate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Faults; default: all.")
    ] = None,
    *,
    patch: Annotated[
        str | None, typer.Option("--patch", metavar="FILE", help="A fault from anywhere.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Faults at a time.")] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Try again what is known from an earlier run.")
    ] = False,
) -> None:
    """Plant faults in copies of the checkout; 1 if the tests miss one."""
    root = checkout_root()
    if patch is not None:
        if names:
            raise InputError("--patch: name either a patch or faults of the checkout, not both")
        faults = [load_foreign(patch)]
    else:
        known = {fault.name: fault for fault in load_faults(root)}
        for name in names or ():
            if name not in known:
                raise InputError(f"there is no fault {name!r}; they are in tests/faults")
        faults = [known[name] for name in names or known]
    with progress_bar() as tell:
        trials = Campaign(root, fresh).run(faults, jobs, tell)
    table_console().print(_table(trials))
    survivors = [trial.name for trial in trials if not trial.caught_by]
    typer.echo(f"{len(trials) - len(survivors)} of {len(trials)} caught")
    if survivors:
        typer.echo(f"survived: {', '.join(survivors)}")
        raise typer.Exit(WRONG)


def _table(trials: list[Trial]) -> Table:
    table = Table("fault", "what it does", "caught by", title="Planted faults")
    table.add_column("seconds", justify="right")
    for trial in trials:
        caught = trial.caught_by or "[bold red]nobody[/]"
        table.add_row(trial.name, trial.title, caught, f"{trial.seconds:.1f}")
    return table
