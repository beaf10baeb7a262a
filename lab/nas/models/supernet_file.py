"""A supernet as a file: its tensors, and what they were trained by."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import ForeignFileError, open_foreign, parse_json
from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.texts import Texts
from celosia.lab.training.recipe import Recipe
from celosia.sim.support.output import open_atomically
from celosia.sim.support.problems import InputError
from celosia.sw.reference.language.shape import tensor_shapes

__all__ = ["FORM", "SUPERNET", "Supernet", "SupernetRecipe", "load_supernet", "save_supernet"]

SUPERNET: Final = "supernet.npz"
FORM: Final = 1
"""The version of the file."""
_HEADER: Final = "header"
_MOST_BYTES: Final = 1 << 30


@dataclass(frozen=True, kw_only=True)
class SupernetRecipe(Recipe):
    """The numbers of a supernet's training; `shape` is that of the largest model."""

    space: str
    """The space, in words: a supernet of another one is another."""
    between: int = 2
    """Models of a step beside the largest and the smallest."""
    form: int = 1
    """The number changes when a step comes to mean something else."""


@dataclass(frozen=True, eq=False)
class Supernet:
    """A trained supernet."""

    tensors: Mapping[str, NDArray[np.float32]]
    recipe: Mapping[str, Any]
    """What it was trained by, in words and numbers."""

    @property
    def key(self) -> str:
        """Tells it from another."""
        state = sha256(json.dumps(dict(self.recipe), sort_keys=True).encode())
        for name in sorted(self.tensors):
            state.update(np.ascontiguousarray(self.tensors[name]).tobytes())
        return state.hexdigest()[:16]


def recipe_document(recipe: SupernetRecipe) -> dict[str, Any]:
    """The numbers of a recipe but its shape, which the space has."""
    return {name: value for name, value in asdict(recipe).items() if name != "shape"}


def save_supernet(
    path: Path, recipe: SupernetRecipe, texts: Texts, tensors: Mapping[str, NDArray[np.float32]]
) -> Supernet:
    """Write a supernet, whole or not at all.  Raises `OutputError` if it cannot be."""
    numbers = recipe_document(recipe)
    header = json.dumps({"version": FORM, "text": texts.key, "recipe": numbers})
    with open_atomically(path) as file:
        np.savez(file, allow_pickle=False, **{_HEADER: np.array(header)}, **tensors)
    return Supernet(tensors, numbers)


def load_supernet(path: Path, space: Space, texts: Texts) -> Supernet:
    """The supernet in a file.

    Raises `InputError` for a file that is missing, damaged, of another version, of another text or
    of another space.
    """
    try:
        with open_foreign(path, _MOST_BYTES) as file, np.load(file, allow_pickle=False) as found:
            header = parse_json(str(found[_HEADER]))
            tensors = {name: found[name] for name in found.files if name != _HEADER}
            known = {"version": header["version"], "text": header["text"]}
            recipe = dict(header["recipe"])
    except ForeignFileError as error:
        raise InputError(str(error)) from None
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InputError(f"{path}: not a supernet: {error}") from None
    for name, value in {"version": FORM, "text": texts.key}.items():
        if known[name] != value:
            raise InputError(f"{path}: is a supernet of {name} {known[name]}, not {value}")
    if recipe.get("space") != str(space):
        raise InputError(f"{path}: is a supernet of the space {recipe.get('space')}, not {space}")
    sizes = tensor_shapes(space.largest)
    if {name: tensor.shape for name, tensor in tensors.items()} != sizes or any(
        tensor.dtype != np.float32 or not np.isfinite(tensor).all() for tensor in tensors.values()
    ):
        raise InputError(f"{path}: its tensors are not finite float32 numbers of its space")
    return Supernet(tensors, recipe)
