"""Runs a graph on a device, and compares every tensor that it leaves in device memory."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.memory import MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.sim.profile.executed import executed
from celosia.sim.profile.operator_groups import (
    Group,
    add_predicted,
    add_up,
    cut_program,
    group_name,
    group_operators,
)
from celosia.sim.run.measure import execute, run_values
from celosia.sim.run.report import Measurement
from celosia.sim.run.traffic import graph_traffic
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.driver.device import Device, Issue
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.timeline.limits import graph_limit

__all__ = ["GraphMeasurement", "measure_graph"]


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphMeasurement:
    """What the run of a graph has shown."""

    whole: Measurement
    groups: tuple[Measurement, ...]
    """What was measured of each group of operators."""
    on_chip: tuple[str, ...]
    """Tensors that never are in memory, and so are not compared."""
    outputs: Mapping[str, NDArray[Any]]
    """The values of outputs as they stood in device memory, by name."""


def measure_graph(
    name: str,
    device: Device,
    compiled: CompiledGraph,
    case: Case,
    issue: Issue = "stream",
    timing: MemoryTiming | None = None,
) -> GraphMeasurement:
    """Run `compiled`, which is the graph of `case`, and compare it with the integer graph.

    That graph has scales as short as the device takes them.

    What is predicted is for commands that stream, on a memory with this `timing`.

    Raises `ValueError` if it does not fit into the device's memory.
    """
    start = time.perf_counter()
    run = GraphRun(device, compiled)
    run.load(case.inputs)
    program = compiled.program
    expanded = [command for _, command in expand(program, device.config)]
    cuts = cut_program(expanded, compiled.operators)
    result, failure = execute(device, program, issue, [cut.mark for cut in cuts])
    expected = interpret(short_scales(case.graph, device.config), case.inputs)
    found = {tensor: run.read(tensor) for tensor in run.written}
    differing = {
        tensor: int(np.count_nonzero(value != expected[tensor])) for tensor, value in found.items()
    }
    groups = group_operators(case.graph, device.config.dim)
    prediction = compiled.expected(timing)
    predicted = add_predicted(groups, prediction)
    whole = Measurement(
        name=name,
        macs=sum(group.macs for group in groups),
        entries=len(program),
        mismatches=sum(differing.values()),
        elements_checked=sum(value.size for value in found.values()),
        failure=failure,
        until_stopped=failure.until if failure else {},
        least_traffic=graph_traffic(case.graph, [op.name for op in case.graph.ops]),
        executed=executed(result, expanded, compiled.operators),
        predicted_cycles=prediction.cycles,
        limit=graph_limit(case.graph, device.config, timing or MemoryTiming()),
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, expanded, device.config),
    )
    times: Mapping[str, Mapping[str, int]] = {}
    if end := failure.until if failure else result.counters:
        times = add_up(groups, cuts, result.marks, end)
    commands = Counter(map(group_name, compiled.operators))
    return GraphMeasurement(
        whole=whole,
        groups=tuple(
            replace(
                _part(group, found, differing, times.get(group.name), stopped=failure is not None),
                commands=commands[group.name],
                least_traffic=graph_traffic(case.graph, group.operators),
                predicted_cycles=predicted.get(group.name),
            )
            for group in groups
        ),
        on_chip=tuple(name for name in expected if name not in compiled.addresses),
        outputs={name: found[name] for name in case.graph.outputs},
    )


def _part(
    group: Group,
    found: Mapping[str, NDArray[Any]],
    differing: Mapping[str, int],
    counts: Mapping[str, int] | None,
    *,
    stopped: bool,
) -> Measurement:
    """What the run has shown of one group; `counts` is its share of the counters, if known."""
    tensors = [tensor for tensor in group.tensors if tensor in found]
    until, counts = (counts or {}, {}) if stopped else ({}, counts or {})
    return Measurement(
        name=group.name,
        macs=group.macs,
        cycles=counts.get("cycles"),
        mismatches=sum(differing[tensor] for tensor in tensors),
        elements_checked=sum(found[tensor].size for tensor in tensors),
        dram_read_bytes=counts.get("read_bytes", 0),
        dram_write_bytes=counts.get("write_bytes", 0),
        counters=counts,
        until_stopped=until,
    )
