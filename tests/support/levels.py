"""The three levels of a graph: its operators, its program and its commands, compared."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.device import Device
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir import graph_interpret, program_interpret
from celosia.sw.models.cases import Case
from celosia.sw.pipeline import CompiledGraph, compile_graph

__all__ = ["CONFIGS", "check_device", "check_levels", "configured", "program_values"]


def configured(preset: str, **values: Any) -> AcceleratorConfig:
    """A preset with a normalization unit, and other `values`."""
    return PRESETS[preset].with_values({"normalization": True, **values})


CONFIGS = {
    "tiny": configured("tiny"),
    "small": configured("small"),
    "base": configured("base"),
    "rebalanced": configured("rebalanced"),
    "dim 2": configured("tiny", dim=2, scratchpad_kib=2, accumulator_kib=1),
    "dim 64": configured("base", dim=64, scratchpad_kib=128, parameter_rows=16),
    "least": configured(
        "tiny", scratchpad_kib=1, accumulator_kib=1, parameter_rows=8, statistics_rows=16
    ),
}
"""From wide to narrow; the last has no room for anything twice."""


def program_values(
    compiled: CompiledGraph, config: AcceleratorConfig, inputs: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """What the program of a compiled graph leaves behind."""
    graph = compiled.graph
    ops = [written.op for written in compiled.ops]
    values = {**graph.constants, **inputs}
    return program_interpret.interpret(ops, config, graph.tensors, values)


def check_levels(case: Case, config: AcceleratorConfig) -> CompiledGraph:
    """Graph, program and commands give the same elements of every tensor in memory."""
    compiled = compile_graph(case.graph, config)
    expected = graph_interpret.interpret(case.graph, case.inputs)
    program = program_values(compiled, config, case.inputs)
    device = FunctionalDevice(config, memory_bytes=compiled.end - MEMORY_BASE)
    run = GraphRun(device, compiled)
    run.load(case.inputs)
    run.run()
    for name in run.written:
        assert_same(f"{name} of the program", program[name], expected[name])
        assert_same(f"{name} of the commands", run.read(name), expected[name])
    return compiled


def check_device(case: Case, device: Device, compiled: CompiledGraph | None = None) -> None:
    """A device leaves in memory what the graph means, in every tensor that is there."""
    expected = graph_interpret.interpret(case.graph, case.inputs)
    run = GraphRun(device, compiled or compile_graph(case.graph, device.config))
    run.load(case.inputs)
    run.run()
    for name in run.written:
        assert_same(name, run.read(name), expected[name])


def assert_same(name: str, got: NDArray[Any], expected: NDArray[Any]) -> None:
    assert got.dtype == expected.dtype, f"{name}: {got.dtype}, not {expected.dtype}"
    differing = np.argwhere(got != expected)
    assert not len(differing), (
        f"{name}: {len(differing):,} of {expected.size:,} elements differ, first {differing[0]}"
    )
