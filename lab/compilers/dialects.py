"""MLIR: a graph through the text of its dialect is the same program."""

from dataclasses import replace
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import graph_of
from celosia.sw.models.cases import attention_case

__all__ = ["MLIR", "mlir"]

MLIR: Final = System(
    system="MLIR",
    mechanism="dialects nn and cel that parse and verify what graphs print; passes by name",
    claim="none of speed: less work for a compiler of a domain of its own",
    source="Lattner et al., CGO 2021",
)
_ATTENTION: Final = "attention of 2 heads of 64, l = 64"


def mlir(tell: Progress, workload: Workload | None = None) -> Row:
    """Cycles of graphs as they are, and of those that xDSL reads from their text."""
    dialects = import_extra("celosia.sw.frontend.dialects.text", "compiler")
    workload = workload or Workload(_ATTENTION, (attention_case(2, 64, 64, 0),))

    def read(graph: Graph) -> Graph:
        return graph_of(dialects.parse_verified(print_graph(graph)), graph.constants)

    texts = [replace(case, graph=read(case.graph)) for case in workload.cases]
    config = resolve_config("base")
    programs = {
        "as it is": workload.compiled(config),
        "from its text": replace(workload, cases=tuple(texts)).compiled(config),
    }
    cycles, right = run_ways(workload, programs, config, tell)
    work = f"{workload.name}, through the text of dialect cel"
    return gained(MLIR, work, ("as it is", "from its text"), cycles, right)
