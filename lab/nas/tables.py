"""What `celosia nas` shows: whether the search is worth it, gains by search, and points."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from celosia.lab.nas.models.candidates import (
    LOSSES,
    METRICS,
    Candidate,
    advantage,
    best,
    gain,
    sizes,
)
from celosia.lab.nas.models.costs import SCENARIOS
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.models.search import Found, Point
from celosia.lab.nas.models.searches import EVOLUTION, RANDOM, SEARCHES
from celosia.lab.nas.models.statistics import Interval, kendall_interval
from celosia.sw.reference.language.shape import LlamaShape

__all__ = [
    "costs_table",
    "gains_table",
    "points_table",
    "ranking_line",
    "verdict",
]

_EVEN = 1.0005
"""A gain that rounds to 1.000 is none."""


def verdict(found: Found) -> Iterator[str]:
    """For each scenario whether evolution beats random search, and by how much."""
    for scenario, searches in found.searches.items():
        ours, theirs = searches[EVOLUTION], searches[RANDOM]
        times = advantage(ours, theirs, found.largest, scenario)
        budget = f"{len(ours)} models each, inherited weights"
        if times < _EVEN:
            yield (
                f"{scenario}: evolution does not beat random search: {times:.3f} x of its gains, "
                f"{budget}"
            )
        else:
            yield f"{scenario}: evolution gains {times:.3f} x of what random search does, {budget}"


def gains_table(found: Found) -> Table:
    """How many times as much the largest model takes as the best of each search."""
    table = Table(
        title="The largest model over the best, inherited perplexity", title_justify="left"
    )
    table.add_column("scenario, what, loss")
    for name in SEARCHES:
        table.add_column(name, justify="right")
    for scenario, searches in found.searches.items():
        for loss in LOSSES:
            for metric in METRICS:
                gains = (
                    gain(
                        best(searches[name], found.largest, scenario, metric, loss),
                        found.largest,
                        scenario,
                        metric,
                    )
                    for name in SEARCHES
                )
                table.add_row(f"{scenario}, {metric}, +{loss:.2%}", *(f"{g:.2f} x" for g in gains))
    return table


def points_table(points: Sequence[Point], measured: Mapping[LlamaShape, Measured]) -> Table:
    """The points: their sizes and perplexities."""
    table = Table(title="Points; heads/channels of each layer", title_justify="left")
    table.add_column("point")
    table.add_column("width: layers", overflow="fold")
    for name in ("weights", "inherited", "from\nscratch", "ratio,\n95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    first = points[0].candidate.perplexity
    for point in points:
        each, more = point.candidate, measured[point.candidate.model]
        ratio = more.ratio
        table.add_row(
            point.name,
            sizes(each.model),
            f"{each.model.parameters:,}",
            f"{each.perplexity:.2f}\n{each.perplexity / first - 1:+.2%}",
            "-" if more.scratch is None else f"{more.scratch:.2f}",
            "-" if ratio is None else f"{ratio.value:.4f}\n{ratio.low:.4f}-{ratio.high:.4f}",
        )
    return table


def costs_table(points: Sequence[Point], measured: Mapping[LlamaShape, Measured]) -> Table:
    """What the points take in each scenario, summed, as a whole program and on the RTL."""
    table = Table(title="What they take", title_justify="left")
    table.add_column("point")
    for name in ("cycles,\nsummed", "whole", "RTL", "uJ", "gain:\ncycles", "energy", "EDP"):
        table.add_column(name, justify="right", no_wrap=True)
    largest = points[0].candidate
    for scenario in SCENARIOS:
        for point in points:
            more, each = measured[point.candidate.model], point.candidate
            amount, rtl = each.amounts[scenario], more.rtl.get(scenario)
            table.add_row(
                f"{scenario} of\n{point.name}",
                f"{amount.cycles:,.0f}",
                _beside(amount.cycles, more.whole[scenario]),
                "-" if rtl is None else _beside(amount.cycles, rtl),
                f"{amount.pj / 1e6:,.1f}",
                *(f"{gain(each, largest, scenario, metric):.2f} x" for metric in METRICS),
            )
    return table


def _beside(summed: float, cycles: float) -> str:
    """Cycles, and how far the sum is from them."""
    return f"{cycles:,.0f}\n{summed / cycles - 1:+.1%}"


def ranking_line(candidates: Sequence[Candidate], scratch: Sequence[float]) -> str:
    """How alike scores, and weights, rank models to what they reach from scratch."""
    inherited = kendall_interval([each.perplexity for each in candidates], scratch)
    weights = kendall_interval([-each.model.parameters for each in candidates], scratch)
    return (
        f"Kendall's tau over {len(candidates)} models of like cycles, to perplexity from scratch: "
        f"inherited {_said(inherited)}, parameter count {_said(weights)}"
    )


def _said(found: Interval) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
