"""Cycles of whole models on the RTL, every tensor compared."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.compilers.graph_cycles import graph_cycles
from celosia.lab.nas.models.costs import Piece, graphs_of
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_for
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case

__all__ = ["built", "rtl_line"]

_LARGEST: Final = 4
"""Inputs are whole numbers up to this: cycles do not depend on them."""


def built(piece: Piece, tell: Progress) -> None:
    """Build the simulator, which workers only open."""
    machine = piece.machine
    with closing(open_device("verilator", machine.config, machine.timing, progress=tell)):
        pass


def rtl_line(piece: Piece) -> dict[str, Any]:
    """The line of a piece's cycles on the RTL.  Raises `InputError` for a wrong result."""
    machine, cycles = piece.machine, 0
    for graph in graphs_of(piece):
        compiled = compile_for(graph, machine.config, machine.timing)
        case = Case(graph, _inputs(graph))
        found, right = graph_cycles(case, compiled, machine.config, machine.timing)
        if not right:
            raise InputError(f"{graph.name}: the RTL has other results than the integer graph")
        cycles += found
    return {"key": f"rtl {piece.key.split()[1]}", "cycles": cycles}


def _inputs(graph: Graph) -> Mapping[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    tensors = [graph.tensors[name] for name in graph.inputs]
    return {
        each.name: random.integers(0, _LARGEST, (each.rows, each.cols)).astype(each.type)
        for each in tensors
    }
