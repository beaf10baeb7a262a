"""Graphs of all levels from files, and to files: MLIR that xDSL parses and verifies."""

from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import MIB
from celosia.lab.substitute.graph_file import load_constants, save_text
from celosia.sim.support.extras import import_extra
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.mlir.operation import print_operation
from celosia.sw.models.lowering.levels import Lowered
from celosia.sw.models.lowering.print import AnyLevel, level_operation
from celosia.sw.models.lowering.read import level_of_operation
from celosia.sw.quantize.graphs.quantized import QuantizedGraph

__all__ = ["TEXT_SUFFIX", "described", "level_of", "read_graph_file", "text_of", "write_graph_file"]

TEXT_SUFFIX: Final = ".mlir"
"""What the name of a graph's file ends with."""
_TEXT_BYTES: Final = 64 * MIB
"""The longest text that is read."""


def level_of(value: AnyLevel) -> str:
    """The level of a graph, a model, or what became of one: its dialect, or ``commands``."""
    if isinstance(value, Lowered):
        return value.level
    return "nn" if isinstance(value, FloatGraph) else "cel"


def described(value: AnyLevel) -> str:
    """What a value of any level is called in messages."""
    whole = isinstance(value, QuantizedGraph) or (isinstance(value, Lowered) and value.model)
    return f"{'a model' if whole else 'a graph'} of {level_of(value)}"


def text_of(value: AnyLevel) -> str:
    """The text of a value of any level, in MLIR's generic syntax."""
    return print_operation(level_operation(value)[0])


def read_graph_file(path: Path) -> AnyLevel:
    """The graph of a text, or what became of one, with its arrays from the .npz beside it, if any.

    Raises `InputError` that names the file, the place and the rule, and `EnvironmentProblem` where
    xDSL is missing.
    """
    dialects = import_extra("celosia.sw.models.dialects.levels", "compiler")
    text = read_text(path, _TEXT_BYTES)
    try:
        operation = dialects.parse_level(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    try:
        constants = load_constants(path) if path.with_suffix(".npz").exists() else {}
    except ValueError as error:
        raise InputError(str(error)) from None
    try:
        return level_of_operation(operation, constants)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def write_graph_file(value: AnyLevel, path: Path) -> None:
    """Write the text of a value of any level, and its arrays to an .npz of the same name."""
    operation, arrays = level_operation(value)
    save_text(print_operation(operation), arrays, path)
