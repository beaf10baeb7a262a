"""Random edits of plans: other cuts, pieces and rings, of which many are illegal."""

from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from celosia.sw.planning.forms.plan import Plan, RingPlan

__all__ = ["edited", "with_field"]

_CUTS = ("rows", "tiles", "keys")
"""Fields whose numbers add up to an extent."""


class _Editor:
    def __init__(self, random: np.random.Generator, names: list[str], share: float):
        self.random, self.names, self.share = random, names, share

    def chance(self) -> bool:
        return bool(self.random.random() < self.share)

    def value(self, name: str, value: Any) -> Any:
        """A field of a stage."""
        if is_dataclass(value) and not isinstance(value, type):
            changes = {f.name: self.value(f.name, getattr(value, f.name)) for f in fields(value)}
            return replace(value, **changes)
        if isinstance(value, tuple):
            if name in _CUTS and value and isinstance(value[0], int) and self.chance():
                return self.cut(value)
            return tuple(self.value(name, each) for each in value)
        return self.scalar(value) if self.chance() else value

    def scalar(self, value: Any) -> Any:
        """Another number, or the name of another ring."""
        if isinstance(value, str) and value in self.names:
            return str(self.random.choice(self.names))
        if isinstance(value, int):
            return max(0, value + int(self.random.integers(-2, 3)))
        return value

    def cut(self, parts: tuple[int, ...]) -> tuple[int, ...]:
        """The same extent in other parts."""
        whole = sum(parts)
        count = int(self.random.integers(1, min(4, whole) + 1))
        inner = self.random.choice(np.arange(1, whole), count - 1, replace=False).tolist()
        ends = [0, *sorted(inner), whole]
        return tuple(b - a for a, b in pairwise(ends))

    def ring(self, ring: RingPlan) -> RingPlan:
        """The same rows, fewer of them, or in two halves; or other steps."""
        if not self.chance():
            return ring
        (first, rows), *others = ring.spans
        match self.random.integers(4):
            case 0:
                cut = int(self.random.integers(1, rows + 1))
                return replace(ring, spans=((first, cut), *others))
            case 1 if rows > 1:
                half = rows // 2
                spans = (first, half), (first + half, rows - half), *others
                return replace(ring, spans=spans)
            case 2:
                return replace(ring, step=int(self.random.integers(1, 20)))
            case _:
                return replace(ring, spans=((first, rows),))


def edited(plan: Plan, random: np.random.Generator, share: float = 0.05) -> Plan:
    """`plan` with some of its numbers and names changed."""
    editor = _Editor(random, list(plan.rings), share)
    rings = {name: editor.ring(ring) for name, ring in plan.rings.items()}
    stages = tuple(editor.value("", stage) for stage in plan.stages)
    return replace(plan, rings=rings, stages=stages)


def with_field(value: Any, path: str, new: Any) -> Any:
    """`value` with another field, named by numbers and names with dots between them."""
    name, _, rest = path.partition(".")
    if isinstance(value, dict):
        return {**value, name: with_field(value[name], rest, new) if rest else new}
    if isinstance(value, tuple):
        index = int(name)
        inner = with_field(value[index], rest, new) if rest else new
        return (*value[:index], inner, *value[index + 1 :])
    return replace(value, **{name: with_field(getattr(value, name), rest, new) if rest else new})
