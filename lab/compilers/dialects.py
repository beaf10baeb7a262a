"""MLIR: a graph through the text of its dialect is the same program."""

from functools import partial
from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_for, measure_compiled
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import graph_of
from celosia.sw.models.cases import Case, attention_case

__all__ = ["MLIR", "mlir"]

MLIR: Final = System(
    system="MLIR",
    mechanism="dialects nn and cel that parse and verify what graphs print; passes by name",
    claim="none of speed: less work for a compiler of a domain of its own",
    source="Lattner et al., CGO 2021",
)


def mlir(tell: Progress, simulator: str = "verilator") -> Row:
    """Cycles of a graph as it is, and of the graph that xDSL reads from its text."""
    dialects = import_extra("celosia.sw.frontend.dialects.text", "compiler")
    case = attention_case(2, 64, 64, 0)
    operation = dialects.parse_verified(print_graph(case.graph))
    graphs = {
        "as it is": case.graph,
        "from its text": graph_of(operation, case.graph.constants),
    }
    found = {
        name: _measured(Case(graph, case.inputs), simulator, tell) for name, graph in graphs.items()
    }
    cycles = {name: count for name, (count, _) in found.items()}
    return Row(
        about=MLIR,
        work="attention of 2 heads of 64, l = 64, through the text of dialect cel",
        gain=cycles["as it is"] / cycles["from its text"] if all(cycles.values()) else None,
        cycles=cycles,
        right=all(right for _, right in found.values()),
    )


def _measured(case: Case, simulator: str, tell: Progress) -> tuple[int, bool]:
    config, timing = resolve_config("base"), MemoryTiming()
    compiled = compile_for(case.graph, config, timing)
    opened = partial(open_device, simulator, config, timing, progress=tell)
    whole = measure_compiled("attention", compiled, case, opened, timing).whole
    return whole.cycles or 0, whole.right
