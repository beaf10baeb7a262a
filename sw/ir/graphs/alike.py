"""Operators without names and numbers: parts of graphs that are alike take the same time."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Final

from celosia.sw.ir.graphs.operator import Operator
from celosia.sw.ir.graphs.tensors import Tensor, View

__all__ = ["anonymous", "likeness"]


def anonymous(tensors: Mapping[str, Tensor], *lists: Sequence[Operator]) -> Hashable:
    """Operators without names and numbers, but with the sizes of all that they read and write."""
    numbers: dict[str, int] = {}

    def shown(value: object) -> Hashable:
        match value:
            case View():
                kind = tensors[value.tensor]
                number = numbers.setdefault(value.tensor, len(numbers))
                sizes = kind.type, kind.packing, kind.shape
                return number, *sizes, value.row, value.col, *value.shape
            case tuple():
                return tuple(map(shown, value))
            case float():
                return "number"
            case _ if is_dataclass(value):
                parts = [f for f in fields(value) if f.name not in _NUMBERS]
                return type(value).__name__, *(shown(getattr(value, f.name)) for f in parts)
            case _:
                return str(value)

    return tuple(shown(tuple(ops)) for ops in lists)


def likeness(
    tensors: Mapping[str, Tensor], ops: Sequence[Operator], *ends: Collection[str]
) -> Hashable:
    """What graphs that differ in names and numbers alone have in common: a plan takes as long.

    `ends` are names of tensors that have a part in common, such as outputs.
    """
    place = {name: number for number, name in enumerate(tensors)}
    return (
        anonymous(tensors, ops),
        tuple(tuple(place[view.tensor] for view in (*op.operands, *op.results)) for op in ops),
        tuple((each.cache, each.scratch) for each in tensors.values()),
        tuple(tuple(sorted(place[name] for name in names)) for names in ends),
    )


_NUMBERS: Final = ("name", "epsilon", "zero_point")
"""Fields in which parts that are alike may differ."""
