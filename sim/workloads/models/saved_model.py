"""Models that `celosia build` has saved: all that a run needs, but neither onnx nor the file."""

from importlib import metadata
from pathlib import Path
from typing import BinaryIO, Final

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.placement_document import placement_document, read_placement
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sw.quantize.graphs.files.plan_file import load_model_plan, save_model_plan
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError

__all__ = ["SAVED_SUFFIX", "load_prepared", "save_prepared"]

SAVED_SUFFIX: Final = ".plan"
"""What the name of a saved model's file ends with."""


def save_prepared(prepared: Prepared, file: BinaryIO) -> None:
    """Write a prepared model, with what was decided for it."""
    decided = prepared.decided
    setting = {
        "celosia": metadata.version("celosia"),
        "decided": None if decided is None else decided.document(),
        "placement": placement_document(prepared.placement),
        "notes": list(prepared.notes),
        "ranges": {name: list(ends) for name, ends in prepared.ranges.items()},
    }
    save_model_plan(prepared.model, setting, file)


def load_prepared(path: Path) -> Prepared:
    """The model in a file.  Raises `InputError` for what is no plan, or one of another version."""
    try:
        model, setting = load_model_plan(path)
        placement = read_placement(setting["placement"])
        found = setting["decided"]
        decided = None if found is None else Decided.read(found)
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
    if decided is not None and len(decided.plans) != len(model.segments):
        raise InputError(f"{path}: is no whole plan: it has {len(decided.plans)} plans of segments")
    return Prepared(model, placement, notes, ranges=ranges, decided=decided)
