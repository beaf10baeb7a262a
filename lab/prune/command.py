"""`celosia prune`: a model with fewer channels and heads, and what that costs and gains."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.prune.costs import Machine, Meter
from celosia.lab.prune.file_options import FileOptions, file_options
from celosia.lab.prune.language import Language
from celosia.lab.prune.parts.part import CRITERIA, Criterion
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.parts.tokens import parse_drops
from celosia.lab.prune.pruned import Model, Wanted
from celosia.lab.prune.published import Published
from celosia.lab.prune.random_decoder import RandomDecoder
from celosia.lab.prune.report import Pruning, pruned_model, tables
from celosia.sim.command.options.common import (
    JsonOption,
    LatencyOption,
    PresetOption,
    RateOption,
    SetOption,
)
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.language import language_errors
from celosia.sim.run.origin import write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.extras import import_extra
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.decoder_workload import DECODERS
from celosia.sw.reference.language.model_file import model_folder
from celosia.sw.reference.published import MissingModelError

__all__ = ["machine_options", "prune"]

_MINILM = "minilm"


def machine_options(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
) -> Machine:
    """What cycles are those of."""
    timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
    return Machine(resolve_config(preset or "base", overrides or ()), timing)


def _meter(
    *,
    machine: Annotated[Machine, Group(machine_options)],
    rtl: Annotated[
        bool, typer.Option("--rtl", help="Also run each model on the RTL, every tensor compared.")
    ] = False,
) -> Meter:
    return Meter(machine, rtl)


def _asked(
    *,
    ffn: Annotated[
        str | None,
        typer.Option("--ffn", metavar="P%", help="Hidden channels to remove of each layer."),
    ] = None,
    heads: Annotated[
        str | None,
        typer.Option(
            "--heads",
            metavar="N|P%",
            help="Heads to remove of each layer; those that share keys go together.",
        ),
    ] = None,
    tiles: Annotated[
        str | None,
        typer.Option(
            "--tiles",
            metavar="P%",
            help="Tiles of weights to make zero in each matrix, alone; what skipping them would "
            "gain is shown at best.",
        ),
    ] = None,
    drops: Annotated[
        str | None,
        typer.Option(
            "--drop-tokens",
            metavar="P%@LAYER,...",
            help="Tokens to remove of each text behind layers of minilm.",
        ),
    ] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            metavar="NAME",
            help=f"What tells what to keep, {', '.join(CRITERIA)}; several are compared. Default: "
            "activation.",
        ),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair/--no-repair", help="Fit what is left to what was, by least squares."
        ),
    ] = True,
    recover: Annotated[
        int,
        typer.Option(
            "--recover",
            metavar="STEPS",
            min=0,
            help="Then train a language model for so many steps (extra training).",
        ),
    ] = 0,
    lasso: Annotated[
        int,
        typer.Option(
            "--lasso",
            metavar="STEPS",
            min=0,
            help="Before --tiles, train a language model for so many steps, in which a group "
            "lasso makes the least tiles small (extra training).",
        ),
    ] = 0,
) -> Sequence[Wanted]:
    """What is removed, by each criterion; widths are no multiples of anything yet."""
    names: list[Criterion] = [
        _criterion(name) for name in dict.fromkeys(criteria or ["activation"])
    ]
    if not (ffn or heads or tiles or drops):
        raise InputError(
            "prune: nothing to remove: give --ffn, --heads or both, --tiles, or --drop-tokens"
        )
    if tiles and (ffn or heads):
        raise InputError("--tiles: is measured alone, without --ffn and --heads")
    if lasso and not tiles:
        raise InputError(f"--lasso {lasso}: makes tiles small; give --tiles P%")
    return [
        Wanted(
            criterion=name,
            ffn=None if ffn is None else parse_share("--ffn", ffn, numbers=False),
            heads=None if heads is None else parse_share("--heads", heads, numbers=True),
            tiles=None if tiles is None else parse_share("--tiles", tiles, numbers=False),
            drops=() if drops is None else parse_drops("--drop-tokens", drops),
            repair=repair,
            lasso=lasso,
            recovery=recover,
        )
        for name in names
    ]


@grouped
def prune(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="small, docs or the folder of a language model; minilm; MODEL.onnx; gpt2-small, "
            "opt-125m or tinyllama, of which only cycles are predicted.",
        ),
    ],
    *,
    asked: Annotated[Sequence[Wanted], Group(_asked)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The folder to write; for minilm the plan, for an ONNX file another one.",
        ),
    ] = None,
    tokens: Annotated[
        int,
        typer.Option("--tokens", min=1, help="Held-out tokens that a language model is scored on."),
    ] = 8192,
    meter: Annotated[Meter, Group(_meter)],
    file: Annotated[FileOptions, Group(file_options)],
    json: JsonOption = None,
) -> None:
    """Remove channels, heads, tiles or tokens of a model, and show what that costs and gains.

    Nothing is trained without --recover or --lasso. Cycles and bytes are predicted; --rtl measures
    cycles.
    """
    _check_written(output, asked)
    asked = [replace(each, dim=meter.machine.config.dim) for each in asked]
    check_destination(json)
    with language_errors(), progress_bar() as tell:
        found = _model(model, file, replace(meter, tell=tell), tokens, tell)
        for wanted in asked:
            if wanted.criterion not in found.criteria:
                known = ", ".join(found.criteria)
                raise InputError(
                    f"--criterion {wanted.criterion}: {found.reason}; there are {known}"
                )
        if output is not None:
            found.check_output(output)
        for wanted in asked:
            found.check(wanted)
        if option := asked[0].trained_by:
            found.check_trained(option)
        before = found.as_it_was()
        lines = [(wanted, found.pruned(wanted)) for wanted in asked]
        if output is not None:
            ((_, line),) = lines
            assert line.save is not None
            line.save(output)
    models = [pruned_model(before, line, wanted) for wanted, line in [(None, before), *lines]]
    console = table_console(json)
    console.print(*tables(models))
    for note in dict.fromkeys(note for _, line in lines for note in line.notes):
        console.print(note, markup=False, soft_wrap=True)
    if output is not None:
        console.print(f"{output}: is written", markup=False, soft_wrap=True)
    machine = meter.machine
    pruning = Pruning(model=model, config=machine.config, memory=machine.timing, models=models)
    write_document(json, pruning)


def _check_written(output: Path | None, asked: Sequence[Wanted]) -> None:
    """Raise `InputError` if what is asked for is not one model that can be written."""
    if output is not None and asked[0].drops:
        raise InputError(f"-o {output}: what --drop-tokens does is measured and not written")
    if output is not None and len(asked) > 1:
        raise InputError(f"-o {output}: one model is written: give one --criterion")


def _criterion(name: str) -> Criterion:
    """The criterion of this name.  Raises `InputError` if there is none."""
    for known in CRITERIA:
        if name == known:
            return known
    raise InputError(f"--criterion {name}: there are {', '.join(CRITERIA)}")


def _model(name: str, file: FileOptions, meter: Meter, tokens: int, tell: Progress) -> Model:
    """The model of this name.  Raises `InputError`, `ImportProblem` and `LanguageError`."""
    if Path(name).suffix == ".onnx":
        files = import_extra("celosia.lab.prune.files.model", "onnx")
        return files.FileModel(Path(name), file, meter, tell)
    file.check_none(name)
    if name in DECODERS:
        return RandomDecoder(name, DECODERS[name], meter)
    if name != _MINILM:
        return Language(model_folder(name), meter, tokens, tell)
    try:
        return Published(meter, tell)
    except MissingModelError as error:
        raise InputError(str(error)) from None
