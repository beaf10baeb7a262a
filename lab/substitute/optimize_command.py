"""`celosia optimize`: the steps of a search for a cheaper graph, and what they are worth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.documents.record import Hidden, Key, Record
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.graphs.rewritable import REWRITABLE, SMALL
from celosia.lab.substitute.graph_texts import (
    TEXT_SUFFIX,
    described,
    level_of,
    read_graph_file,
    write_graph_file,
)
from celosia.lab.substitute.optimize import Optimized, Way, optimize_integers, optimize_model
from celosia.lab.substitute.search import Substituted
from celosia.lab.sweep.words import options_of
from celosia.sim.command.options.common import (
    JsonOption,
    LatencyOption,
    PresetOption,
    RateOption,
    SetOption,
)
from celosia.sim.command.options.model import SizesOption
from celosia.sim.run.origin import Versions, versions, write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.prepare import import_file, parse_sizes, random_samples
from celosia.sim.workloads.models.rewriting import search_progress
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.recognize import recognized_loudly
from celosia.sw.ir.graph import Graph
from celosia.sw.models.steps import Model

__all__ = ["Optimization", "RewrittenGraph", "optimize"]

AnyGraph = Graph | FloatGraph

_NAMED: Final = {**REWRITABLE, **SMALL}


def optimize(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD|FILE",
            help=f"A workload with its options, an .onnx, a .mlir, or {', '.join(_NAMED)}.",
        ),
    ],
    *,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="The best step only, while one makes it cheaper.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.mlir", help="Write the cheapest graph."),
    ] = None,
    sizes: SizesOption = None,
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
    json: JsonOption = None,
) -> None:
    """Search for a graph that computes the same in fewer cycles, by substitutions."""
    check_destination(json)
    check_destination(output)
    if output is not None and output.suffix != TEXT_SUFFIX:
        raise InputError(f"-o {output}: the name of a graph's text ends with {TEXT_SUFFIX}")
    timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
    costs = Costs(resolve_config(preset or "base", overrides or ()), timing)
    with progress_bar() as tell:
        graphs = _graphs(what, context.args, sizes, tell)
        if output is not None and len(graphs) != 1:
            raise InputError(f"-o {output}: {what} is {len(graphs)} graphs, not one")
        way: Way = "greedy" if greedy else "search"
        try:
            found = [each for graph in graphs for each in _optimized(graph, costs, way, tell)]
        except ValueError as error:
            raise InputError(f"{what}: {error}") from None
    _show(table_console(json), found)
    if output is not None:
        write_graph_file(found[0].optimized.graph, output)
    write_document(json, Optimization(workload=what, way=way, graphs=found))


@dataclass(frozen=True)
class RewrittenGraph:
    """A graph that was rewritten, of one of the levels."""

    name: str
    """The graph."""
    optimized: Hidden[Optimized[Any]]

    @Key
    def level(self) -> str:
        """The graph's dialect."""
        return level_of(self.optimized.graph)

    @Key
    def macs_before(self) -> int:
        """Its multiply-accumulates."""
        return _macs(self.optimized.before)

    @Key
    def macs(self) -> int:
        """Multiply-accumulates of what it became."""
        return _macs(self.optimized.graph)

    @Key
    def predicted_cycles_before(self) -> float:
        """Its predicted cycles."""
        return self.optimized.cost_before

    @Key
    def predicted_cycles(self) -> float:
        """Predicted cycles of what it became."""
        return self.optimized.found.cost

    @Key
    def examined(self) -> int:
        """Graphs that were looked at."""
        return self.optimized.found.examined

    @Key
    def steps(self) -> tuple[Substituted, ...]:
        """The substitutions, in order."""
        return self.optimized.found.steps


@dataclass(frozen=True, kw_only=True)
class Optimization(Record):
    """Graphs, and what they became."""

    schema: Literal["celosia.optimize/1"] = "celosia.optimize/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    workload: str
    """What was rewritten."""
    way: Way
    """How steps were found."""
    graphs: Sequence[RewrittenGraph]
    """The float graph of a model, then its graphs of integers."""


def _graphs(
    what: str, words: Sequence[str], sizes: list[str] | None, tell: Progress
) -> tuple[AnyGraph, ...]:
    """What is to be rewritten.  Raises `InputError`."""
    path = Path(what)
    if what not in _NAMED and path.suffix not in {".onnx", TEXT_SUFFIX}:
        sized = [word for text in sizes or () for word in ("--dim", text)]
        options, _ = options_of([what, *words, *sized])
        return options.job(tell).graphs
    if words:
        raise InputError(f"{' '.join(words)}: only workloads have such options, not {what}")
    if path.suffix == ".onnx":
        return (import_file(path, parse_sizes(sizes or ())).imported.graph,)
    if sizes:
        raise InputError(f"--dim: {what} has its sizes already")
    graph = _NAMED[what]() if what in _NAMED else read_graph_file(path)
    if not isinstance(graph, AnyGraph):
        raise InputError(f"{what}: one graph of nn or cel is optimized, not {described(graph)}")
    return (graph,)


def _optimized(graph: AnyGraph, costs: Costs, way: Way, tell: Progress) -> list[RewrittenGraph]:
    """The graph rewritten; of a float graph, also the graphs of integers that it becomes."""
    progress = search_progress(tell)
    if isinstance(graph, Graph):
        found = optimize_integers(graph, costs, way=way, progress=progress)
        return [RewrittenGraph(graph.name, found)]
    model = Model.of(recognized_loudly(graph))
    samples = random_samples(model.recognized.graph, 0)
    done = optimize_model(model, samples, costs, way=way, progress=progress)
    parts = [RewrittenGraph(each.before.name, each) for each in done.segments]
    return [RewrittenGraph(graph.name, done.floats), *parts]


def _show(console: Console, found: Sequence[RewrittenGraph]) -> None:
    for stage in found:
        done = stage.optimized
        table = Table("step", title=f"{escape(stage.name)} ({stage.level})", title_justify="left")
        table.add_column("parts", justify="right")
        table.add_column("predicted cycles", justify="right")
        table.add_row("as it was", "", f"{done.cost_before:,.0f}")
        for step in done.found.steps:
            table.add_row(step.rule, f"{len(step.roots)}", f"{step.cost:,.0f}")
        console.print(table)
        gain = done.cost_before / done.found.cost if done.found.cost else 1.0
        console.print(
            f"{_macs(done.before):,} multiply-accumulates, now {_macs(done.graph):,}; "
            f"{gain:.3f} x as fast; {done.found.examined} graphs looked at"
        )
    if any(stage.level == "nn" for stage in found):
        console.print("cycles of float graphs: as they would be quantized, and a model of the host")


def _macs(graph: AnyGraph) -> int:
    return graph.macs if isinstance(graph, Graph) else sum(graph.macs().values())
