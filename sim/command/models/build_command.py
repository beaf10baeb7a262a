"""`celosia build`: a model as a file that runs without the one that it was made from."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from celosia.isa.presets import resolve_config
from celosia.sim.command.models.check_command import parse_fixed, parse_sizes
from celosia.sim.command.options.common import PresetOption, SetOption
from celosia.sim.command.options.model import CalibrateOption, ClipOption, FixedOption, SizesOption
from celosia.sim.run.models.model_document import placement_document
from celosia.sim.run.models.model_run import ModelRun, Prepared, prepare
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.report import versions
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination, open_atomically
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted
from celosia.sim.workloads.quantized import published_model
from celosia.sw.quantize.encoders.encoder_file import save_encoder
from celosia.sw.quantize.graphs.files.plan_file import load_model_plan, save_model_plan
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where

__all__ = ["PLAN_SUFFIX", "build", "read_plan"]

PLAN_SUFFIX: Final = ".plan"
"""What the name of a plan's file ends with."""
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
) -> None:
    """Quantize a model, and save all that `celosia run MODEL.plan` needs.

    An encoder's plan, such as that of `minilm`, is for `celosia run encoder --model MODEL.plan`.
    """
    if output.suffix != PLAN_SUFFIX:
        raise InputError(f"-o {output}: the name of a plan ends with {PLAN_SUFFIX}")
    check_destination(output)
    if str(model) == _PUBLISHED:
        given = {"dim": sizes, "set-input": fixed, "calibrate": calibration}
        _check_published(given | {"preset": preset, "set": overrides})
        _build_published(output, clip)
        return
    config = resolve_config(preset or "base", overrides or ())
    job = ModelRun(
        model, parse_sizes(sizes or ()), calibration, clip, fixed=parse_fixed(fixed or ())
    )
    with progress_bar() as tell:
        prepared = prepare(job, 0, tell)
    setting = {
        "celosia": versions()["celosia"],
        "config": asdict(config),
        "placement": placement_document(prepared.placement),
        "notes": list(prepared.notes),
        "ranges": {name: list(ends) for name, ends in prepared.ranges.items()},
    }
    with open_atomically(output) as file:
        save_model_plan(prepared.model, setting, file)
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


def read_plan(path: Path, options: RunOptions) -> Prepared:
    """The model in a plan.

    Raises `InputError` for what is no plan, or one of another version or configuration.
    """
    try:
        model, setting = load_model_plan(path)
        placement = _placement(setting["placement"])
        built = dict(setting["config"])
        notes = tuple(map(str, setting["notes"]))
        ranges = {
            str(name): (float(low), float(high)) for name, (low, high) in setting["ranges"].items()
        }
        version = setting["celosia"]
    except PlanFileError as error:
        raise InputError(str(error)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is no whole plan: {error}") from None
    if version != versions()["celosia"]:
        raise InputError(
            f"{path}: is of celosia {version}, this is {versions()['celosia']}: build it anew"
        )
    config = asdict(options.target.config)
    for name, value in config.items():
        found = built.get(name)
        if found != value:
            raise InputError(f"{path}: is for a configuration with {name} = {found}, not {value}")
    return Prepared(model, placement, notes, ranges=ranges)


def _placement(found: dict[str, Any]) -> Placement:
    return Placement(
        tuple(
            PlacedNode(
                f"{node['name']} ({node['operator']})",
                Where(node["where"]),
                str(node["reason"]),
                int(node["macs"]),
            )
            for node in found["nodes"]
        )
    )
