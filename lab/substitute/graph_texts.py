"""Graphs of both levels from files, and to files: MLIR that xDSL parses and verifies."""

from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import MIB
from celosia.lab.substitute.graph_file import load_constants, save_text
from celosia.sim.support.extras import import_extra
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.text import float_graph_of, print_float_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import graph_of

__all__ = ["TEXT_SUFFIX", "AnyGraph", "level_of", "read_graph_file", "text_of", "write_graph_file"]

AnyGraph = Graph | FloatGraph

TEXT_SUFFIX: Final = ".mlir"
"""What the name of a graph's file ends with."""
_TEXT_BYTES: Final = 64 * MIB
"""The longest text that is read."""


def level_of(graph: AnyGraph) -> str:
    """The dialect of a graph."""
    return "cel" if isinstance(graph, Graph) else "nn"


def text_of(graph: AnyGraph) -> str:
    """The text of a graph, in MLIR's generic syntax."""
    return print_graph(graph) if isinstance(graph, Graph) else print_float_graph(graph)


def read_graph_file(path: Path) -> AnyGraph:
    """The graph of a text, with its constants from the .npz beside it, if there is one.

    Raises `InputError` that names the file, the place and the rule, and `EnvironmentProblem` where
    xDSL is missing.
    """
    dialects = import_extra("celosia.sw.frontend.dialects.text", "compiler")
    text = read_text(path, _TEXT_BYTES)
    try:
        operation = dialects.parse_verified(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    try:
        constants = load_constants(path) if path.with_suffix(".npz").exists() else {}
    except ValueError as error:
        raise InputError(str(error)) from None
    try:
        if operation.name == "cel.graph":
            return graph_of(operation, constants)
        return float_graph_of(operation, constants)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def write_graph_file(graph: AnyGraph, path: Path) -> None:
    """Write the text of a graph, and its constants to an .npz of the same name."""
    save_text(text_of(graph), graph.constants, path)
