"""The time of a run as a picture: whose the cycles of each unit were, for notebooks."""

from itertools import groupby, pairwise
from typing import Final

from celosia.isa.documents.svg import CHARACTER, LINE, Drawing
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting.page.palette import group_color

__all__ = ["timeline_drawing"]

_MARGIN: Final = 8
_WIDTH: Final = 800
"""Width of the whole run, in pixels."""


def timeline_drawing(profile: Profile) -> Drawing:
    """A line for each unit, with a box for each span of cycles of a group of owners.

    Colors are those of a report's page; a pointer over a box shows the group and its cycles.
    """
    drawing = Drawing()
    left = 2 * _MARGIN + max(map(len, profile.resources)) * CHARACTER
    scale = _WIDTH / profile.cycles
    seen: dict[tuple[str, str], str] = {}
    for number, resource in enumerate(profile.resources):
        top = _MARGIN + number * (LINE + 6)
        drawing.text(_MARGIN, top + LINE - 4, resource)
        for begin, end, group in _spans(profile, resource):
            color = seen.setdefault((resource, group), group_color(resource, group))
            title = f"{resource}: {group}, cycles {begin:,} to {end - 1:,}"
            x, width = left + begin * scale, (end - begin) * scale
            drawing.box(x, top, width, LINE, fill=color, edge=color, title=title)
    bottom = _MARGIN + len(profile.resources) * (LINE + 6) + LINE
    drawing.text(left, bottom, "0")
    last = f"{profile.cycles:,} cycles"
    drawing.text(left + _WIDTH - len(last) * CHARACTER, bottom, last)
    _legend(drawing, seen, bottom + 8)
    return drawing


def _spans(profile: Profile, resource: str) -> list[tuple[int, int, str]]:
    """Begin, end and group of the cycles that somebody owns; neighbors of a group are one."""
    owners, spans = RESOURCES[resource].owners, profile.owners[resource]
    starts = [*map(int, spans.start), profile.cycles]
    named = [
        (begin, end, owners[number].group if number >= 0 else "")
        for (begin, end), number in zip(pairwise(starts), map(int, spans.owner), strict=True)
    ]
    found = []
    for group, members in groupby(named, key=lambda span: span[2]):
        first, *rest = members
        found.append((first[0], (rest or [first])[-1][1], group))
    return [span for span in found if span[2]]


def _legend(drawing: Drawing, seen: dict[tuple[str, str], str], top: float) -> None:
    """Draw what each color means, as many in a line as have room."""
    x, y = float(_MARGIN), top
    for (resource, group), color in seen.items():
        text = f"{resource}: {group}"
        width = LINE + len(text) * CHARACTER + 2 * _MARGIN
        if x + width > _WIDTH + 160:
            x, y = float(_MARGIN), y + LINE + 4
        drawing.box(x, y, LINE - 4, LINE - 4, fill=color, edge=color)
        drawing.text(x + LINE, y + LINE - 5, text)
        x += width
