"""Inputs that a user fixes: they are constants, so that branches that ask for them are known."""

from collections.abc import Mapping
from math import isfinite
from typing import Final

import numpy as np

from celosia.isa.config import did_you_mean
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.operators.operator import BOOL, Array, TensorType

__all__ = ["fixed_values"]

_BOOLS: Final = {"true": True, "false": False, "1": True, "0": False}


def fixed_values(inputs: Mapping[str, TensorType], texts: Mapping[str, str]) -> dict[str, Array]:
    """The value of each input that is fixed: the number in its text, in all of its elements.

    Raises `ImportProblem` for inputs that are not there, and for texts that are no such number.
    """
    found = {}
    for name, text in texts.items():
        place = f"--set-input {name}={text}"
        if name not in inputs:
            known = ", ".join(inputs) or "none"
            near = did_you_mean(name, inputs)
            raise ImportProblem(f"{place}: no input has this name; there are {known}{near}")
        kind = inputs[name]
        value = _number(text, kind.dtype)
        if value is None:
            rule = "true or false" if kind.dtype in BOOL else f"a number of {kind.dtype}"
            raise ImportProblem(f"{place}: {name} is {kind}: {text} is not {rule}")
        found[name] = np.full(kind.shape, value, kind.dtype)
    return found


def _number(text: str, dtype: str) -> float | int | bool | None:
    """The number in a text, if it is one of this type."""
    if dtype in BOOL:
        return _BOOLS.get(text.lower())
    try:
        number = float(text) if np.dtype(dtype).kind == "f" else int(text)
    except ValueError:
        return None
    if isinstance(number, int):
        limits = np.iinfo(dtype)
        return number if limits.min <= number <= limits.max else None
    return number if isfinite(number) and abs(number) <= float(np.finfo(dtype).max) else None
