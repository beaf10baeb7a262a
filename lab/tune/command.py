"""`celosia tune`: the plan of a product or a graph by search."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from celosia.lab.sweep.words import carried, options_of
from celosia.lab.tune.history import History, history_beside, samples_of
from celosia.lab.tune.search import LEARNED, STRATEGIES, SearchPlan, search, trials_until
from celosia.lab.tune.spaces.graph_space import plan_space
from celosia.lab.tune.trial import Trial
from celosia.lab.tune.tuning_log import DEFAULT, TuningLog, open_log, tuning_key
from celosia.lab.tune.work import work_of
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.command.outputs.table_cells import NOTHING
from celosia.sim.devices.devices import open_device
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["GraphNameOption", "tune"]

GraphNameOption = Annotated[
    str | None,
    typer.Option("--graph", metavar="NAME", help="Which graph, where there are several."),
]


class Oracle(StrEnum):
    """The judge that says how many cycles a plan takes."""

    MODEL = "model"
    RTL = "rtl"


class Strategy(StrEnum):
    """How plans are chosen."""

    EXHAUSTIVE = "exhaustive"
    RANDOM = "random"
    TPE = "tpe"
    LEARNED = "learned"


def tune(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD", help="A product or a graph, with options of celosia plan."
        ),
    ],
    *,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Plans of this strategy.")] = 100,
    oracle: Annotated[Oracle, typer.Option("--oracle", help="Who counts cycles.")] = Oracle.MODEL,
    strategy: Annotated[
        Strategy | None,
        typer.Option(
            "--strategy",
            help="How plans are chosen; default: learned, where --storage or a log beside it has "
            "runs on the RTL to learn from, else tpe.",
            show_default=False,
        ),
    ] = None,
    storage: Annotated[
        Path,
        typer.Option("--storage", metavar="FILE", help="The log: celosia compile --tuned FILE."),
    ],
    graph_name: GraphNameOption = None,
    executor: ExecutorOption = "local:1",
) -> None:
    """Search for a better plan of a product or a graph than the compiler's own: docs/tuning.md.

    The same command goes on where it was interrupted; other strategies may share a log.
    """
    parse_executor(executor)
    if strategy is Strategy.LEARNED and oracle is Oracle.MODEL:
        raise InputError(
            "--strategy learned: it learns how far the timeline is off on the RTL: --oracle rtl"
        )
    options, config = options_of([workload, *context.args])
    options = carried(options, {})
    graph = work_of(options, graph_name).graph
    try:
        space = plan_space(graph, config)
    except ValueError as error:
        raise InputError(str(error)) from None
    key = tuning_key(graph, config, options.target.timing)
    history = history_beside(storage) if oracle is Oracle.RTL else History()
    first = Trial(
        options=options,
        config=config,
        oracle=oracle.value,
        strategy=DEFAULT,
        number=0,
        graph=graph_name,
    )
    with (
        lanes_of(executor) as lanes,  # First: where nobody works, nothing is written.
        open_log(storage, key, oracle.value, space) as log,
        progress_bar() as tell,
    ):
        if oracle is Oracle.RTL:  # Built once, before workers ask.
            open_device("verilator", config, options.target.timing, progress=tell).close()
        learns = oracle is Oracle.RTL and (history.samples or samples_of(log.entries))
        plan = SearchPlan(
            space=space,
            first=first,
            strategy=(strategy or (Strategy.LEARNED if learns else Strategy.TPE)).value,
            trials=trials,
            seed=options.target.timing.seed,
            history=history.samples,
        )
        search(plan, log, lanes, tell)
        console = table_console()
        console.print(_table(log, space.size))
        if plan.strategy == LEARNED:
            console.print(_learned_from(history))


def _learned_from(history: History) -> str:
    """What other logs a learned model has begun with."""
    runs = counted(len(history.samples), "run")
    text = f"Learned from this log, and from {runs} of {counted(history.logs, 'log')} beside it"
    if history.left_out:
        text += f"; {counted(history.left_out, 'log')} of other sources left out"
    return f"{text}."


def _table(log: TuningLog, size: int) -> Table:
    """What each strategy has found, and how soon it was near the best of all."""
    if not (cycles := [each.cycles for each in log.entries if each.cycles is not None]):
        raise InputError(f"no plan is legal; the first: {log.entries[0].refused}")
    best = min(cycles)
    tried = sum(each.strategy != DEFAULT for each in log.entries)
    title = (
        f"the best of {tried:,} tried plans and the compiler's own takes {best:,} cycles; "
        f"there are {size:,} plans"
    )
    table = Table("strategy", title=title, title_justify="left")
    for head in ("trials", "illegal", "best", "more", "trials until within 1 %"):
        table.add_column(head, justify="right")
    for strategy in (DEFAULT, *STRATEGIES):
        if not (entries := log.of(strategy)):
            continue
        legal = [each.cycles for each in entries if each.cycles is not None]
        until = trials_until(entries, best)
        table.add_row(
            strategy,
            f"{len(entries):,}",
            f"{len(entries) - len(legal):,}",
            f"{min(legal):,}" if legal else NOTHING,
            f"{min(legal) / best - 1:+.2%}" if legal else NOTHING,
            NOTHING if until is None else f"{until:,}",
        )
    return table
