"""`celosia check`: what the compiler makes of a model that another tool has written."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.sim.command.options.common import JsonOption
from celosia.sim.run.models.model_document import placement_document
from celosia.sim.run.report import as_json, versions
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import import_extra
from celosia.sim.support.guard import BAD_INPUT, guarded
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.graph import split_origin
from celosia.sw.frontend.nn.text import print_float_graph
from celosia.sw.frontend.placement.placement import Placement
from celosia.sw.frontend.placement.rules import Where
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.true_placement import place_units

if TYPE_CHECKING:
    from celosia.sw.frontend.importer.import_model import Imported
    from celosia.sw.frontend.importer.survey import Survey

__all__ = ["CHECK_SCHEMA", "check", "parse_sizes"]

CHECK_SCHEMA: Final = "celosia.check/1"


@guarded
def check(
    model: Annotated[Path, typer.Argument(metavar="MODEL.onnx")],
    *,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--dim",
            metavar="NAME=N",
            help="A size of the inputs that has a name, or INPUT.AXIS=N of one that has none.",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="FILE.mlir", help="Write the float graph; - is standard output."),
    ] = None,
    recognized: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.mlir", help="Write the float graph of what was recognized in it."
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Show where each node of an ONNX model runs, and why, where the accelerator does not."""
    for path in (json, text, recognized):
        check_destination(path)
    bound = parse_sizes(sizes or ())
    importer = import_extra("celosia.sw.frontend.importer.import_model", "onnx")
    surveyor = import_extra("celosia.sw.frontend.importer.survey", "onnx")
    with progress_bar() as tell:
        tell(f"importing {model}", None)
        imported = importer.examine(model, bound)
        found = surveyor.survey(imported)
        tell("recognizing operators", None)
        recognized_model = None if imported.lost else recognize(imported.graph)
    placement = recognized_model and place_units(
        imported.graph, recognized_model, find_units(recognized_model.graph)
    )
    texts = STANDARD_OUTPUT in {text, recognized}
    console = table_console(STANDARD_OUTPUT if texts else json)
    _show(console, imported, found, placement)
    if recognized_model is not None:
        for refusal in recognized_model.refusals:
            console.print(f"note: {refusal}", markup=False)
        if recognized:
            write_file(recognized, print_float_graph(recognized_model.graph))
    if text:
        write_file(text, print_float_graph(imported.graph))
    if json:
        faults = () if recognized_model is None else recognized_model.faults
        document = _document(str(model), bound, imported, found, placement)
        document["notes"] += faults
        write_file(json, as_json(document))
    if imported.lost:
        raise typer.Exit(BAD_INPUT)


def parse_sizes(texts: list[str] | tuple[()]) -> dict[str, int]:
    """The sizes that ``NAME=N`` bind.  Raises `InputError`."""
    found: dict[str, int] = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not size.isascii() or not size.isdigit() or len(size) > 18:
            raise InputError(f"--dim {text}: is not NAME=N with a whole number")
        if found.setdefault(name, int(size)) != int(size):
            raise InputError(f"--dim {text}: {name} is {found[name]} already")
    return found


def _show(
    console: Console, imported: "Imported", found: "Survey", placement: Placement | None
) -> None:
    table = Table(caption=_caption(found, placement), caption_justify="left")
    for name, justify in (("node", "left"), ("operator", "left"), ("MACs", "right")):
        table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
    table.add_column("share", justify="right")
    for name in ("float graph", "where", "why"):
        table.add_column(name)
    places = _places(placement)
    for row in found.rows:
        share = f"{row.macs / found.macs:.2%}" if row.macs else ""
        made = ", ".join(f"{op} x{n}" if n > 1 else op for op, n in Counter(row.made).items())
        macs = f"{row.macs:,}" if row.macs else ""
        where, why = places.get((row.name, row.operator), ("", row.reason))
        style = "red" if row.reason else "yellow" if where == Where.HOST else None
        cells = (row.name, row.operator, macs, share, made, where, why)
        table.add_row(*map(escape, cells), style=style)
    console.print(table)
    for note in imported.notes:
        console.print(f"note: {note}", markup=False)
    for name, reason in imported.lost.items():
        console.print(f"output {name} cannot be computed: {reason}", markup=False)


def _places(placement: Placement | None) -> dict[tuple[str, str], tuple[str, str]]:
    """Where nodes run, and why, by their names and operators."""
    nodes = () if placement is None else placement.nodes
    return {split_origin(node.origin): (node.where, node.reason) for node in nodes}


def _caption(found: "Survey", placement: Placement | None) -> str:
    text = (
        f"{found.nodes:,} nodes in the file, {len(found.rows) - found.refused:,} behind folding, "
        f"{found.refused:,} not supported; {found.macs:,} multiply-accumulates"
    )
    if placement is None:
        return text
    share = f"{placement.accelerator_mac_share:.2%} of them on the accelerator"
    reasons = placement.on_host()
    listed = "; ".join(f"{count} as {reason}" for reason, count in reasons.most_common())
    host = f"{reasons.total():,} nodes on the host: {listed}" if reasons else "no node on the host"
    return f"{text}, {share}\n{host}"


def _document(
    model: str,
    sizes: dict[str, int],
    imported: "Imported",
    found: "Survey",
    placement: Placement | None,
) -> dict[str, Any]:
    return {
        "schema": CHECK_SCHEMA,
        "versions": versions(),
        "model": model,
        "sizes": sizes,
        "notes": list(imported.notes),
        "macs": found.macs,
        "nodes": [
            {
                "name": row.name,
                "operator": row.operator,
                "float_operators": list(row.made),
                "macs": row.macs,
                "reason": row.reason,
            }
            for row in found.rows
        ],
        "lost_outputs": dict(imported.lost),
        "placement": None if placement is None else placement_document(placement),
    }
