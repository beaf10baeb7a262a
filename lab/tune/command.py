"""`celosia tune`: the plan of a product or a graph, or of each graph of a model, by search."""

from collections import Counter
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from celosia.lab.sweep.words import carried, options_of
from celosia.lab.tune.history import History, history_beside, samples_of
from celosia.lab.tune.search import LEARNED, Part, SearchPlan, search
from celosia.lab.tune.spaces.graph_space import plan_space
from celosia.lab.tune.tables import graphs_table, strategies_table
from celosia.lab.tune.trial import Trial
from celosia.lab.tune.tuning_log import DEFAULT, model_key, open_log, tuning_key
from celosia.lab.tune.work import work_of, works_of
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.devices.devices import open_device
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sim.support.workers import lanes_of, parse_executor

__all__ = ["tune"]


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
            metavar="WORKLOAD", help="A product, a graph or a model, with options of celosia plan."
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
    graph_name: Annotated[
        str | None,
        typer.Option("--graph", metavar="NAME", help="This one of several graphs; default: all."),
    ] = None,
    executor: ExecutorOption = "local:1",
) -> None:
    """Search for a better plan of a product or a graph than the compiler's own: docs/tuning.md.

    The same command goes on where it was interrupted; other strategies may share a log.  The graphs
    of a model share the trials: the next one is for the graph that promises most.
    """
    parse_executor(executor)
    if strategy is Strategy.LEARNED and oracle is Oracle.MODEL:
        raise InputError(
            "--strategy learned: it learns how far the timeline is off on the RTL: --oracle rtl"
        )
    options, config = options_of([workload, *context.args])
    options = carried(options, {})
    first = Trial(options=options, config=config, oracle=oracle.value, strategy=DEFAULT, number=0)
    key, parts = _searched(first, graph_name)
    if trials < len(parts):
        raise InputError(
            f"--trials {trials}: {workload} has {len(parts)} graphs that are not alike, and each "
            "takes one at least"
        )
    history = history_beside(storage) if oracle is Oracle.RTL else History()
    with (
        lanes_of(executor) as lanes,  # First: where nobody works, nothing is written.
        open_log(storage, key, oracle.value, {each.key: each.space for each in parts}) as log,
        progress_bar() as tell,
    ):
        if oracle is Oracle.RTL:  # Built once, before workers ask.
            open_device("verilator", config, options.target.timing, progress=tell).close()
        learns = oracle is Oracle.RTL and (history.samples or samples_of(log.entries))
        plan = SearchPlan(
            parts=parts,
            strategy=(strategy or (Strategy.LEARNED if learns else Strategy.TPE)).value,
            trials=trials,
            seed=options.target.timing.seed,
            history=history.samples,
        )
        search(plan, log, lanes, tell)
        console = table_console()
        one = parts[0].key is None
        size = parts[0].space.size
        console.print(strategies_table(log, size) if one else graphs_table(log, parts))
        if plan.strategy == LEARNED:
            console.print(_learned_from(history))


def _searched(first: Trial, name: str | None) -> tuple[str, list[Part]]:
    """The key of a log, and what is searched: a graph alone, or each of a model that is unlike.

    Raises `InputError` for what the accelerator cannot do.
    """
    config, timing = first.config, first.options.target.timing
    works = works_of(first.options)
    alone = name is not None or len(works) == 1
    graphs = [each.graph for each in ([work_of(first.options, name)] if alone else works)]
    keys = [tuning_key(graph, config, timing) for graph in graphs]
    runs, parts = Counter(keys), dict[str, Part]()
    for key, graph in zip(keys, graphs, strict=True):
        if key in parts:
            continue
        try:
            space = plan_space(graph, config)
        except ValueError as error:
            raise InputError(str(error)) from None
        parts[key] = Part(
            space=space,
            first=replace(first, graph=name if alone else graph.name),
            key=None if alone else key,
            runs=runs[key],
        )
    return keys[0] if alone else model_key(runs), [*parts.values()]


def _learned_from(history: History) -> str:
    """What other logs a learned model has begun with."""
    runs = counted(len(history.samples), "run")
    text = f"Learned from this log, and from {runs} of {counted(history.logs, 'log')} beside it"
    if history.left_out:
        text += f"; {counted(history.left_out, 'log')} of other sources left out"
    return f"{text}."
