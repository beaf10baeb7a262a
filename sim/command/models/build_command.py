"""`celosia build`: a model as a file that runs without the one that it was made from."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.options.common import LatencyOption, PresetOption, RateOption, SetOption
from celosia.sim.command.options.model import CalibrateOption, ClipOption, FixedOption, SizesOption
from celosia.sim.command.outputs.plan_report import planned_program
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, open_atomically
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.prepare import (
    ModelRun,
    Prepared,
    parse_fixed,
    parse_sizes,
    prepare,
)
from celosia.sim.workloads.models.saved_model import SAVED_SUFFIX, save_prepared
from celosia.sim.workloads.quantized import published_model
from celosia.sw.quantize.encoders.encoder_file import save_encoder
from celosia.sw.quantize.ranges import Clip

__all__ = ["build"]

_PUBLISHED: Final = "minilm"


def build(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL.onnx|minilm",
            help="An ONNX file, or the published MiniLM for any texts.",
        ),
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL.plan", help="The file to write.")
    ],
    sizes: SizesOption = None,
    fixed: FixedOption = None,
    calibration: CalibrateOption = None,
    clip: ClipOption = "error",
    preset: PresetOption = None,
    overrides: SetOption = None,
    latency: LatencyOption = MemoryTiming.latency,
    rate: RateOption = MemoryTiming.bytes_per_cycle,
) -> None:
    """Quantize a model, and save all that `celosia run MODEL.plan` needs.

    Its plans are decided for this configuration and memory; on others, a run decides anew.
    An encoder's plan, such as that of `minilm`, is for `celosia run encoder --model MODEL.plan`.
    """
    if output.suffix != SAVED_SUFFIX:
        raise InputError(f"-o {output}: the name of a plan ends with {SAVED_SUFFIX}")
    check_destination(output)
    if str(model) == _PUBLISHED:
        given = {"dim": sizes, "set-input": fixed, "calibrate": calibration}
        _check_published(given | {"preset": preset, "set": overrides})
        _build_published(output, clip)
        return
    config = resolve_config(preset or "base", overrides or ())
    timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
    job = ModelRun(
        model, parse_sizes(sizes or ()), calibration, clip, fixed=parse_fixed(fixed or ())
    )
    with progress_bar() as tell:
        prepared = prepare(job, 0, tell)
        tell("comparing programs", None)
        prepared = replace(prepared, decided=_decided(prepared, config, timing))
    with open_atomically(output) as file:
        save_prepared(prepared, file)
    console = table_console(None)
    for note in prepared.notes:
        console.print(f"note: {note}", markup=False)
    console.print(
        f"{output}: {counted(len(prepared.model.segments), 'segment')}, "
        f"{counted(output.stat().st_size, 'byte')}; "
        f"{prepared.placement.accelerator_mac_share:.2%} of its multiply-accumulates are the "
        "accelerator's",
        markup=False,
    )


def _decided(prepared: Prepared, config: AcceleratorConfig, timing: MemoryTiming) -> Decided:
    """The plans of all segments.  Raises `InputError` for what the accelerator cannot do."""
    try:
        found = [planned_program(each.graph, config, timing) for each in prepared.model.segments]
    except ValueError as error:
        raise InputError(str(error)) from None
    return Decided.on(config, timing, [each.plan for each in found])


def _check_published(given: Mapping[str, object]) -> None:
    """Raise `InputError` for an option that the published model does not have."""
    for name, value in given.items():
        if value:
            raise InputError(
                f"--{name}: not with {_PUBLISHED}, whose plan is for texts of any lengths and for "
                "any configuration, calibrated on the project's texts"
            )


def _build_published(output: Path, clip: Clip) -> None:
    with progress_bar() as tell:
        model = published_model(tell, clip)
    with open_atomically(output) as file:
        save_encoder(model, file)
    table_console(None).print(
        f"{output}: an encoder of {model.shape}, {counted(output.stat().st_size, 'byte')}",
        markup=False,
    )
