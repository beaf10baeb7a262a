"""`celosia accuracy`: how far the catalog's models, MiniLM and curves are from float."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any, Final, Literal

import typer
from rich.table import Table

from celosia.isa.documents.record import Record
from celosia.lab.accuracy.models import (
    CurveAccuracy,
    ModelAccuracy,
    SentenceAccuracy,
    curve_accuracies,
    model_accuracy,
    sentence_accuracy,
)
from celosia.lab.accuracy.operands import OperandAccuracy, operand_accuracies
from celosia.lab.accuracy.shares import ShareAccuracy, share_accuracies
from celosia.sim.command.options.common import JsonOption
from celosia.sim.command.options.model import ClipOption
from celosia.sim.run.origin import Versions, versions, write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import import_extra
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.quantize.ranges import CLIPS, Clip

__all__ = ["Accuracies", "accuracy"]


@dataclass(frozen=True, kw_only=True)
class Accuracies(Record):
    """Distances to float."""

    schema: Literal["celosia.accuracy/1"] = "celosia.accuracy/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    rows: Sequence[
        ModelAccuracy | SentenceAccuracy | CurveAccuracy | ShareAccuracy | OperandAccuracy
    ]
    """The distance of each model, of the published MiniLM, of each curve, of a share of int4, or of
    a model with operands that are rounded in another way."""


_CURVES: Final = "curves"
_MINILM: Final = "minilm"


def accuracy(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Models of the catalog, minilm, curves; default: the catalog."
        ),
    ] = None,
    *,
    clip: ClipOption = "error",
    compare: Annotated[
        bool, typer.Option("--compare-clips", help="With each criterion of clipping.")
    ] = False,
    shares: Annotated[
        bool,
        typer.Option(
            "--int4-shares", help="minilm: over the share of its layers' weights that are int4."
        ),
    ] = False,
    operands: Annotated[
        bool,
        typer.Option("--operands", help="With operands of more than 8 bits, by their roundings."),
    ] = False,
    json: JsonOption = None,
) -> None:
    """Measure how far quantized models are from float, by the interpreter of integer graphs."""
    check_destination(json)
    exports = import_extra("celosia.lab.exports.catalog", "onnx").EXPORTS
    names = names or []
    for name in names:
        if name not in {*exports, _MINILM, _CURVES}:
            known = ", ".join((*exports, _MINILM, _CURVES))
            raise InputError(f"{name}: there is no such model; there are {known}")
    usual = clip == "error" and not compare
    if shares and operands:
        raise InputError("--operands: not together with --int4-shares")
    if shares and (names != [_MINILM] or not usual):
        raise InputError("--int4-shares: is of minilm alone, clipped by error")
    if operands and ({_MINILM, _CURVES} & {*names} or not usual):
        raise InputError("--operands: is of models of the catalog, clipped by error")
    lines: list[Any] = []
    with progress_bar() as tell:
        for name in names or exports:
            if shares or operands:
                lines += share_accuracies(tell) if shares else operand_accuracies(name, tell)
            else:
                lines += _lines(name, CLIPS if compare else (clip,), tell)
    console = table_console(json)
    for table in (
        _models([line for line in lines if isinstance(line, ModelAccuracy)]),
        _sentences([line for line in lines if isinstance(line, SentenceAccuracy)]),
        _curves([line for line in lines if isinstance(line, CurveAccuracy)]),
        _shares([line for line in lines if isinstance(line, ShareAccuracy)]),
        _operands([line for line in lines if isinstance(line, OperandAccuracy)]),
    ):
        if table.row_count:
            console.print(table)
    write_document(json, Accuracies(rows=lines))


def _lines(name: str, clips: Sequence[Clip], tell: Progress) -> Iterator[Any]:
    if name == _CURVES:
        yield from curve_accuracies()
        return
    for each in clips:
        tell(f"{name}, {each}", None)
        yield _measured(name, each, tell)


def _measured(name: str, clip: Clip, tell: Progress) -> ModelAccuracy | SentenceAccuracy:
    if name != _MINILM:
        return model_accuracy(name, clip, tell)
    # Loaded when it is asked for: nobody else needs the packages that read this model.
    published = import_module("celosia.sw.reference.published")
    try:
        return sentence_accuracy(clip, tell)
    except published.MissingModelError as error:
        raise InputError(str(error)) from None


def _models(lines: list[ModelAccuracy]) -> Table:
    table = _table("model", "clip", "SQNR", "exact functions", "worst input", "all channels")
    for line in lines:
        numbers = (line.sqnr_db, line.exact_sqnr_db, line.least_sqnr_db, line.whole_sqnr_db)
        table.add_row(line.model, line.clip, *(f"{number:.1f} dB" for number in numbers))
    return table


def _sentences(lines: list[SentenceAccuracy]) -> Table:
    table = _table("model", "clip", "sentences", "mean cosine", "least cosine")
    for line in lines:
        cosines = (f"{line.mean:.5f}", f"{line.least:.5f}")
        table.add_row(_MINILM, line.clip, str(line.sentences), *cosines)
    return table


def _curves(lines: list[CurveAccuracy]) -> Table:
    table = _table("curve", "computed by", "deviation", "SQNR")
    for line in lines:
        table.add_row(line.curve, line.computed, f"{line.spread:g}", f"{line.sqnr_db:.1f} dB")
    return table


def _shares(lines: list[ShareAccuracy]) -> Table:
    table = _table("in int4", "added", "products", "mean cosine", "least cosine")
    for line in lines:
        cosines = (f"{line.mean:.5f}", f"{line.least:.5f}")
        table.add_row(f"{line.share:.1%}", line.added, str(line.products), *cosines)
    return table


def _operands(lines: list[OperandAccuracy]) -> Table:
    table = _table("model", "operands of products with weights", "SQNR", "worst input")
    for line in lines:
        numbers = (line.sqnr_db, line.least_sqnr_db)
        table.add_row(line.model, line.operands, *(f"{number:.1f} dB" for number in numbers))
    return table


def _table(*columns: str) -> Table:
    table = Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < 2 else "right")
    return table
