"""The page of a comparison."""

from collections.abc import Sequence
from typing import Any, Final

from celosia.sim.profile.resources import ARRAY, groups
from celosia.sim.reporting.compare import Comparison
from celosia.sim.reporting.page.figures import Figure, layout
from celosia.sim.reporting.page.html import paragraph, section, table, tile
from celosia.sim.reporting.page.page import assemble
from celosia.sim.reporting.page.palette import group_color, group_pattern

__all__ = ["compare_page"]

_MOST: Final = 40
"""Operators in the figure."""


def compare_page(runs: Sequence[tuple[str, str]], found: Comparison) -> str:
    """The page of a comparison of two `runs`: where the report of each is, and what was run."""
    names = [name for name, _ in runs]
    tiles = "".join((
        *(
            tile(f"{cycles:,}", f"cycles in {name}: {ran}")
            for cycles, (name, ran) in zip((found.first, found.second), runs, strict=True)
        ),
        tile(f"{found.percent:+.2f} %", "cycles more"),
    ))
    changes = [
        *((each.operator, each.group, each.first, each.second) for each in found.differences),
        ("all", "", found.first, found.second),
    ]
    rows = [
        (*row, f"{row[3] - row[2]:+,}", f"{found.share(row[3] - row[2]):+.2f} %") for row in changes
    ]
    settings = [(name, str(left), str(right)) for name, left, right in found.settings]
    return assemble(
        title=f"{names[1]} against {names[0]}",
        lead=f"{found.second - found.first:+,} cycles ({found.percent:+.2f} %). {found.differing}",
        sections=[
            (
                "summary",
                "Summary",
                section("summary", "Cycles", f'<div class="tiles">{tiles}</div>'),
            ),
            (
                "changes",
                "Changes",
                section(
                    "changes",
                    "Cycles more or fewer, by operator and cause",
                    '<div class="figure" id="figure-changes"></div>'
                    if found.differences
                    else paragraph("The array's cycles are the same in both."),
                    table(("operator", "cause", *names, "change", f"of {names[0]}"), rows),
                    long=True,
                ),
            ),
            (
                "setting",
                "Settings",
                section("setting", "What differs in the settings", table(("", *names), settings)),
            ),
        ],
        data={
            "figures": {"changes": _figure(found)} if found.differences else {},
            "timeline": None,
        },
    )


def _figure(found: Comparison) -> Figure:
    names = found.operators[:_MOST]
    data: list[dict[str, Any]] = []
    for group in groups(ARRAY):
        changes = {each.operator: each.change for each in found.differences if each.group == group}
        if not changes:
            continue
        data.append({
            "type": "bar",
            "orientation": "h",
            "name": group,
            "y": list(names),
            "x": [changes.get(name, 0) for name in names],
            "marker": {
                "color": group_color(ARRAY, group),
                "pattern": {"shape": group_pattern(ARRAY, group)},
            },
            "hovertemplate": f"%{{y}}: %{{x:+,}} cycles<extra>{group}</extra>",
        })
    return {
        "data": data,
        "layout": layout(
            height=150 + 24 * max(len(names), 2),
            barmode="relative",
            xaxis={"title": {"text": "cycles more"}},
            yaxis={"autorange": "reversed", "type": "category"},
        ),
    }
