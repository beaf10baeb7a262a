"""Values that stand in another one: which of them do, and where."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.operands import Operands, Refused
from celosia.sw.quantize.units.segments import Segments, plan_segments
from celosia.sw.quantize.units.units import Finishing, Join, Rotation, Unit, Units
from celosia.sw.quantize.units.values import Form, Role, Value

__all__ = ["SHARED_STEP", "Joined", "find_join", "joined_forms", "settle_joins"]

SHARED_STEP: Final = "one step for all of its parts would cost accuracy"
"""Why the host puts a tensor together whose parts could be written in it."""


@dataclass(frozen=True)
class Joined:
    """Where a form is that is a part of another one."""

    whole: Form
    place: View


def find_join(operands: Operands, units: Mapping[str, Unit], node: Node) -> Join | None:
    """A concatenation of values of units; None: of the host's.

    Raises `Refused` where a unit makes a part that cannot be written there.
    """
    axis = node.attributes["axis"]
    assert isinstance(axis, int)
    made = [operands.unit_behind(name) for name in node.inputs]
    parts = [units[name] for name in made if name is not None]
    if not parts:
        return None
    if len({id(part) for part in parts}) < len(node.inputs):
        raise Refused("a part of it is the host's, or in it twice")
    able = frozenset[Role]({"wide", "small"}).intersection(*(part.JOINED for part in parts))
    if not able or any(part.value.heads for part in parts):
        raise Refused("a part of it cannot be written in the rows of another tensor")
    if any(isinstance(part, Finishing) and part.most is not None for part in parts):
        raise Refused("a part of it has an upper end, which is that of a range of its own")
    beside = axis == node.type.rank - 1
    if not beside and prod(node.type.shape[:axis]) > 1:
        raise Refused("rows of several texts are put together")
    value, places, at = Value(node.name), dict[str, View](), 0
    whole = value.whole(node.type)
    for part, name in zip(parts, node.inputs, strict=True):
        rows, cols = Value(name).shape(operands.reader.type(name))
        place = whole.part(col=at, cols=cols) if beside else whole.part(row=at, rows=rows)
        places[part.value.tensor] = place
        at += cols if beside else rows
    return Join(value=value, parts=places, able=able, nodes=(node.name,))


def joined_forms(segments: Segments) -> dict[Form, Joined]:
    """All forms that are parts of others."""
    units = segments.units
    return {
        Form(units.units[part].value.key, role): Joined(Form(join.value.key, role), place)
        for join in units.of(Join)
        for part, place in join.parts.items()
        for role in segments.made[join.value.tensor]
    }


def settle_joins(graph: FloatGraph, units: Units, apart: Mapping[str, str]) -> Units:
    """`units` with those joins whose parts one segment writes there, and nobody elsewhere.

    The host puts the others together, and those that are `apart`, for the reasons given.
    """
    while units.of(Join):
        refused = {name: why for name, why in apart.items() if name in units.units}
        refused = refused or dict(_refusals(plan_segments(graph, units)))
        if not refused:
            break
        kept = {name: unit for name, unit in units.units.items() if name not in refused}
        units = replace(units, units=kept, refusals={**units.refusals, **refused})
    return units


def _refusals(segments: Segments) -> Iterator[tuple[str, str]]:
    """The joins that the host has to make, each with the reason."""
    read, taken = segments.host_reads, set[str]()
    for join in segments.units.of(Join):
        name, parts = join.value.tensor, join.parts.keys()
        forms = [Form(join.value.key, role) for role in segments.made[name]]
        users = [user for form in forms for user in segments.users(form)]
        if len({segments.segment_of[part] for part in parts}) > 1:
            yield name, "its parts are computed before and behind what the host does"
        elif parts & read:
            yield name, "the host reads a part of it"
        elif parts & taken:
            yield name, "a part of it is in another tensor, too"
        elif any(isinstance(user, Rotation) for user in users):
            yield name, "its heads are rotated"
        elif any(form.key == join.value.key for form in segments.converted):
            yield name, "its parts cannot be written in the form that is read"
        taken |= parts
