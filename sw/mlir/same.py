"""Where two values differ: records field by field, arrays bit by bit."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

__all__ = ["differing"]


def differing(one: object, other: object, path: str = "") -> str | None:
    """The path of the first part in which two values of the same annotation differ; None: nowhere.

    Values that are not equal by themselves, because they hold arrays, are compared by their parts.
    """
    if one is other:
        return None
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return None if _array(one) == _array(other) else path
    mine, theirs = _parts(one), _parts(other)
    if mine is None or theirs is None:
        return None if one == other else path
    if mine.keys() != theirs.keys():
        return path
    found = (differing(part, theirs[name], path + name) for name, part in mine.items())
    return next((place for place in found if place is not None), None)


def _array(value: object) -> object:
    """All of an array that is compared; of anything else nothing that an array has."""
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else None


def _parts(value: object) -> dict[str, object] | None:
    """What a value consists of, by how it is reached; None: it is whole."""
    if isinstance(value, Mapping):
        return {f"[{key!r}]": each for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {f"[{index}]": each for index, each in enumerate(value)}
    if is_dataclass(value):
        parts = {f".{field.name}": getattr(value, field.name) for field in fields(value)}
        return {f" as {type(value).__name__}": None, **parts}
    return None
