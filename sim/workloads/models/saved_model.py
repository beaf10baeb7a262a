"""Models that `celosia build` has saved: all that a run needs, but neither onnx nor the file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, Final

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sim.workloads.models.read_placement import read_placement
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.graphs.files.model_file import LoadedModel, load_model, save_model
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError

__all__ = ["SAVED_SUFFIX", "chosen", "load_prepared", "save_prepared"]

SAVED_SUFFIX: Final = ".plan"
"""What the name of a saved model's file ends with."""


def save_prepared(profiles: Sequence[Prepared], file: BinaryIO) -> int:
    """Write a model that was prepared for each of some sizes, with what was decided for it.

    Returns how many bytes of it are programs, before they are packed.
    """
    calibrated = [each.calibrated for each in profiles if each.calibrated is not None]
    assert len(calibrated) == len(profiles), "a model that was rewritten is not saved"
    found, members = [], dict[str, bytes]()
    for number, prepared in enumerate(profiles):
        decided = None
        if prepared.decided is not None:
            decided, programs = prepared.decided.document(f"programs/{number}/")
            members |= programs
        found.append({
            "sizes": dict(prepared.sizes),
            "decided": decided,
            "placement": prepared.placement.document(),
            "notes": list(prepared.notes),
            "ranges": {name: list(ends) for name, ends in prepared.ranges.items()},
        })
    setting = {"celosia": metadata.version("celosia"), "profiles": found}
    whole = replace(calibrated[0], graphs=tuple(each.graphs[0] for each in calibrated))
    save_model(whole, setting, file, members)
    return sum(map(len, members.values()))


def load_prepared(path: Path) -> tuple[Prepared, ...]:
    """The model in a file, for each of the sizes that it has.

    Raises `InputError` for what is no saved model, or one of another version.
    """
    try:
        loaded = load_model(path)
        version, found = loaded.setting.get("celosia"), loaded.setting.get("profiles")
        if version is None or found is None:
            raise InputError(
                f"{path}: is an encoder that Python has saved: `celosia run encoder --model {path} "
                "--text TEXT` takes it"
            )
        if version != (here := metadata.version("celosia")):
            raise InputError(f"{path}: is of celosia {version}, this is {here}: build it anew")
        return tuple(
            _prepared(loaded, number, each)
            for number, each in zip(range(len(loaded.models)), found, strict=True)
        )
    except PlanFileError as error:
        raise InputError(str(error)) from None
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is no whole plan: {error}") from None


def _prepared(loaded: LoadedModel, number: int, found: Mapping[str, Any]) -> Prepared:
    """The model for some sizes.  Raises `KeyError`, `TypeError` or `ValueError`."""
    model, decided = loaded.models[number], None
    if found["decided"] is not None:
        decided = Decided.read(found["decided"], loaded.members, f"programs/{number}/")
        if len(decided.plans) != len(model.segments):
            raise ValueError(f"it has {len(decided.plans)} plans of segments")
    sizes = {str(name): int(size) for name, size in found["sizes"].items()}
    return Prepared(
        model=model,
        placement=read_placement(found["placement"]),
        notes=tuple(map(str, found["notes"])),
        ranges={
            str(name): (float(low), float(high)) for name, (low, high) in found["ranges"].items()
        },
        decided=decided,
        sizes=sizes,
        calibrated=replace(loaded.calibrated, graphs=(loaded.calibrated.graphs[number],)),
    )


def chosen(
    profiles: Sequence[Prepared],
    name: str,
    sizes: Mapping[str, int],
    types: Sequence[tuple[str, TensorType]] | None = None,
) -> Prepared:
    """The model of the file `name` for these sizes, and for inputs of these types.

    Raises `InputError` for sizes that it is not saved for, or if several fit.
    """
    known = "; ".join(map(_sizes, profiles))
    found = [each for each in profiles if all(each.sizes.get(key) == n for key, n in sizes.items())]
    if not found:
        given = " ".join(f"--dim {key}={size}" for key, size in sizes.items())
        raise InputError(f"{given}: {name} is saved for {known}")
    if types is not None:
        shapes = {key: kind.shape for key, kind in types}
        fitting = [
            each
            for each in found
            if shapes == {key: kind.shape for key, kind in each.model.inputs.items()}
        ]
        if not fitting and len(found) > 1:
            raise InputError(f"{name}: its inputs are of no size that it is saved for: {known}")
        found = fitting[:1] or found
    if len(found) > 1:
        raise InputError(f"{name}: give --dim or --input: it is saved for {known}")
    return found[0]


def _sizes(prepared: Prepared) -> str:
    """Sizes as the command line has them."""
    given = " ".join(f"{name}={size}" for name, size in prepared.sizes.items())
    return given or "the sizes of its file"
