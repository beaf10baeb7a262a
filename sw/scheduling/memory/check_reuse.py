"""A proof, pair by pair, that tensors with bytes in common never get into each other's way.

Nothing here knows how the places were found: what is looked at are addresses and the program.
"""

from collections.abc import Iterator, Mapping, Sequence

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.program import Op
from celosia.sw.scheduling.memory.order import Access, before, loads_over, stored_and_loaded

__all__ = ["check_reuse", "sharing"]


def sharing(graph: Graph, addresses: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The pairs of tensors that have a byte in common."""
    spans = sorted(
        (start, start + graph.tensors[name].bytes, name) for name, start in addresses.items()
    )
    open_spans: list[tuple[int, str]] = []
    for start, end, name in spans:
        open_spans = [(behind, other) for behind, other in open_spans if behind > start]
        yield from ((other, name) for _, other in open_spans)
        open_spans.append((end, name))


def check_reuse(
    ops: Sequence[Op], graph: Graph, addresses: Mapping[str, int], config: AcceleratorConfig
) -> None:
    """Check each pair of tensors with bytes in common: one is over before the other begins.

    Raises `ValueError` that names the pair, and which access nothing orders.
    """
    pairs = list(sharing(graph, addresses))
    if not pairs:
        return
    over = loads_over(ops, before(ops, config, graph.moving))
    accesses: dict[str, list[Access]] = {name: [] for name in addresses}
    for access in stored_and_loaded(ops):
        accesses[access.view.tensor].append(access)
    for pair in pairs:
        older, newer = sorted(pair, key=lambda name: _first(accesses[name], name, graph))
        _check_pair(older, newer, graph, accesses, over)


def _first(accesses: Sequence[Access], name: str, graph: Graph) -> int:
    """When a tensor gets its values, as a place in the program."""
    given = name in graph.inputs or name in graph.constants
    return -1 if given else min((a.index for a in accesses if a.stores), default=-1)


def _check_pair(
    older: str,
    newer: str,
    graph: Graph,
    accesses: Mapping[str, Sequence[Access]],
    over: Sequence[int],
) -> None:
    place = f"graph {graph.name}: {older} and {newer} share bytes"
    wanted = {*graph.outputs, *graph.constants}
    if older in wanted or graph.tensors[older].cache or graph.tensors[newer].cache:
        raise ValueError(f"{place}, but {older} is needed after the program")
    stores = [access for access in accesses[newer] if access.stores]
    if not stores or newer in graph.inputs:
        raise ValueError(f"{place}, but {newer} has its values before the program")
    first = min(stores, key=lambda access: access.number)
    for access in accesses[older]:
        if access.stores and access.number > first.number:
            raise ValueError(
                f"{place}, but store {access.number} of {older} comes after store {first.number}"
            )
    loads = [access for access in accesses[older] if not access.stores]
    if loads:
        last = max(loads, key=lambda access: access.number)
        if over[first.number - 1] < last.number:
            raise ValueError(
                f"{place}, but nothing lets store {first.number} of {newer} wait for load "
                f"{last.number} of {older}"
            )
