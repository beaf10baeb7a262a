"""Inputs of models from files, and samples of them to calibrate on."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.quantize.graphs.files.archives import npz_types, read_npz
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, check_types

__all__ = ["input_types", "read_arrays", "read_inputs", "read_samples"]


def read_samples(given: Path | Mapping[str, Array], graph: FloatGraph) -> list[dict[str, Array]]:
    """The samples in a file: arrays named after inputs, with one axis of samples before theirs.

    Raises `InputError` for other names or shapes, or none, and for numbers that are all the same.
    """
    path = given if isinstance(given, Path) else "calibration"
    if isinstance(given, Path):
        arrays = read_arrays(given, lambda types: _check_samples(path, types, graph))
    else:
        arrays = given
        _check_samples(path, {name: TensorType.of(each) for name, each in given.items()}, graph)
    if all(array.size > 1 and (array == array.flat[0]).all() for array in arrays.values()):
        raise InputError(f"{path}: all its arrays are constant: that says nothing of ranges")
    return [
        {name: array[number] for name, array in arrays.items()}
        for number in range(len(next(iter(arrays.values()))))
    ]


def _check_samples(path: object, types: Mapping[str, TensorType], graph: FloatGraph) -> None:
    """Raise `InputError` unless these are samples of inputs, as many of each."""
    counts = {}
    for name, found in types.items():
        kind = graph.inputs.get(name)
        if kind is None or found.shape[1:] != kind.shape or not found.rank:
            names = ", ".join(
                f"{key} of (samples, *{each.shape})" for key, each in graph.inputs.items()
            )
            raise InputError(f"{path}: {name} is {found.shape}; there are {names}")
        if np.dtype(found.dtype).kind != np.dtype(kind.dtype).kind:
            raise InputError(f"{path}: {name} is of {found.dtype}, not {kind.dtype}")
        counts[name] = found.shape[0]
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise InputError(f"{path}: its arrays have {counts} samples: one number, not 0, is needed")


def input_types(path: Path) -> dict[str, TensorType]:
    """What the arrays of an .npz file are, by their names.  Raises `InputError`."""
    try:
        return npz_types(path)
    except ValueError as error:
        raise InputError(str(error)) from None


def read_inputs(path: Path, model: QuantizedGraph, workload: str) -> dict[str, Array]:
    """The inputs of a model in an .npz file.  Raises `InputError` for others, or none."""

    def check(types: Mapping[str, TensorType]) -> None:
        try:
            check_types(model.inputs, types)
        except GraphError as error:
            raise InputError(f"{workload}: {error}") from None

    return read_arrays(path, check)


def read_arrays(
    path: Path, check: Callable[[Mapping[str, TensorType]], object] = lambda types: None
) -> dict[str, Array]:
    """The arrays of an .npz file, whose types `check` has seen before one of them is unpacked.

    Raises `InputError` for a file that is none.
    """
    try:
        return read_npz(path, check)
    except ValueError as error:
        raise InputError(str(error)) from None
