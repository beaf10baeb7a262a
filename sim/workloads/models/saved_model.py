"""Models that `celosia build` has saved: all that a run needs, but neither onnx nor the file."""

from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.placement_document import placement_document, read_placement
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sw.quantize.graphs.files.plan_file import load_model_plan, save_model_plan
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError

__all__ = ["SAVED_SUFFIX", "load_prepared", "save_prepared"]

SAVED_SUFFIX: Final = ".plan"
"""What the name of a saved model's file ends with."""


def save_prepared(prepared: Prepared, config: AcceleratorConfig, file: BinaryIO) -> None:
    """Write a model that was prepared for `config`."""
    setting = {
        "celosia": metadata.version("celosia"),
        "config": asdict(config),
        "placement": placement_document(prepared.placement),
        "notes": list(prepared.notes),
        "ranges": {name: list(ends) for name, ends in prepared.ranges.items()},
    }
    save_model_plan(prepared.model, setting, file)


def load_prepared(path: Path, config: AcceleratorConfig) -> Prepared:
    """The model in a file.

    Raises `InputError` for what is no plan, or one of another version or configuration.
    """
    try:
        model, setting = load_model_plan(path)
        placement = read_placement(setting["placement"])
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
    if version != (here := metadata.version("celosia")):
        raise InputError(f"{path}: is of celosia {version}, this is {here}: build it anew")
    for name, value in asdict(config).items():
        found = built.get(name)
        if found != value:
            raise InputError(f"{path}: is for a configuration with {name} = {found}, not {value}")
    return Prepared(model, placement, notes, ranges=ranges)
