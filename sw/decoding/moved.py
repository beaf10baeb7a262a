"""A step of a decoder for texts elsewhere: what it appends to caches, and where masks begin."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from celosia.sw.decoding.texts import CacheLayout, Place
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graphs.finishes import DeferredSoftmax
from celosia.sw.ir.graphs.tensors import View

__all__ = ["moved"]


def moved(
    graph: Graph, layout: CacheLayout, before: Sequence[Place], after: Sequence[Place]
) -> Graph:
    """The graph of a step whose texts are in the places `after`, of one with those in `before`.

    Each text reads as many keys as it did: causal masks that move say which of them count.
    """
    if before == after:
        return graph
    numbers = {place.slot: number for number, place in enumerate(before)}
    slots = [
        (new.slot - old.slot) * layout.slot_rows for old, new in zip(before, after, strict=True)
    ]
    tokens = [new.context - old.context for old, new in zip(before, after, strict=True)]

    def cached(view: View) -> bool:
        return graph.tensors[view.tensor].cache

    def number(view: View) -> int:
        return numbers[layout.slot(view.row)]

    def read(view: View) -> View:
        return view.part(row=slots[number(view)], rows=view.rows) if cached(view) else view

    def written(view: View) -> View:
        return read(view).part(row=tokens[number(view)], rows=view.rows) if cached(view) else view

    def elsewhere(op: Op) -> Op:
        of = {number(view) for view in (*op.operands, *op.results) if cached(view)}
        rows = tokens[of.pop()] if len(of) == 1 else None
        changed = {
            field.name: _moved(
                getattr(op, field.name), written if field.name in op.WRITES else read, rows
            )
            for field in fields(op)
        }
        return replace(op, **changed)

    return replace(graph, ops=tuple(map(elsewhere, graph.ops)))


def _moved(value: Any, place: Callable[[View], View], tokens: int | None) -> Any:
    """What an operator has, with views in their place, and masks so many tokens further on."""
    match value:
        case View():
            return place(value)
        case tuple():
            return tuple(_moved(each, place, tokens) for each in value)
        case DeferredSoftmax() if value.mask.moving:
            assert tokens is not None, "a moving mask is of the text whose keys are read"
            mask = replace(value.mask, first_row=value.mask.first_row + tokens)
            return replace(value, mask=mask)
        case _:
            return value
