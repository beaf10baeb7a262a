"""The fields of a stage that schedules change, by their paths, whatever kind of stage it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from celosia.sw.planning.forms.plan import Stage
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    CombineStage,
    ConcurrentStage,
    LinearStage,
    NormStage,
)

__all__ = ["FIELDS", "TURNS", "field_of", "rings_of", "with_field", "with_rings"]

Names = tuple[str, ...]

TURNS = ("queries", "numerators")
"""Roles of attention that have a ring for each turn."""


@dataclass(frozen=True, kw_only=True)
class Fields:
    """What schedules may change in a kind of stage: fields by paths, those of all its groups."""

    roles: Mapping[str, str]
    """The ring, or the rings, in each role."""
    cuts: Mapping[str, str]
    """The sizes that are a cut of each extent."""
    pieces: Mapping[str, tuple[str, ...]]
    """The sizes of each kind of piece, as `Tile` calls it."""


FIELDS: Final[Mapping[type[Stage], Fields]] = {
    LinearStage: Fields(
        roles={
            "a": "a.ring",
            "b": "w.ring",
            "sums": "sums",
            "slots": "slots",
            "results": "drain.results",
            "parameters": "drain.parameters",
            "residuals": "drain.residuals",
        },
        cuts={"rows": "rows", "tiles": "tiles", "tail": "parts"},
        pieces={
            "k": ("w.k_tiles",),
            "columns": ("w.columns",),
            "a": ("a.tiles",),
            "first": ("a.first",),
            "drain": ("drain.tiles",),
        },
    ),
    AttentionStage: Fields(
        roles={
            "keys": "groups.k.ring",
            "values": "groups.v.ring",
            "queries": "groups.queries",
            "numerators": "groups.numerators",
            "scores": "groups.scores",
            "contexts": "groups.contexts",
            "results": "groups.drain.results",
            "slots": "slots",
        },
        cuts={"rows": "groups.rows", "keys": "groups.keys"},
        pieces={
            "k": ("groups.k.k_tiles", "groups.v.k_tiles"),
            "columns": ("groups.k.columns", "groups.v.columns"),
            "drain": ("groups.drain.tiles",),
        },
    ),
    NormStage: Fields(
        roles={"source": "norm.source", "slots": "slots"},
        cuts={"rows": "rows"},
        pieces={"drain": ("norm.tiles",)},
    ),
    CombineStage: Fields(
        roles={"a": "a", "b": "b", "results": "results"},
        cuts={"rows": "rows"},
        pieces={"drain": ("tiles",)},
    ),
    ConcurrentStage: Fields(roles={}, cuts={}, pieces={}),
}


def field_of(value: Any, path: str) -> Any:
    """What stands at a path of `value`, in the first group of several; None if nothing does."""
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
        value = value[0] if name == "groups" else value
    return value


def with_field(value: Any, path: str, change: Callable[[Any], Any]) -> Any:
    """`value` with another thing at a path, in each of several groups."""
    first, _, rest = path.partition(".")
    if not first:
        return change(value)
    if isinstance(value, tuple):
        return tuple(with_field(each, path, change) for each in value)
    return replace(value, **{first: with_field(getattr(value, first), rest, change)})


def rings_of(stage: Stage) -> Mapping[str, Names]:
    """The rings of `stage` by their roles; of attention, those of the first group."""
    found = {role: field_of(stage, path) for role, path in FIELDS[type(stage)].roles.items()}
    return {
        role: names if isinstance(names, tuple) else (names,)
        for role, names in found.items()
        if names
    }


def with_rings(stage: Stage, role: str, names: Names) -> Stage:
    """`stage` with other rings in a role that it has."""

    def change(old: str | Names) -> str | Names:
        return names if isinstance(old, tuple) else names[0]

    return with_field(stage, FIELDS[type(stage)].roles[role], change)
