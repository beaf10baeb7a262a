"""Colors that people with any kind of color vision can tell apart, and that print in gray.

The palettes of Okabe and Ito and of Paul Tol; neighbors differ in lightness, too.
"""

from typing import Final

from celosia.sim.profile.losses import IDLE
from celosia.sim.profile.resources import RESOURCES, groups

__all__ = ["GRID", "INK", "QUEUE_COLORS", "SCALE", "group_color", "group_pattern"]

INK: Final = "#1a1a1a"
GRID: Final = "#d9d9d9"
SCALE: Final = "Cividis"
"""The color scale of heat maps, made for color vision deficiency."""

_WORK: Final = ("#0072b2", "#56b4e9", "#a6cee3")
_WAITS: Final = (
    "#d55e00",
    "#f0c442",
    "#7b3294",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#111111",
    "#999933",
    "#88ccee",
    "#882255",
    "#b3b3b3",
)
_IDLE_COLOR: Final = "#e6e6e6"
_PATTERNS: Final = ("", "/", ".", "x")

QUEUE_COLORS: Final = {
    "execute": "#0072b2",
    "load": "#d55e00",
    "store": "#009e73",
    "transform": "#cc79a7",
}


def group_color(resource: str, group: str) -> str:
    """The color of a group of owners; where colors run out, `group_pattern` tells groups apart."""
    if group == IDLE:
        return _IDLE_COLOR
    palette, place = _place(resource, group)
    return palette[place % len(palette)]


def group_pattern(resource: str, group: str) -> str:
    """What goes with the color."""
    palette, place = _place(resource, group)
    return _PATTERNS[place // len(palette) % len(_PATTERNS)]


def _place(resource: str, group: str) -> tuple[tuple[str, ...], int]:
    work = RESOURCES[resource].work
    if group in work:
        return _WORK, work.index(group)
    return _WAITS, [name for name in groups(resource) if name not in work].index(group)
