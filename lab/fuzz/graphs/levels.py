"""The levels of a graph: its operators, its program, its commands and a device, compared."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import Device
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir import graph_interpret, program_interpret
from celosia.sw.ir.graph import Graph
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.decisions.decide import decide

__all__ = ["LevelsDifferError", "check_device", "check_levels", "program_values"]


class LevelsDifferError(Exception):
    """Two levels of a graph have other elements; the message names tensor, level and place."""


def program_values(
    compiled: CompiledGraph, config: AcceleratorConfig, inputs: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """What the program of a compiled graph leaves behind."""
    graph = compiled.graph
    ops = [written.op for written in compiled.ops]
    values = {**graph.constants, **inputs}
    return program_interpret.interpret(ops, config, graph.tensors, values)


def check_levels(case: Case, config: AcceleratorConfig) -> CompiledGraph:
    """The compiled graph of `case`, whose operators, program and commands mean the same.

    Raises `LevelsDifferError` unless they give the same elements of every tensor in memory.
    """
    compiled = _compiled(case.graph, config)
    expected = _expected(case, config)
    program = program_values(compiled, config, case.inputs)
    device = FunctionalDevice(config, memory_bytes=compiled.end - MEMORY_BASE)
    run = GraphRun(device, compiled)
    run.load(case.inputs)
    run.run()
    for name in run.written:
        _check(f"{name} of the program", program[name], expected[name])
        _check(f"{name} of the commands", run.read(name), expected[name])
    return compiled


def check_device(case: Case, device: Device, compiled: CompiledGraph | None = None) -> None:
    """Raise `LevelsDifferError` unless a device leaves in memory what the graph means."""
    expected = _expected(case, device.config)
    run = GraphRun(device, compiled or _compiled(case.graph, device.config))
    run.load(case.inputs)
    run.run()
    for name in run.written:
        _check(name, run.read(name), expected[name])


def _expected(case: Case, config: AcceleratorConfig) -> Mapping[str, NDArray[Any]]:
    """What the operators of the graph mean, with scales as short as `config` takes them."""
    return graph_interpret.interpret(short_scales(case.graph, config), case.inputs)


def _compiled(graph: Graph, config: AcceleratorConfig) -> CompiledGraph:
    """The commands of a graph; a product alone is cut by the search where stores finish it."""
    if config.normalization or len(graph.ops) > 1:
        return compile_graph(graph, config)
    return compile_graph(graph, config, Decide(decide(graph, config)))


def _check(name: str, got: NDArray[Any], expected: NDArray[Any]) -> None:
    if got.dtype != expected.dtype:
        raise LevelsDifferError(f"{name}: {got.dtype}, not {expected.dtype}")
    differing = np.argwhere(got != expected)
    if len(differing):
        raise LevelsDifferError(
            f"{name}: {len(differing):,} of {expected.size:,} elements differ, first {differing[0]}"
        )
