"""`celosia mappings`: very many plans of a product, and some of them on the RTL."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Record
from celosia.lab.mappings.measured import (
    MOST_CYCLES,
    MeasuredPlans,
    measure_picks,
    measured_lines,
)
from celosia.lab.mappings.sample import COLUMNS, Drawn, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.lab.mappings.statistics import Spread, spread_of, spread_picks
from celosia.lab.sweep.words import carried, options_of
from celosia.sim.command.options.common import ExecutorOption
from celosia.sim.run.origin import Commit, Versions, commit, versions, write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.support.workers import Lane, Lost, lanes_of, parse_executor, run_on
from celosia.sim.workloads.details import given

__all__ = ["mappings"]


@dataclass(frozen=True, kw_only=True)
class Sample(Record):
    """How good plans are that are drawn at random."""

    schema: Literal["celosia.mappings/1"] = "celosia.mappings/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    commit: Commit = field(default_factory=commit)
    """The commit of the checkout, with `-dirty` if it was changed; null outside of git."""
    options: str
    """The product."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    sampler: str
    """How plans were drawn."""
    count: int
    """How many were."""
    seed: int
    """The seed of the draw."""
    combinations: int
    """Plans that there are, legal or not."""
    seconds: float
    """How long it took."""
    spread: Mapping[str, Spread]
    """How cycles, bytes, energy and products of them lie above the least."""
    percentiles: Mapping[str, list[float]]
    """From 0 to 100, of the same quantities."""
    rtl: MeasuredPlans | None
    """Some of the plans on the RTL; null: none was run."""


def mappings(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A product, with options of celosia plan.",
        ),
    ],
    *,
    count: Annotated[int, typer.Option("--count", min=1, help="Plans to draw.")] = 1000,
    sampler: Annotated[
        Sampler,
        typer.Option("--sampler", help="Of all, of those that divide evenly, or every one."),
    ] = Sampler.UNIFORM,
    rtl: Annotated[
        int, typer.Option("--rtl", min=0, help="Plans, spread over all, that run on the RTL.")
    ] = 0,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write what was found.")
    ] = None,
    graph_name: Annotated[
        str | None,
        typer.Option("--graph", metavar="NAME", help="Which graph, where there are several."),
    ] = None,
    executor: ExecutorOption = "local:1",
) -> None:
    """Draw random legal plans of a product: their cycles, bytes and energy, and how these spread.

    Every plan compiles.  Its cycles are those of a model that knows pieces, rings and banks
    (docs/tuning.md says how wrong it is); --rtl compares.
    """
    parse_executor(executor)
    options, config = options_of([workload, *context.args])
    request = Request(
        options=carried(options, {}),
        config=config,
        graph=graph_name,
        sampler=sampler,
        count=count,
        seed=options.target.timing.seed,
    )
    size = request.space.size
    if sampler is Sampler.EVERY:
        request = replace(request, count=min(count, size))
    check_destination(json)
    with progress_bar() as tell, lanes_of(executor) as lanes:
        begun = time.monotonic()
        drawn = _draw(request, lanes, tell)
        seconds = time.monotonic() - begun
        picks = _picks(drawn, rtl)
        measured = measure_picks(request, drawn, picks, tell, lanes) if picks else None
    console = table_console()
    console.print(
        _table(
            drawn, f"{counted(len(drawn.chosen), 'plan')}; {size:,} combinations; {seconds:.1f} s"
        )
    )
    for line in measured_lines(measured) if measured else ():
        console.print(line)
    if json is not None:
        write_document(str(json), _sample(request, drawn, seconds, measured))


def _draw(request: Request, lanes: Sequence[Lane], tell: Progress) -> Drawn:
    found: dict[int, Drawn] = {}
    done = 0
    for batch, result in run_on(lanes, draw_batch, request.batches()):
        if isinstance(result, Lost):
            raise InputError(f"{result.attempts} workers have died with the same plans")
        found[batch.first] = result
        done += batch.count
        tell(f"{done:,} of {counted(request.count, 'plan')}", done / request.count)
    return joined(found)


def _picks(drawn: Drawn, count: int) -> Sequence[int]:
    """Plans that stand for all, by cycles x bytes."""
    product = drawn.values[:, COLUMNS.index("cycles x bytes")]
    return spread_picks(product, count, drawn.values[:, 0] <= MOST_CYCLES) if count else ()


def _table(drawn: Drawn, title: str) -> Table:
    table = Table("", title=title, title_justify="left")
    for head in ("least", "10th percentile", "median", "most", "below 3 x least"):
        table.add_column(head, justify="right")
    for name, values in zip(COLUMNS, drawn.values.T, strict=True):
        spread = spread_of(values)
        table.add_row(
            name,
            f"{spread.least:,.4g}" if spread.least >= 1e9 else f"{spread.least:,.0f}",
            f"{spread.tenth:.3f} x",
            f"{spread.median:.3f} x",
            f"{spread.most:.3f} x",
            f"{spread.below_three:.2f} %",
        )
    return table


def _sample(
    request: Request, drawn: Drawn, seconds: float, measured: MeasuredPlans | None
) -> Sample:
    quantiles = np.percentile(drawn.values, range(101), axis=0)
    return Sample(
        options=str(given(request.options.details).get("shape", request.space.graph.name)),
        config=request.config,
        sampler=request.sampler.value,
        count=request.count,
        seed=request.seed,
        combinations=request.space.size,
        seconds=seconds,
        spread=dict(zip(COLUMNS, map(spread_of, drawn.values.T), strict=True)),
        percentiles=dict(zip(COLUMNS, quantiles.T.tolist(), strict=True)),
        rtl=measured,
    )
