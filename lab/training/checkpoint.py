"""A training that is under way, as a file."""

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import open_foreign, parse_json
from celosia.lab.training.recipe import Recipe
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.shape_document import shape_document

__all__ = ["Checkpoint", "CheckpointError", "load_checkpoint", "save_checkpoint"]

_MOST_BYTES: Final = 1 << 30
"""The largest checkpoint that is opened."""
_HEADER: Final = "header"


class CheckpointError(LanguageError):
    """A checkpoint that is damaged, or of another training."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What the next step needs."""

    steps: int
    """Steps that are done."""
    arrays: list[NDArray[Any]]
    """The leaves of the tensors and of the optimizer's state, in JAX's order."""


def save_checkpoint(
    path: Path, recipe: Recipe, tokens: NDArray[np.uint16], checkpoint: Checkpoint
) -> None:
    """Write `checkpoint`; the file is a whole one at any time."""
    header = json.dumps({"steps": checkpoint.steps, **_training(recipe, tokens)})
    arrays = {str(index): array for index, array in enumerate(checkpoint.arrays)}
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_HEADER: np.array(header)}, **arrays)
    os.replace(part, path)


def load_checkpoint(path: Path, recipe: Recipe, tokens: NDArray[np.uint16]) -> Checkpoint:
    """The checkpoint at `path`.

    Raises `CheckpointError` if it is damaged, or if the training that wrote it had another recipe
    or another text.  The number of steps and the share of them in which the learning rate falls may
    differ, as long as it has begun to fall in neither training at the checkpoint.
    """
    try:
        with open_foreign(path, _MOST_BYTES) as file, np.load(file, allow_pickle=False) as found:
            header = parse_json(str(found[_HEADER]))
            arrays = [found[str(index)] for index in range(len(found.files) - 1)]
            steps = int(header.pop("steps"))
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        raise CheckpointError(f"{path}: not a checkpoint: {error}") from None
    _check(path, header, _training(recipe, tokens), steps)
    return Checkpoint(steps, arrays)


def _check(path: Path, found: Any, own: dict[str, Any], steps: int) -> None:
    schedule = {"total", "falls_from", "decay"}
    for name, value in own.items():
        if name not in schedule and found.get(name) != value:
            raise CheckpointError(
                f"{path}: was made with {name} {found.get(name)}, not {value}; "
                "remove the file to begin anew"
            )
    least = min(own["falls_from"], found["falls_from"])
    if any(found[name] != own[name] for name in schedule) and steps > least:
        raise CheckpointError(
            f"{path}: after {steps} of {found['total']} steps the learning rate has changed; "
            f"only up to step {least} a training of {own['total']} steps is the same"
        )


def _training(recipe: Recipe, tokens: NDArray[np.uint16]) -> dict[str, Any]:
    """Numbers that tell one training from another."""
    numbers = {name: value for name, value in asdict(recipe).items() if name != "shape"}
    return {
        **shape_document(recipe.shape),
        "total": numbers.pop("steps"),
        "falls_from": recipe.falls_from,
        **numbers,
        "text": sha256(tokens.tobytes()).hexdigest()[:16],
    }
