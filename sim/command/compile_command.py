"""`celosia compile`: what each pass of the compiler makes of a workload, and edited plans."""

from typing import Annotated

import typer

from celosia.isa.config import did_you_mean
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.run_options import Asked, asked, compiling, planned_target
from celosia.sim.command.outputs.graph_tables import memory_line, rounded_line
from celosia.sim.run.compiled_forms import (
    ALL,
    FORMS,
    Compilation,
    compile_forms,
    graphs_of_workload,
)
from celosia.sim.run.estimate import compiling_text
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told
from celosia.sim.run.options.rewriting import rewritten
from celosia.sim.support.display import progress_bar
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import command_line, counted
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.passes.short_scales import short_scales

__all__ = ["compile_workload"]


@grouped
def compile_workload(
    *,
    asked: Annotated[Asked, Group(asked)],
    print_after: Annotated[
        str | None, typer.Option(metavar="PASS", help=f"{', '.join(FORMS)}, or {ALL}.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = STANDARD_OUTPUT,
    compiling: Annotated[Compiling, Group(compiling)],
    target: Annotated[Target, Group(planned_target)],
) -> None:
    """Show a workload after a pass of the compiler; or compile a plan that was edited."""
    options = RunOptions(
        workload=asked.workload,
        details=asked.details(),
        target=target,
        compiling=compiling,
        told=Told(command_line=command_line()),
    )
    if print_after is not None and print_after not in (*FORMS, ALL):
        near = did_you_mean(print_after, (*FORMS, ALL))
        raise InputError(f"--print-after {print_after}: there are {', '.join((*FORMS, ALL))}{near}")
    compiling.given.check()
    check_destination(output)
    with progress_bar() as tell:
        content = _content(options, print_after, tell)
    write_file(output, content)


def _content(options: RunOptions, print_after: str | None, tell: Progress) -> str:
    """What is written of the graphs of a workload."""
    compiling, timing, config = options.compiling, options.target.timing, options.target.config
    graphs = graphs_of_workload(options, tell)
    if compiling.optimize:
        graphs = tuple(rewritten(graph, config, timing, tell) for graph in graphs)
    legal = compiling.given.of(graphs, config, timing)
    if print_after == "graph":
        return "".join(print_graph(short_scales(graph, config)) for graph in graphs)
    compiled = []
    for graph in graphs:
        tell(compiling_text(graph, config), None)
        compiled.append(
            compile_forms(graph, config, timing, legal, reuse_memory=compiling.reuse_memory)
        )
    return "\n".join(_shown(each, print_after) for each in compiled)


def _shown(compiled: Compilation, wanted: str | None) -> str:
    if wanted is not None:
        return compiled.text(wanted)
    head = f"{compiled.name}: {counted(compiled.commands, 'command')}, "
    head += f"{counted(compiled.cycles, 'cycle')} expected\n"
    head += "" if compiled.memory is None else f"{memory_line(compiled.memory)}\n"
    return head if compiled.rounded is None else f"{head}{rounded_line(compiled.rounded)}\n"
