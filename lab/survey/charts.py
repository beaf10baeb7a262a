"""Charts of an item: one for each unit, so that an axis has numbers of one kind, and a name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celosia.sim.reporting.page.figures import Figure, layout
from celosia.sim.reporting.page.palette import GRID, QUEUE_COLORS

__all__ = ["charts"]

_THEIRS, _OURS = QUEUE_COLORS["load"], QUEUE_COLORS["execute"]
_ROW: Final = 44
_FRAME: Final = 130
_SHARE: Final = re.compile(r"(before|after): (.+) share")
"""A value that is a share of time, when and of what."""
_LEAST_LABEL: Final = 2
"""Percent of a share that has room for its number."""
_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "matmul": (QUEUE_COLORS["execute"], ""),
    "matmul and GELU": (QUEUE_COLORS["execute"], ""),
    "gelu": ("#56b4e9", ""),
    "softmax": (QUEUE_COLORS["transform"], ""),
    "layernorm": (QUEUE_COLORS["store"], ""),
    "residual": (QUEUE_COLORS["load"], ""),
    "quantize": ("#f0c442", ""),
    "waiting": (GRID, "."),
}
"""Color and pattern of each kind of work."""

Values = Sequence[Mapping[str, Any]]


def charts(item: Mapping[str, Any]) -> list[Figure]:
    """The charts of an item's document: shares of time, then what both have a number of."""
    shares = [each for each in item["values"] if _SHARE.fullmatch(each["name"])]
    both = [
        each
        for each in item["values"]
        if each["paper"] and each["ours"] is not None and each not in shares
    ]
    units = dict.fromkeys(each["unit"] for each in both)
    return [
        *([_shares(shares)] if shares else []),
        *(_bars([each for each in both if each["unit"] == unit], unit) for unit in units),
    ]


def _shares(values: Values) -> Figure:
    """Where time goes before and after, in the survey and here, one bar below the other."""
    found: dict[str, dict[str, float]] = {}
    rows: dict[str, None] = {}
    for value in values:
        match = _SHARE.fullmatch(value["name"])
        assert match is not None
        for who, key in (("survey", "paper"), ("ours", "ours")):
            row = f"{match[1]}, {who}"
            rows[row] = None
            found.setdefault(match[2], {})[row] = value[key] or 0
    return {
        "data": [_share(kind, shares, list(rows)) for kind, shares in found.items()],
        "layout": layout(
            height=_FRAME + _ROW * len(rows),
            barmode="stack",
            xaxis={"title": {"text": "percent of time"}, "range": [0, 101]},
            yaxis={"autorange": "reversed", "type": "category"},
        ),
    }


def _share(kind: str, shares: Mapping[str, float], rows: Sequence[str]) -> dict[str, Any]:
    color, pattern = _LOOKS.get(kind, (GRID, ""))
    values = [shares.get(row, 0) for row in rows]
    return {
        "type": "bar",
        "orientation": "h",
        "name": kind,
        "y": list(rows),
        "x": values,
        "text": [f"{value:.0f}" if value >= _LEAST_LABEL else "" for value in values],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "marker": {"color": color, "pattern": {"shape": pattern}},
        "hovertemplate": f"%{{y}}: %{{x:.3~g}} %<extra>{kind}</extra>",
    }


def _bars(pairs: Values, unit: str) -> Figure:
    """Bars of the survey's numbers and ours."""
    values = [abs(each[key]) for each in pairs for key in ("paper", "ours") if each[key]]
    kind = "log" if max(values) > 50 * min(values) and not _signs(pairs) else "linear"
    return {
        "data": list(_traces(pairs)),
        "layout": layout(
            height=_FRAME + _ROW * len(pairs),
            barmode="group",
            xaxis={"type": kind, "title": {"text": unit}},
            yaxis={"autorange": "reversed", "type": "category"},
        ),
    }


def _signs(pairs: Values) -> bool:
    """Whether some number is below 0, which an axis of logarithms does not have."""
    return any(each[key] < 0 for each in pairs for key in ("paper", "ours"))


def _traces(pairs: Values) -> Iterator[dict[str, Any]]:
    for label, key, color in (("survey", "paper", _THEIRS), ("ours", "ours", _OURS)):
        yield {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "y": [each["name"] for each in pairs],
            "x": [each[key] for each in pairs],
            "marker": {"color": color, "pattern": {"shape": "/" if key == "paper" else ""}},
            "hovertemplate": f"%{{y}}: %{{x:,.4~g}}<extra>{label}</extra>",
        }
