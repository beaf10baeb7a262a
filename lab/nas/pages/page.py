"""The page of a search: fronts of each search, and what is behind each of their points."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celosia.lab.nas.machines.tables import machine_sizes
from celosia.lab.nas.models.candidates import sizes
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.pages.point import point_html, point_words
from celosia.lab.nas.pages.races import Dot, Race
from celosia.sim.reporting.page.figures import Figure, layout
from celosia.sim.reporting.page.html import Link, paragraph, section, table
from celosia.sim.reporting.page.page import assemble
from celosia.sim.reporting.page.palette import INK, QUEUE_COLORS
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["nas_page"]

_COLORS: Final = tuple(QUEUE_COLORS.values())
_SYMBOLS: Final = ("circle", "square", "diamond", "cross")
_HEADS: Final = ("point", "perplexity", "cycles", "gain", "on the front of")
_AXES: Final = {"cycles": "cycles, summed", "EDP": "energy times cycles, uJ x cycles"}


def nas_page(
    races: Sequence[Race],
    measured: Mapping[LlamaShape, Measured],
    verdict: Sequence[str],
    folder: str,
    options: Sequence[str],
) -> str:
    """The page of `races`, whose points were `measured`; `verdict` is what was said of searches.

    Commands go on in `folder`, with the `options` of the search's space.  Raises
    `EnvironmentProblem` without Plotly.
    """
    summary = section("summary", "Which search is worth it", *map(paragraph, verdict))
    sections = [("summary", "Summary", summary)]
    drawn = {}
    for race in races:
        names = {dot: f"{race.name}-{number}" for number, dot in enumerate(race.shown(), 1)}
        drawn[race.name] = _figure(race, names)
        html = _race(race, names, measured, folder, options)
        sections.append((race.name, race.title.partition(":")[0], html))
    return assemble(
        title="Models and machines that a search has found",
        lead="Perplexity of validation text, with the supernet's weights, against what a model "
        "takes. Choose a point to see its model, its machine, whose its cycles are, and the "
        "command that runs it.",
        sections=sections,
        data={"figures": drawn, "timeline": None},
    )


def _race(
    race: Race,
    names: Mapping[Dot, str],
    measured: Mapping[LlamaShape, Measured],
    folder: str,
    options: Sequence[str],
) -> str:
    shown = race.shown()
    points = [
        point_html(race, dot, name, shown[dot], measured, point_words(race, dot, folder, options))
        for dot, name in names.items()
    ]
    memory, timing = machine_sizes(race.machine.config), race.machine.timing
    note = (
        f"The fixed machine: {memory}; memory: latency {timing.latency}, "
        f"{timing.bytes_per_cycle} bytes per cycle. Gains are over the largest model on it, in "
        f"{race.metric}."
    )
    rows = [_row(race, dot, name, shown[dot]) for dot, name in names.items()]
    return section(
        race.name,
        race.title,
        paragraph(note, "note"),
        f'<div class="figure" id="figure-{race.name}"></div>',
        '<p class="hint">Choose a point of a line, or one of the table.</p>',
        *points,
        "<h3>Points of the fronts</h3>",
        table(_HEADS, rows),
        long=True,
    )


def _row(race: Race, dot: Dot, name: str, found_by: Sequence[str]) -> tuple[object, ...]:
    return (
        Link(_words(race, dot), f"#{name}"),
        f"{dot.perplexity:.2f}",
        f"{dot.amount.cycles:,.0f}",
        f"{race.cost(race.base) / race.cost(dot):.2f}",
        ", ".join(found_by) or "-",
    )


def _words(race: Race, dot: Dot) -> str:
    """A model, and its machine where that moves."""
    if race.metric == "cycles":
        return sizes(dot.model)
    return f"{sizes(dot.model)} on {machine_sizes(dot.config)}"


def _figure(race: Race, names: Mapping[Dot, str]) -> Figure:
    looked = list(dict.fromkeys(dot for dots in race.looked.values() for dot in dots))
    others = [dot for dot in looked if dot not in names]
    data: list[Any] = [
        {
            **_trace(race, others, names),
            "name": "looked at",
            "mode": "markers",
            "marker": {"color": "#999999", "size": 5, "opacity": 0.5},
        }
    ]
    for number, (name, dots) in enumerate(race.fronts().items()):
        color = _COLORS[number % len(_COLORS)]
        data.append({
            **_trace(race, dots, names),
            "name": name,
            "mode": "lines+markers",
            "line": {"color": color, "width": 1.5, "shape": "hv"},
            "marker": {"color": color, "size": 10, "symbol": _SYMBOLS[number % len(_SYMBOLS)]},
        })
    data.append({
        **_trace(race, [race.base], names),
        "name": "the largest, as it was",
        "mode": "markers",
        "marker": {"color": INK, "size": 12, "symbol": "star"},
    })
    axis = {"type": "log", "tickformat": ",.3~s", "nticks": 6}
    return {
        "data": data,
        "layout": layout(
            height=460,
            hovermode="closest",
            xaxis={**axis, "title": {"text": _AXES[race.metric]}},
            yaxis={"title": {"text": "perplexity, inherited"}},
        ),
    }


def _trace(race: Race, dots: Sequence[Dot], names: Mapping[Dot, str]) -> Figure:
    """Points that lead to what is behind them."""
    return {
        "type": "scatter",
        "x": [race.cost(dot) / (1e6 if race.metric == "EDP" else 1) for dot in dots],
        "y": [dot.perplexity for dot in dots],
        "text": [_words(race, dot) for dot in dots],
        "customdata": [f"#{names[dot]}" if dot in names else "" for dot in dots],
        "hovertemplate": "%{text}<br>%{x:,.4s}, perplexity %{y:.2f}<extra></extra>",
    }
