"""Cycles of whole models on the RTL, every tensor compared."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.nas.models.costs import Piece, graphs_of
from celosia.lab.sweep.lines import Lines
from celosia.sim.devices.devices import open_device
from celosia.sim.profile.losses import group_cycles
from celosia.sim.profile.resources import ARRAY, groups
from celosia.sim.run.graph_run import compile_for, measure_compiled
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case

__all__ = ["run_pieces"]

_LARGEST: Final = 4
"""Inputs are whole numbers up to this: cycles do not depend on them."""

Line = Mapping[str, Any]


def run_pieces(pieces: Sequence[Piece], lines: Lines, tell: Progress) -> dict[Piece, Line]:
    """The line of each piece, with its `cycles` on the RTL and the `owners` of the array's.

    What `lines` hold does not run again.  Raises `InputError` for a wrong result.
    """
    keys = {piece: f"rtl {piece.key.split()[1]}" for piece in pieces}
    for number, (piece, key) in enumerate(keys.items(), 1):
        if "owners" not in lines.known.get(key, {}):
            lines.add(_line(piece, key, tell))
        tell(f"{number} of {len(pieces)} programs on the RTL", number / len(pieces))
    return {piece: lines.known[key] for piece, key in keys.items()}


def _line(piece: Piece, key: str, tell: Progress) -> dict[str, Any]:
    machine, cycles = piece.machine, 0
    owners = dict.fromkeys(groups(ARRAY), 0)
    opened = partial(open_device, "verilator", machine.config, machine.timing, progress=tell)
    for graph in graphs_of(piece):
        compiled = compile_for(graph, machine.config, machine.timing)
        case = Case(graph, _inputs(graph))
        whole = measure_compiled(graph.name, compiled, case, opened, machine.timing).whole
        if not whole.right or whole.cycles is None:
            raise InputError(f"{graph.name}: the RTL has other results than the integer graph")
        cycles += whole.cycles
        for group, each in group_cycles(ARRAY, whole.counters).items():
            owners[group] += each
    return {"key": key, "cycles": cycles, "owners": owners}


def _inputs(graph: Graph) -> Mapping[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    tensors = [graph.tensors[name] for name in graph.inputs]
    return {
        each.name: random.integers(0, _LARGEST, (each.rows, each.cols)).astype(each.type)
        for each in tensors
    }
