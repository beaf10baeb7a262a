"""`celosia nas`: a search for a model that suits the machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.lab.nas.machines.moving import Moving, moving
from celosia.lab.nas.machines.tables import together_lines
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.models.search import LINES, Asked, Found, Point, ranked, reported, search
from celosia.lab.nas.models.space import DEFAULT, TINY, Space, read_space
from celosia.lab.nas.models.supernet_file import SupernetRecipe
from celosia.lab.nas.models.texts import read_texts
from celosia.lab.nas.pages.model_run import parse_model, run_model
from celosia.lab.nas.pages.races import races_of
from celosia.lab.nas.tables import (
    costs_table,
    gains_table,
    points_table,
    verdict,
)
from celosia.lab.nas.work import Work
from celosia.lab.prune.command import machine_options
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import open_lines
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.text.corpora import Corpus
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.language import language_errors
from celosia.sim.command.outputs.folders import make_folder
from celosia.sim.export.silicon.energy.table import NAMED, load_table
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import check_extra
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.workers import lanes_of, parse_executor
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["nas"]

_RATE: Final = 0.02
_ADAM_RATE: Final = 0.005
"""The learning rates, those of `docs`: each space is small beside it."""


@dataclass(frozen=True, kw_only=True)
class _Size:
    """What is asked for where nothing else is said."""

    space: Space
    corpus: Corpus
    steps: int
    scratch_steps: int
    batch: int
    budget: int
    tokens: int


_WHOLE: Final = _Size(
    space=DEFAULT,
    corpus="manual",
    steps=1000,
    scratch_steps=1000,
    batch=32,
    budget=400,
    tokens=8192,
)
_SMALL: Final = _Size(
    space=TINY,
    corpus="docstrings",
    steps=100,
    scratch_steps=100,
    batch=4,
    budget=40,
    tokens=2048,
)


def _asked(
    *,
    small: Annotated[
        bool, typer.Option("--small", help="A small space and a short training: ten minutes.")
    ] = False,
    space: Annotated[
        str | None,
        typer.Option("--space", metavar="SPACE.toml", help="Values of each size: docs/nas.md."),
    ] = None,
    corpus: Annotated[
        Corpus | None,
        typer.Option("--corpus", help="What is learned; manual, or docstrings with --small."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=1, metavar="N", help="Models that each search may score."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Steps of the supernet's training.")
    ] = None,
    scratch_steps: Annotated[
        int | None,
        typer.Option("--scratch-steps", min=1, help="Steps of each training of --validate."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of trainings and searches.")] = 0,
) -> Asked:
    """What is searched."""
    size = _SMALL if small else _WHOLE
    chosen = size.space if space is None else read_space(space)
    with language_errors():
        return Asked(
            space=chosen,
            corpus=corpus or size.corpus,
            budget=budget or size.budget,
            tokens=size.tokens,
            recipe=SupernetRecipe(
                shape=chosen.largest,
                steps=steps or size.steps,
                batch=size.batch,
                seed=seed,
                space=str(chosen),
                rate=_RATE,
                adam_rate=_ADAM_RATE,
            ),
            scratch=Recipe(
                steps=scratch_steps or size.scratch_steps,
                batch=size.batch,
                rate=_RATE,
                adam_rate=_ADAM_RATE,
            ),
            seed=seed,
            options=("--space", space) if space else ("--small",) * small,
        )


@grouped
def nas(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the search: it goes on.")
    ],
    asked: Annotated[Asked, Group(_asked)],
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME|TABLE.toml",
            help=f"Energies of events, as `celosia energy` takes them: {', '.join(NAMED)}.",
        ),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate", help="Train points from scratch, and 16 models for ranks: hours."
        ),
    ] = False,
    rtl: Annotated[bool, typer.Option("--rtl", help="Also cycles of points on the RTL.")] = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="OUT.html", help="Also a page of the fronts."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="SIZES",
            help="Search nothing: run this model on the RTL, as the page has it, '96: 4/192 2/64'.",
        ),
    ] = None,
    executor: ExecutorOption = "local:1",
    moves: Annotated[Moving, Group(moving)],
    machine: Annotated[Machine, Group(machine_options)],
) -> None:
    """Search for decoders that take the fewest cycles and the least energy: docs/nas.md.

    A supernet is trained once, and four searches score its parts.  The same command goes on where
    it was interrupted.
    """
    parse_executor(executor)
    energies = load_table(table)
    machines = moves.read(machine.config)
    if run is not None:
        _run(parse_model(run, asked.space), machine, out, executor)
        return
    if page is not None:
        check_extra("plotly", "report")
        check_destination(page)
    for package in ("jax", "optax"):
        check_extra(package, "training")
    if not out.is_dir():
        check_destination(out)
    with lanes_of(executor) as lanes, language_errors(), progress_bar() as tell:
        tell("reading documentation", None)
        texts = read_texts(asked.corpus)
        with open_lines(make_folder(out), LINES, "search") as lines:
            found = search(
                asked, texts, machine, energies, out, lines=lines, lanes=lanes, tell=tell
            )
            points = reported(found)
            work = Work(asked, texts, machine, out, lines, lanes, tell)
            scratch = work.from_scratch(points, ranked(asked, found)) if validate else {}
            measured = work.measured(points, scratch, rtl=rtl)
            ranks = work.ranks(found, scratch) if validate else None
            compared = machines and machines.compared(asked, found, machine, energies, lines, tell)
    _show(found, points, measured, ranks)
    if machines and compared:
        machines.show(compared)
    if page is not None:
        # Loaded when it is asked for: the library behind it takes a while.
        make = import_module("celosia.lab.nas.pages.page").nas_page
        races = races_of(found, compared or (), machine)
        said = [*verdict(found), *(together_lines(compared) if compared else ())]
        write_file(page, make(races, measured, said, str(out), asked.options))


def _run(model: LlamaShape, machine: Machine, out: Path, executor: str) -> None:
    if not out.is_dir():
        check_destination(out)
    with (
        lanes_of(executor) as lanes,
        progress_bar() as tell,
        open_lines(make_folder(out), LINES, "search") as lines,
    ):
        table = run_model(model, machine, lines, lanes, tell)
    table_console().print(table)


def _show(
    found: Found,
    points: Sequence[Point],
    measured: Mapping[LlamaShape, Measured],
    ranks: str | None,
) -> None:
    for line in verdict(found):
        typer.echo(line)
    console = table_console()
    console.print(gains_table(found))
    console.print(points_table(points, measured), costs_table(points, measured))
    if ranks is not None:
        typer.echo(ranks)
