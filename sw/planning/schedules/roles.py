"""The rings of a stage by what they are for, whatever kind of stage it is."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from celosia.sw.planning.forms.plan import ProductStage, Stage
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    CombineStage,
    ConcurrentStage,
    HeadGroup,
    LinearStage,
    NormStage,
    PiecesOfW,
    SumsDrain,
)

__all__ = ["TURNS", "rings_of", "with_rings"]

Names = tuple[str, ...]

TURNS = ("queries", "numerators")
"""Roles of attention that have a ring for each turn."""


def rings_of(stage: Stage) -> Mapping[str, Names]:
    """The rings of `stage` by their roles; of attention, those of the first group."""
    match stage:
        case ProductStage():
            roles = {"a": stage.a.ring, "b": stage.b.ring, "sums": stage.sums, "bias": stage.bias}
        case LinearStage():
            b = "" if stage.w is None else stage.w.ring
            roles = {"a": stage.a, "b": b, "sums": stage.sums, "slots": stage.slots}
            roles |= _of_drain(stage.drain)
        case AttentionStage():
            return {**_of_group(stage.groups[0]), "slots": (stage.slots,)}
        case NormStage():
            roles = {"source": stage.norm.source, "slots": stage.slots}
        case ConcurrentStage():
            roles = {}
        case CombineStage():
            roles = {"a": stage.a, "b": stage.b, "results": stage.results}
    return {role: (name,) for role, name in roles.items() if name}


def with_rings(stage: Stage, role: str, names: Names) -> Stage:
    """`stage` with other rings in a role that it has."""
    name = names[0]
    changed: dict[str, Any]
    match stage, role:
        case ProductStage(), "a" | "b":
            changed = {role: replace(getattr(stage, role), ring=name)}
        case LinearStage(w=PiecesOfW() as w), "b":
            changed = {"w": replace(w, ring=name)}
        case LinearStage(), "results" | "parameters" | "residuals":
            changed = {"drain": replace(stage.drain, **{role: name})}
        case NormStage(), "source":
            changed = {"norm": replace(stage.norm, source=name)}
        case AttentionStage(), _ if role != "slots":
            changed = {"groups": tuple(_with_ring(group, role, names) for group in stage.groups)}
        case _:
            changed = {role: name}
    return replace(stage, **changed)


def _of_drain(drain: SumsDrain) -> dict[str, str]:
    return {
        "results": drain.results,
        "parameters": drain.parameters,
        "residuals": drain.residuals,
    }


def _of_group(group: HeadGroup) -> Mapping[str, Names]:
    return {
        "keys": (group.k.ring,),
        "values": (group.v.ring,),
        "queries": group.queries,
        "numerators": group.numerators,
        "scores": (group.scores,),
        "contexts": (group.contexts,),
        "results": (group.drain.results,),
    }


def _with_ring(group: HeadGroup, role: str, names: Names) -> HeadGroup:
    match role:
        case "keys":
            return replace(group, k=replace(group.k, ring=names[0]))
        case "values":
            return replace(group, v=replace(group.v, ring=names[0]))
        case "queries" | "numerators":
            return replace(group, **{role: names})
        case "results":
            return replace(group, drain=replace(group.drain, results=names[0]))
        case _:
            return replace(group, **{role: names[0]})
