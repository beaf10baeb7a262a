"""A step of a decoder for another length: what it appends to caches, and where masks begin."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graphs.finishes import DeferredSoftmax
from celosia.sw.ir.graphs.tensors import View

__all__ = ["moved"]


def moved(graph: Graph, tokens: int) -> Graph:
    """The graph of a step behind so many tokens more, or less: it writes other rows of caches.

    It reads as many keys: causal masks that move say which of them count.
    """
    if not tokens:
        return graph

    def place(view: View) -> View:
        return view.part(row=tokens, rows=view.rows) if graph.tensors[view.tensor].cache else view

    def behind(op: Op) -> Op:
        return replace(op, **{name: _moved(getattr(op, name), place, tokens) for name in op.WRITES})

    return replace(graph, ops=tuple(map(behind, graph.ops)))


def _moved(value: Any, place: Callable[[View], View], tokens: int) -> Any:
    match value:
        case View():
            return place(value)
        case tuple():
            return tuple(_moved(each, place, tokens) for each in value)
        case DeferredSoftmax() if value.mask.moving:
            mask = replace(value.mask, first_row=value.mask.first_row + tokens)
            return replace(value, mask=mask)
        case _:
            return value
