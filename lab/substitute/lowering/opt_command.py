"""`celosia opt`: rules on a graph by name, or a pipeline from a file to commands.

The text of what each pass leaves, and its meaning.
"""

from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.presets import resolve_config
from celosia.lab.substitute.graph_texts import (
    TEXT_SUFFIX,
    described,
    level_of,
    read_graph_file,
    text_of,
    write_graph_file,
)
from celosia.lab.substitute.lowering.follow import NAMED, ONNX, Asked, follow_pipeline
from celosia.lab.substitute.rules import RULES
from celosia.lab.substitute.run_passes import PassDone, rules_of, run_passes
from celosia.sim.command.options.common import PresetOption, SetOption
from celosia.sim.command.options.model import InputOption, SizesOption
from celosia.sim.support.guard import WRONG
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import import_file, parse_sizes
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.ir.graph import Graph
from celosia.sw.models.lowering.print import AnyLevel

__all__ = ["opt"]


def opt(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=f"FILE.mlir, constants in FILE.npz; an .onnx; or {', '.join(NAMED)}.",
        ),
    ],
    *,
    passes: Annotated[
        str, typer.Option(metavar="NAME,NAME", help=f"In this order: {', '.join(RULES)}.")
    ] = "",
    pipeline: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME{ARGUMENT=VALUE}",
            help="From a file to commands: import, recognize, quantize{calibrate=C.npz}, decide, "
            "expand, schedule, lower, with rules between them.",
        ),
    ] = "",
    print_between: Annotated[
        bool, typer.Option("--print-between", help="The graph's text behind each pass.")
    ] = False,
    interpret: Annotated[
        bool,
        typer.Option("--interpret", help="Compare what each pass leaves with what was before it."),
    ] = False,
    inputs: InputOption = None,
    sizes: SizesOption = None,
    preset: PresetOption = None,
    overrides: SetOption = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE.mlir", help="- is standard output."),
    ] = STANDARD_OUTPUT,
) -> None:
    """Take a graph through passes: rules that are proved by numbers, and all levels to commands."""
    _check_output(output)
    if pipeline:
        if passes:
            raise InputError("--passes: not with --pipeline, which has rules among its passes")
        said = preset is not None or overrides
        config = resolve_config(preset or "base", overrides or ()) if said else None
        asked = Asked(file, parse_sizes(sizes or ()), config, inputs)
        value, wrong = follow_pipeline(asked, pipeline, text=print_between, interpret=interpret)
    else:
        for name, given in (("--input", inputs), ("--preset", preset), ("--set", overrides)):
            if given is not None:
                raise InputError(f"{name}: only with --pipeline")
        value, wrong = _rewritten(file, passes, sizes, text=print_between, interpret=interpret)
    if output != STANDARD_OUTPUT:
        write_graph_file(value, Path(output))
    elif not print_between:
        typer.echo(text_of(value), nl=False)
    if wrong:
        raise typer.Exit(WRONG)


def _check_output(output: str) -> None:
    """Raise `InputError` for a file that has another name or cannot be written."""
    check_destination(output)
    if output != STANDARD_OUTPUT:
        if Path(output).suffix != TEXT_SUFFIX:
            raise InputError(f"-o {output}: the name of a graph's text ends with {TEXT_SUFFIX}")
        check_destination(Path(output).with_suffix(".npz"))


def _rewritten(
    file: str, passes: str, sizes: list[str] | None, *, text: bool, interpret: bool
) -> tuple[AnyLevel, bool]:
    """The graph behind rules, and whether one has changed its meaning."""
    value = NAMED[file]() if file in NAMED else _read(Path(file), sizes)
    names = [name for name in passes.split(",") if name]
    if not isinstance(value, FloatGraph | Graph):
        if not names:
            return value, False
        raise InputError(
            f"{file}: --passes: rules are for a graph of nn or cel, not {described(value)}"
        )
    try:
        rules = rules_of(names, level_of(value))
    except ValueError as error:
        raise InputError(f"--passes: {error}") from None
    wrong = False
    for done in run_passes(value, rules, interpret=interpret):
        value = done.graph
        wrong = wrong or done.difference is not None
        _show(done, text=text, interpret=interpret)
    return value, wrong


def _read(file: Path, sizes: list[str] | None) -> AnyLevel:
    if file.suffix == ONNX:
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
