"""The figure of time: what units, queues and owners did when, for `assets/page.js` to draw."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import identify
from celosia.sim.profile.flows import Arrow, arrows
from celosia.sim.profile.instructions import UNITS, Unit, unit_operations
from celosia.sim.profile.losses import IDLE
from celosia.sim.profile.packing import pack
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting.page.figures import layout
from celosia.sim.reporting.page.palette import QUEUE_COLORS, group_color

__all__ = ["timeline"]

_DASHES: Final = {"execute": "solid", "load": "dash", "store": "dot", "transform": "dashdot"}
_ROW: Final = 40


def timeline(profile: Profile, config: AcceleratorConfig) -> dict[str, Any]:
    """What the page needs to draw the figure, and again when it is zoomed."""
    operations = unit_operations(profile)
    names = [_mnemonic(command) for command in profile.commands]
    mnemonics = sorted(set(names))
    number = {name: index for index, name in enumerate(mnemonics)}
    shown = [name for name in UNITS if name in profile.queues]
    units = [_unit(profile, name, operations[name]) for name in shown]
    resources = [_resource(profile, name) for name in profile.resources if _acts(profile, name)]
    rows = [*(each["title"] for each in resources), *(each["title"] for each in units)]
    return {
        "cycles": profile.cycles,
        "operators": list(profile.operators),
        "operator": pack(profile.operator),
        "mnemonics": mnemonics,
        "mnemonic": pack(np.array([number[name] for name in names], np.int64)),
        "units": units,
        "loads": UNITS["load"],
        "arrows": _arrows(arrows(profile, config, operations), shown),
        "resources": resources,
        "legend": [_legend_entry(name) for name in _groups(profile)],
        "layout": _layout(rows),
    }


def _mnemonic(command: Any) -> str:
    instruction = identify(command)
    return instruction.name if instruction else "unknown"


def _arrows(found: list[Arrow], shown: list[str]) -> dict[str, str]:
    """Columns of the arrows from loads to what uses them first, in the order of the users."""
    found = sorted(found, key=lambda arrow: arrow.begin)
    columns = {
        "end": [arrow.end for arrow in found],
        "begin": [arrow.begin for arrow in found],
        "unit": [shown.index(arrow.queue) for arrow in found],
    }
    return {name: pack(np.array(column, np.int64)) for name, column in columns.items()}


def _unit(profile: Profile, name: str, unit: Unit) -> dict[str, Any]:
    queue = profile.queues[name]
    started = np.where(queue.started < 0, profile.cycles, queue.started)
    return {
        "title": UNITS[name],
        "color": QUEUE_COLORS[name],
        "dash": _DASHES[name],
        "packed": {
            "command": pack(unit.command),
            "begin": pack(unit.begin),
            "end": pack(unit.end),
            "entered": pack(queue.entered),
            "started": pack(started),
        },
    }


def _resource(profile: Profile, name: str) -> dict[str, Any]:
    spans, table = profile.owners[name], RESOURCES[name]
    return {
        "title": f"cycles of {name}",
        "names": [owner.name for owner in table.owners],
        "colors": [group_color(name, owner.group) for owner in table.owners],
        "packed": {"start": pack(spans.start), "owner": pack(spans.owner)},
    }


def _acts(profile: Profile, resource: str) -> bool:
    """Whether there was anything to do for it at all."""
    owners = RESOURCES[resource].owners
    present = set(profile.owners[resource].owner.tolist()) - {-1}
    return any(owners[number].group != IDLE for number in present)


def _groups(profile: Profile) -> Mapping[tuple[str, str], None]:
    """The groups of owners that occur, by resource."""
    found: dict[tuple[str, str], None] = {}
    for resource in filter(partial(_acts, profile), profile.resources):
        owners = RESOURCES[resource].owners
        for number in sorted(set(profile.owners[resource].owner.tolist()) - {-1}):
            found[resource, owners[number].group] = None
    return found


def _legend_entry(name: tuple[str, str]) -> dict[str, Any]:
    resource, group = name
    return {
        "type": "scatter",
        "mode": "markers",
        "name": group if resource == "array" else f"{resource}: {group}",
        "x": [None],
        "y": [None],
        "marker": {"color": group_color(resource, group), "symbol": "square", "size": 11},
    }


def _layout(rows: list[str]) -> dict[str, Any]:
    return layout(
        height=230 + 130 + _ROW * len(rows),
        barmode="overlay",
        dragmode="zoom",
        xaxis={"title": {"text": "cycle"}, "anchor": "y2", "rangeslider": {"visible": False}},
        yaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": rows[::-1],
            "range": [-0.5, len(rows) - 0.5],
            "domain": [0.34, 1],
            "fixedrange": True,
            "showgrid": False,
        },
        yaxis2={
            "domain": [0, 0.26],
            "rangemode": "tozero",
            "title": {"text": "waiting"},
            "fixedrange": True,
            "gridcolor": "#d9d9d9",
        },
        legend={"y": -0.14, "yanchor": "top"},
        hovermode="closest",
    )
