"""The page of a sweep: the Pareto front of each workload, and a row for each point."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.lab.sweep.front import (
    CYCLES,
    TIME,
    Axis,
    costs,
    headings,
    is_measured,
    numbers,
    pareto_front,
)
from celosia.lab.sweep.lines import LINES
from celosia.lab.sweep.point import Line
from celosia.lab.sweep.sweep import RUNS
from celosia.sim.reporting.page.figures import Figure, layout
from celosia.sim.reporting.page.html import Link, paragraph, section, table, tile
from celosia.sim.reporting.page.page import assemble
from celosia.sim.reporting.page.palette import INK, QUEUE_COLORS

__all__ = ["sweep_page"]

_AXES = {CYCLES: "Cycles", TIME: "Time"}
_LOG = {"type": "log", "dtick": "D2", "tickformat": ","}


def sweep_page(lines: Sequence[Line], space: str, folder: Path, axis: Axis = CYCLES) -> str:
    """The page of the `lines` of the space in a file; `folder` has the reports of runs.

    Fronts are of `axis` and the bytes moved.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line["run"], line["sim"]), []).append(line)
    sections, drawn = [("summary", "Summary", _summary(lines, axis))], {}
    for number, ((run, sim), members) in enumerate(groups.items(), 1):
        name, legal = f"workload-{number}", [line for line in members if is_measured(line, axis)]
        front = pareto_front(legal, axis)
        drawn[name] = _figure(legal, front, axis)
        body = [
            f'<div class="figure" id="figure-{name}"></div>',
            "<h3>The Pareto front</h3>",
            table(
                (*headings(axis), "read", "written", "configuration", "point"),
                [_front_row(line, axis) for line in front],
            ),
        ]
        title = f"{run}, by {sim}"
        sections.append((name, run, section(name, title, *body, long=True)))
    sections.append(("points", "Points", _points(lines, folder, axis)))
    return assemble(
        title=f"Sweep of {space}",
        lead=f"{_AXES[axis]} against the bytes that cross the bus. Points on the line are the "
        "front: no other point is better in one and as good in the other.",
        sections=sections,
        data={"figures": drawn, "timeline": None},
    )


def _summary(lines: Sequence[Line], axis: Axis) -> str:
    measured = sum(map(is_measured, lines))
    unclocked = measured - sum(is_measured(line, axis) for line in lines)
    counts = (
        (len(lines), "points", ""),
        (measured, "measured", ""),
        *[(unclocked, "without a period", "")] * bool(unclocked),
        (sum("refused" in line for line in lines), "refused", ""),
        (sum("wrong" in line or "failed" in line for line in lines), "wrong or failed", "wrong"),
    )
    tiles = "".join(tile(f"{n:,}", label, kind if n else "") for n, label, kind in counts)
    note = f"{LINES} beside this page has a line of JSON for each point."
    return section("summary", "Summary", f'<div class="tiles">{tiles}</div>', paragraph(note))


def _words(choices: Mapping[str, Any]) -> str:
    """What a point has chosen, short."""
    return ", ".join(f"{name}={value}" for name, value in choices.items()) or "as it is"


def _front_row(line: Line, axis: Axis) -> tuple[object, ...]:
    parts = (line["read_bytes"], line["write_bytes"])
    link = Link(line["key"][:8], f"#{line['key']}")
    return (*numbers(line, axis), *parts, _words(line["space"]), link)


def _points(lines: Sequence[Line], folder: Path, axis: Axis) -> str:
    rows = [(*_what(line, axis), _words(line["space"]), *_where(line, folder)) for line in lines]
    heads = (*headings(axis), "configuration", "workload", "run")
    names = [line["key"] for line in lines]
    return section("points", "All points", table(heads, rows, names), long=True)


def _what(line: Line, axis: Axis) -> tuple[object, ...]:
    if is_measured(line, axis):
        return numbers(line, axis)
    if is_measured(line):
        return ("-", *numbers(line, CYCLES))
    kind = next(kind for kind in ("wrong", "refused", "failed") if kind in line)
    return (f"{kind}: {line[kind]}", *["-"] * (len(headings(axis)) - 1))


def _where(line: Line, folder: Path) -> tuple[str, str | Link]:
    report = f"{RUNS}/{line['key']}.json"
    link = Link("report", report) if (folder / report).exists() else "-"
    return f"{shlex.join(shlex.split(line['run']))}, by {line['sim']}", link


def _figure(lines: Sequence[Line], front: Sequence[Line], axis: Axis) -> Figure:
    dots = {
        **_trace(lines, axis),
        "mode": "markers",
        "name": "points",
        "marker": {"color": QUEUE_COLORS["load"], "size": 8, "opacity": 0.7},
    }
    best = {
        **_trace(front, axis),
        "mode": "lines+markers",
        "name": "Pareto front",
        "line": {"color": INK, "width": 1.5, "shape": "hv"},
        "marker": {"color": QUEUE_COLORS["execute"], "size": 11, "symbol": "diamond"},
    }
    return {
        "data": [dots, best],
        "layout": layout(
            height=420,
            hovermode="closest",
            xaxis={**_LOG, "title": {"text": axis}},
            yaxis={**_LOG, "title": {"text": "bytes moved"}},
        ),
    }


def _trace(lines: Sequence[Line], axis: Axis) -> Figure:
    """Points that lead to their rows."""
    pairs = [costs(line, axis) for line in lines]
    return {
        "type": "scatter",
        "x": [first for first, _ in pairs],
        "y": [moved for _, moved in pairs],
        "text": [_words(line["space"]) for line in lines],
        "customdata": [f"#{line['key']}" for line in lines],
        "hovertemplate": f"%{{text}}<br>%{{x:,}} {axis}, %{{y:,}} bytes<extra></extra>",
    }
