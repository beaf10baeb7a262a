"""The figures of a report's page, as Plotly's JSON; that of time is in `timeline.py`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.profile.losses import clocked_operators, group_cycles
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES, groups
from celosia.sim.reporting.page.palette import (
    GRID,
    INK,
    QUEUE_COLORS,
    SCALE,
    group_color,
    group_pattern,
)
from celosia.sim.support.words import cut_middle

__all__ = ["Figure", "bank_figure", "layout", "roofline", "stall_bars", "traffic", "utilization"]

Figure = dict[str, Any]
Document = Mapping[str, Any]

_ROW: Final = 24
"""Height of a bar, with the space around it."""
_FRAME: Final = 130
_BUTTONS: Final = 28
_LABEL: Final = 28
"""Characters of the name of an operator beside its bar."""
_LOG: Final = {"type": "log", "dtick": "D2", "tickformat": ","}


def layout(**more: Any) -> dict[str, Any]:
    """What all figures have in common, and `more`."""
    axis = {"gridcolor": GRID, "zerolinecolor": GRID, "automargin": True, "linecolor": INK}
    common: dict[str, Any] = {
        "template": "none",
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK},
        "margin": {"l": 12, "r": 16, "t": 24, "b": 48},
        "legend": {
            "orientation": "h",
            "y": 1.0,
            "yanchor": "bottom",
            "x": 0,
            "traceorder": "normal",
        },
        "hoverlabel": {"bgcolor": "white", "font": {"color": INK}},
        "xaxis": dict(axis),
        "yaxis": dict(axis),
    }
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(common.get(key), dict):
            common[key] = {**common[key], **value}
        else:
            common[key] = value
    return common


def _by_operator(count: int, more: int = 0) -> dict[str, Any]:
    """A layout of horizontal bars, the first operator on top, and so much below them."""
    return {"height": _FRAME + _ROW * max(count, 2) + more, "bargap": 0.25}


def _names(names: Sequence[str]) -> dict[str, Any]:
    """An axis of operators, the first on top; their names are cut in the middle."""
    labels = [cut_middle(name, _LABEL) for name in names]
    ticks = {"tickmode": "array", "tickvals": list(names), "ticktext": labels}
    return {"autorange": "reversed", "type": "category", **ticks}


def utilization(document: Document) -> Figure:
    """MAC utilization by operator, and of the whole."""
    parts = [part for part in clocked_operators(document) if part["mac_utilization"] is not None]
    names = [part["workload"] for part in parts]
    values = [100 * part["mac_utilization"] for part in parts]
    if len(parts) > 1 and document["mac_utilization"] is not None:
        names, values = [*names, "whole run"], [*values, 100 * document["mac_utilization"]]
    colors = [group_color("array", "rows")] * len(parts) + [INK] * (len(names) - len(parts))
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": values,
        "text": [f"{value:.1f} %" for value in values],
        "textposition": "auto",
        "marker": {"color": colors},
        "hovertemplate": "%{y}: %{x:.2f} %<extra></extra>",
    }
    return {
        "data": [bar],
        "layout": layout(
            **_by_operator(len(names)),
            xaxis={"range": [0, 100], "title": {"text": "MAC utilization, %"}},
            yaxis=_names(names),
            showlegend=False,
        ),
    }


def stall_bars(document: Document, resource: str) -> Figure:
    """Stacked bars: the groups that own the cycles of a resource, by operator."""
    parts = clocked_operators(document)
    names = [part["workload"] for part in parts]
    sums = [group_cycles(resource, part["counters"]) for part in parts]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": group,
            "y": names,
            "x": [each[group] for each in sums],
            "marker": {
                "color": group_color(resource, group),
                "pattern": {"shape": group_pattern(resource, group)},
                "line": {"color": "white", "width": 0.5},
            },
            "hovertemplate": f"%{{y}}: %{{x:,}} cycles<br>{_meanings(resource, group)}"
            f"<extra>{group}</extra>",
        }
        for group in groups(resource)
        if any(each[group] for each in sums)
    ]
    buttons = _buttons([trace["name"] in RESOURCES[resource].work for trace in data])
    return {
        "data": data,
        "layout": layout(
            **_by_operator(len(names), _BUTTONS),
            barmode="stack",
            margin={"b": 76},  # The buttons are below the axis.
            yaxis=_names(names),
            updatemenus=[
                {
                    "type": "buttons",
                    "direction": "right",
                    "buttons": buttons,
                    "x": 1,
                    "xanchor": "right",
                    "y": 0,
                    "yanchor": "top",
                    "pad": {"t": 30},
                }
            ],
        ),
    }


def _buttons(work: list[bool]) -> list[dict[str, Any]]:
    """Cycles, their shares, or only what was lost; `work` has the traces that were not."""
    everything, waits = [True] * len(work), [not each for each in work]
    return [
        {
            "label": label,
            "method": "update",
            "args": [{"visible": visible}, {"barnorm": norm, "xaxis.ticksuffix": suffix}],
        }
        for label, visible, norm, suffix in (
            ("cycles", everything, "", ""),
            ("share", everything, "percent", " %"),
            ("lost", waits, "", ""),
        )
    ]


def _meanings(resource: str, group: str) -> str:
    docs = [owner.doc for owner in RESOURCES[resource].owners if owner.group == group]
    return "<br>".join(docs[:4])


def roofline(document: Document) -> Figure:
    """Products per cycle over products per byte, with what array and memory allow."""
    config, memory = document["config"], document["memory"]
    rate = min(memory["bytes_per_cycle"], config["bus_bits"] // 8)
    peak = config["dim"] ** 2
    points = [
        (part["workload"], *_place(part)) for part in clocked_operators(document) if part["macs"]
    ]
    points = [point for point in points if point[1]]
    xs = [x for _, x, _ in points] or [1.0]
    low, high = min(*xs, peak / rate) / 4, max(*xs, peak / rate) * 4
    roof = {
        "type": "scatter",
        "mode": "lines",
        "name": f"limit: {peak} products, {rate} bytes per cycle each way",
        "x": [low, peak / rate, high],
        "y": [low * rate, peak, peak],
        "line": {"color": INK, "width": 2},
        "hoverinfo": "skip",
    }
    dots = {
        "type": "scatter",
        "mode": "markers",
        "name": "operators",
        "x": [x for _, x, _ in points],
        "y": [y for *_, y in points],
        "text": [name for name, *_ in points],
        "marker": {"color": QUEUE_COLORS["load"], "size": 10, "line": {"color": INK, "width": 1}},
        "hovertemplate": "%{text}<br>%{x:.1f} products per byte"
        "<br>%{y:.1f} per cycle<extra></extra>",
    }
    return {
        "data": [roof, dots],
        "layout": layout(
            height=400,
            xaxis={**_LOG, "title": {"text": "products per byte, the busier way"}},
            yaxis={**_LOG, "title": {"text": "products per cycle"}},
        ),
    }


def _place(part: Document) -> tuple[float, float]:
    moved = max(part["dram_read_bytes"], part["dram_write_bytes"])
    return (part["macs"] / moved if moved else 0.0), part["macs"] / max(1, part["cycles"] or 1)


def traffic(document: Document) -> Figure:
    """Bytes that crossed the bus, beside the least that have to."""
    parts = clocked_operators(document)
    names = [part["workload"] for part in parts]
    kinds = (
        ("read", "dram_read_bytes", "read", QUEUE_COLORS["load"], 1.0),
        ("read, least", None, "read", QUEUE_COLORS["load"], 0.35),
        ("written", "dram_write_bytes", "written", QUEUE_COLORS["store"], 1.0),
        ("written, least", None, "written", QUEUE_COLORS["store"], 0.35),
    )
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "y": names,
            "x": [part[key] if key else (part["least_traffic"] or {}).get(way) for part in parts],
            "marker": {
                "color": color,
                "opacity": opacity,
                "pattern": {"shape": "" if key else "/"},
                "line": {"color": color, "width": 1},
            },
            "hovertemplate": f"%{{y}}: %{{x:,}} bytes<extra>{label}</extra>",
        }
        for label, key, way, color, opacity in kinds
    ]
    return {
        "data": data,
        "layout": layout(
            height=_FRAME + 2 * _ROW * max(len(names), 2),
            barmode="group",
            xaxis={"title": {"text": "bytes"}},
            yaxis=_names(names),
        ),
    }


def bank_figure(profile: Profile) -> Figure:
    """How busy each bank of the memories and each channel of the bus was, over time."""
    names = list(profile.activity)
    rows = [profile.activity[name] for name in names]
    return {
        "data": [
            {
                "type": "heatmap",
                "x": (np.arange(len(rows[0])) * profile.slot_cycles).tolist() if rows else [],
                "y": names,
                "z": [_percent(row, profile.slot_cycles) for row in rows],
                "zmin": 0,
                "zmax": 100,
                "colorscale": SCALE,
                "colorbar": {"title": {"text": "busy, %"}, "thickness": 12},
                "hovertemplate": "%{y}, from cycle %{x:,}: %{z:.0f} %<extra></extra>",
            }
        ],
        "layout": layout(
            height=_FRAME + _ROW * len(names),
            xaxis={"title": {"text": "cycle"}},
            yaxis={"autorange": "reversed", "type": "category"},
        ),
    }


def _percent(counts: NDArray[np.int64], cycles: int) -> list[float]:
    return np.round(100 * counts / cycles, 1).tolist()
