"""Programs on one shared memory, in any order that hardware may take: the worst memory there is."""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.ir import program_interpret
from celosia.sw.ir.program import Load, LoadParameters, Op, Store
from celosia.sw.models.cases import Case
from celosia.sw.scheduling.memory.order import before

__all__ = ["reordered", "values_after"]


def reordered(
    ops: Sequence[Op], order: Sequence[tuple[int, ...]], random: Random, haste: float
) -> list[int]:
    """A legal order: stores before all else as often as `haste` says, loads last."""
    missing = [len(set(each)) for each in order]
    readers: list[list[int]] = [[] for _ in ops]
    for index, earlier in enumerate(order):
        for each in set(earlier):
            readers[each].append(index)
    ready: list[tuple[float, int]] = []
    found: list[int] = []

    def push(index: int) -> None:
        rank = random.random()
        if random.random() < haste:
            late = isinstance(ops[index], Load | LoadParameters)
            rank += 1 if late else -1 if isinstance(ops[index], Store) else 0
        heappush(ready, (rank, index))

    for index, count in enumerate(missing):
        if not count:
            push(index)
    while ready:
        _, index = heappop(ready)
        found.append(index)
        for reader in readers[index]:
            missing[reader] -= 1
            if not missing[reader]:
                push(reader)
    assert len(found) == len(ops)
    return found


def values_after(
    compiled: CompiledGraph,
    case: Case,
    config: AcceleratorConfig,
    random: Random,
    addresses: Mapping[str, int] | None = None,
) -> dict[str, NDArray[Any]]:
    """What a random order leaves behind, with all tensors in one memory."""
    graph, ops = compiled.graph, [written.op for written in compiled.ops]
    places = addresses or compiled.addresses
    base = min(places.values())
    end = max(start + graph.tensors[name].bytes for name, start in places.items())
    memory = np.full(end - base, program_interpret.UNWRITTEN, np.uint8)
    arrays = {}
    for name, start in places.items():
        tensor = graph.tensors[name]
        part = memory[start - base : start - base + tensor.bytes]
        arrays[name] = part.view(tensor.type).reshape(tensor.shape)
    for name, value in {**graph.constants, **case.inputs}.items():
        arrays[name][:] = value
    order = before(ops, config, graph.moving)
    places_in = reordered(ops, order, random, random.choice((0.0, 0.9, 1.0)))
    eager = random.random() < 0.5
    program_interpret.interpret(
        [ops[index] for index in places_in], config, graph.tensors, arrays, eager=eager
    )
    return arrays
