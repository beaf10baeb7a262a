"""`celosia opt`: rules on a graph by name, with its text and its meaning behind each."""

from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.lab.graphs.rewritable import REWRITABLE, SMALL
from celosia.lab.substitute.graph_texts import (
    TEXT_SUFFIX,
    AnyGraph,
    level_of,
    read_graph_file,
    text_of,
    write_graph_file,
)
from celosia.lab.substitute.rules import RULES
from celosia.lab.substitute.run_passes import PassDone, rules_of, run_passes
from celosia.sim.command.options.model import SizesOption
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import import_file, parse_sizes

__all__ = ["opt"]

_NAMED: Final = {**REWRITABLE, **SMALL}
"""Graphs that come with Celosia."""


def opt(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=f"FILE.mlir, constants in FILE.npz; an .onnx; or {', '.join(_NAMED)}.",
        ),
    ],
    *,
    passes: Annotated[
        str, typer.Option(metavar="NAME,NAME", help=f"In this order: {', '.join(RULES)}.")
    ] = "",
    print_between: Annotated[
        bool, typer.Option("--print-between", help="The graph's text behind each pass.")
    ] = False,
    interpret: Annotated[
        bool,
        typer.Option("--interpret", help="Compare what each pass leaves with what was before it."),
    ] = False,
    sizes: SizesOption = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE.mlir", help="- is standard output."),
    ] = STANDARD_OUTPUT,
) -> None:
    """Rewrite a graph by rules, each proved by numbers: recognizers and substitutions."""
    check_destination(output)
    if output != STANDARD_OUTPUT:
        if Path(output).suffix != TEXT_SUFFIX:
            raise InputError(f"-o {output}: the name of a graph's text ends with {TEXT_SUFFIX}")
        check_destination(Path(output).with_suffix(".npz"))
    graph = _NAMED[file]() if file in _NAMED else _read(Path(file), sizes)
    try:
        rules = rules_of([name for name in passes.split(",") if name], level_of(graph))
    except ValueError as error:
        raise InputError(f"--passes: {error}") from None
    wrong = False
    for done in run_passes(graph, rules, interpret=interpret):
        graph = done.graph
        wrong = wrong or done.difference is not None
        _show(done, text=print_between, interpret=interpret)
    if output != STANDARD_OUTPUT:
        write_graph_file(graph, Path(output))
    elif not print_between:
        typer.echo(text_of(graph), nl=False)
    if wrong:
        raise typer.Exit(WRONG)


def _read(file: Path, sizes: list[str] | None) -> AnyGraph:
    if file.suffix == ".onnx":
        return import_file(file, parse_sizes(sizes or ())).imported.graph
    if sizes:
        raise InputError(f"--dim: only for an .onnx, not {file}")
    return read_graph_file(file)


def _show(done: PassDone, *, text: bool, interpret: bool) -> None:
    """What a pass did, as comments of the text, and the text."""
    typer.echo(f"// {done.name}: {len(done.replaced)} replaced")
    for refusal in done.refusals:
        typer.echo(f"//   {refusal}")
    if interpret:
        typer.echo(f"//   {done.difference or 'it means the same'}")
    if text:
        typer.echo(text_of(done.graph), nl=False)
