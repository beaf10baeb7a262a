"""`celosia compile`: what each pass of the compiler makes of a workload, and edited plans."""

from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.config import did_you_mean
from celosia.isa.documents.svg import Drawing, beneath
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.run_options import Asked, asked, compiling, planned_target
from celosia.sim.command.outputs.graph_tables import memory_line, rounded_line
from celosia.sim.run import compiled_forms
from celosia.sim.run.compiled_forms import ALL, FORMS
from celosia.sim.run.estimate import compiling_text
from celosia.sim.run.graph_run import compile_for
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told
from celosia.sim.support.display import progress_bar
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import command_line, counted
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.rounded_scales import rounded_scales

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
    draw: Annotated[
        str | None,
        typer.Option(metavar="FILE.svg", help="Draw graphs, plans, memories."),
    ] = None,
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
    _check_drawing(draw, output)
    with progress_bar() as tell:
        content, drawings = _content(options, print_after, tell, draw is not None)
    if draw is not None:
        write_file(draw, str(beneath(drawings)))
    write_file(output, content)


def _content(
    options: RunOptions, print_after: str | None, tell: Progress, draw: bool
) -> tuple[str, list[Drawing]]:
    """What is written of the graphs of a workload, and what is drawn if anything is."""
    timing, config = options.target.timing, options.target.config
    job, shown, drawings = options.job(tell), [], []
    for graph, plan in zip(job.graphs, options.plans(job), strict=True):
        how = Decide(plan), options.encode
        tell(compiling_text(graph, config), None)
        if print_after is None or draw:
            compiled = compile_for(graph, config, timing, *how)
            drawings += [compiled.drawing] if draw else []
            shown += [_summary(graph, compiled)] if print_after is None else []
        if print_after is not None:
            shown.append(compiled_forms.print_after(print_after, graph, config, timing, *how))
    return "\n".join(shown), drawings


def _check_drawing(draw: str | None, output: str) -> None:
    """Raise `InputError` or `OutputError` for a drawing that could not be written at the end."""
    if draw is None:
        return
    if Path(draw).suffix != ".svg":
        raise InputError(f"--draw {draw}: a drawing is a file whose name ends in .svg")
    if output != STANDARD_OUTPUT and Path(draw).resolve() == Path(output).resolve():
        raise InputError(f"--draw {draw}: --output writes there, too")
    check_destination(draw)


def _summary(graph: Graph, compiled: CompiledGraph) -> str:
    cycles = compiled.expected(compiled.timing).cycles
    text = f"{graph.name}: {counted(len(compiled.program), 'command')}, "
    text += f"{counted(cycles, 'cycle')} expected\n"
    text += "" if compiled.memory is None else f"{memory_line(compiled.memory)}\n"
    rounded = rounded_scales([graph], compiled.config)
    return text if rounded is None else f"{text}{rounded_line(rounded)}\n"
