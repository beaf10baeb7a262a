"""A part of a graph that costs like it, so that alternatives are compared in little time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul, Op, Sums
from celosia.sw.planning.choices import DEFAULT

__all__ = ["is_much_of", "probe_graph", "product_tiles"]

_COLUMNS: Final = 192
"""Tiles of columns of the sums in a probe."""
_ALIKE: Final = 2
"""The number of operators of a kind that is enough to compare alternatives."""


def product_tiles(graph: Graph, config: AcceleratorConfig) -> int:
    """The number of tiles of weights that rows of `graph` stream through, about."""
    dim, total = config.dim, 0
    for op in graph.ops:
        if isinstance(op, MatMul):
            blocks = -(-op.out.rows // (DEFAULT.block_tiles * dim))
            total += blocks * -(-op.a.cols // dim) * -(-op.out.cols // dim)
    return total


def probe_graph(graph: Graph, config: AcceleratorConfig) -> Graph:
    """A part of `graph` that costs like it: few operators of each kind, and few of their rows.

    It has no meaning: what the operators left out compute is read as if it stood in memory.
    """
    most = 2 * DEFAULT.block_tiles * config.dim
    ops = (op.some_rows(0, min(op.rows, most)) for op in _few_ops(graph.ops))
    return replace(graph, ops=tuple(_few_columns(op, _COLUMNS * config.dim) for op in ops))


def is_much_of(probe: Graph, graph: Graph, config: AcceleratorConfig) -> bool:
    """Whether a probe takes about as long to look at as the graph, which it only resembles."""
    alike = len(graph.ops) <= 2 * len(probe.ops)
    return alike and product_tiles(graph, config) <= 2 * product_tiles(probe, config)


def _few_ops(ops: tuple[Op, ...]) -> Iterator[Op]:
    """The first few of each kind; operators that belong together stay together."""
    seen: dict[tuple[object, ...], int] = {}
    for op in ops:
        seen[op.alike] = seen.get(op.alike, 0) + 1
        if seen[op.alike] <= _ALIKE:
            yield op


def _few_columns(op: Op, most: int) -> Op:
    """The first columns of sums that leave as they are: a vocabulary's, of which all are alike."""
    if not (isinstance(op, MatMul) and isinstance(op.finish, Sums)) or op.b_transposed or op.bias:
        return op
    return op.some_cols(0, min(op.out.cols, most))
