"""`celosia prune`: a model with fewer channels and heads, and what that costs and gains."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.prune.costs import Machine
from celosia.lab.prune.language import Language
from celosia.lab.prune.part import CRITERIA, Criterion
from celosia.lab.prune.pruned import Model, Narrower, Wanted
from celosia.lab.prune.published import Published
from celosia.lab.prune.random_decoder import RandomDecoder
from celosia.lab.prune.share import parse_share
from celosia.sim.command.options.common import LatencyOption, PresetOption, RateOption, SetOption
from celosia.sim.command.options.groups import Group, grouped
from celosia.sim.command.options.language import language_errors
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.decoder_workload import DECODERS
from celosia.sw.reference.language.model_file import model_folder
from celosia.sw.reference.published import MissingModelError

__all__ = ["prune"]

_MINILM = "minilm"


def _machine(
    *,
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
) -> Machine:
    """What cycles are predicted for."""
    timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
    return Machine(resolve_config(preset or "base", overrides or ()), timing)


@grouped
def prune(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="small, docs or the folder of a language model; minilm; gpt2-small, opt-125m or "
            "tinyllama, of which only cycles are predicted.",
        ),
    ],
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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The folder, or for minilm the plan, to write."
        ),
    ] = None,
    tokens: Annotated[
        int,
        typer.Option("--tokens", min=1, help="Held-out tokens that a language model is scored on."),
    ] = 8192,
    machine: Annotated[Machine, Group(_machine)],
) -> None:
    """Remove hidden channels and heads of a model, and show what that costs and gains.

    Nothing is trained. Cycles and bytes are predicted; `celosia run` and `generate` measure them.
    """
    names: list[Criterion] = [
        _criterion(name) for name in dict.fromkeys(criteria or ["activation"])
    ]
    if ffn is None and heads is None:
        raise InputError("prune: nothing to remove: give --ffn, --heads or both")
    if output is not None and len(names) > 1:
        raise InputError(f"-o {output}: one model is written: give one --criterion")
    each = [
        Wanted(
            criterion=name,
            ffn=None if ffn is None else parse_share("--ffn", ffn, numbers=False),
            heads=None if heads is None else parse_share("--heads", heads, numbers=True),
            dim=machine.config.dim,
            repair=repair,
        )
        for name in names
    ]
    with language_errors(), progress_bar() as tell:
        found = _model(model, machine, tokens, tell)
        for name in names:
            if name not in found.criteria:
                known = ", ".join(found.criteria)
                raise InputError(f"--criterion {name}: {found.reason}; there are {known}")
        if output is not None:
            found.check_output(output)
        before = found.as_it_was()
        lines = {_technique(wanted): found.pruned(wanted) for wanted in each}
        if output is not None:
            (line,) = lines.values()
            assert line.save is not None
            line.save(output)
    both = {"as it was": before, **lines}
    table_console(None).print(_qualities(found.measures, both), _costs(both))
    if output is not None:
        typer.echo(f"{output}: is written")


def _criterion(name: str) -> Criterion:
    """The criterion of this name.  Raises `InputError` if there is none."""
    for known in CRITERIA:
        if name == known:
            return known
    raise InputError(f"--criterion {name}: there are {', '.join(CRITERIA)}")


def _model(name: str, machine: Machine, tokens: int, tell: Progress) -> Model:
    """The model of this name.  Raises `InputError` and `LanguageError`."""
    if name in DECODERS:
        return RandomDecoder(name, DECODERS[name], machine)
    if Path(name).suffix == ".onnx":
        raise InputError(
            f"{name}: ONNX files are not pruned; there are small, docs, folders of such models, "
            f"{_MINILM}, and {', '.join(DECODERS)}"
        )
    if name != _MINILM:
        return Language(model_folder(name), machine, tokens, tell)
    try:
        return Published(machine, tell)
    except MissingModelError as error:
        raise InputError(str(error)) from None


def _technique(wanted: Wanted) -> str:
    parts = [each.option.removeprefix("--") for each in (wanted.ffn, wanted.heads) if each]
    return f"{', '.join(parts)}, {wanted.criterion}{'' if wanted.repair else ', no repair'}"


def _qualities(measures: Sequence[str], lines: dict[str, Narrower]) -> Table:
    """How much of each model is gone, and how good it is."""
    first = next(iter(lines.values()))
    table = Table("model")
    for name in ("removed", *measures):
        table.add_column(name, justify="right")
    for name, line in lines.items():
        table.add_row(name, f"{1 - line.weights / first.weights:.1%}", *line.quality)
    return table


def _costs(lines: dict[str, Narrower]) -> Table:
    """What is predicted of each model; gains are those over the first."""
    first = next(iter(lines.values()))
    table = Table("predicted")
    for name in ("cycles", "fewer", "bytes read"):
        table.add_column(name, justify="right")
    for what, before in first.costs.items():
        for name, line in lines.items():
            cost = line.costs[what]
            gain = before.cycles / cost.cycles
            cells = f"{cost.cycles:,}", f"{gain:.2f} x", f"{cost.read_bytes:,}"
            table.add_row(f"{what}, {name}", *cells)
    return table
