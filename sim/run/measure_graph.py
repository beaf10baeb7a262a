"""Runs a graph on a device, and measures all of it and each group of its operators."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from celosia.sim.profile.executed import executed
from celosia.sim.profile.operator_groups import add_up
from celosia.sim.run.measure import execute, run_values
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.report import Measurement
from celosia.sw.driver.device import Device, Issue
from celosia.sw.driver.graph_run import GraphRun

__all__ = ["GraphMeasurement", "measure_graph"]


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphMeasurement:
    """What the run of a graph has shown."""

    program: KnownProgram
    run: GraphRun
    """The tensors in device memory, as long as the device is open."""
    whole: Measurement
    groups: tuple[Measurement, ...]
    """What was measured of each group of operators."""
    outputs: Mapping[str, NDArray[Any]]
    """The values of outputs as they stood in device memory, by name."""


def measure_graph(
    name: str,
    device: Device,
    program: KnownProgram,
    inputs: Mapping[str, NDArray[Any]],
    issue: Issue = "stream",
) -> GraphMeasurement:
    """Run `program` on these inputs.  Raises `ValueError` if it does not fit into the memory."""
    start = time.perf_counter()
    compiled, groups = program.compiled, program.groups
    run = GraphRun(device, compiled)
    run.load(inputs)
    result, failure = execute(device, compiled.program, issue, [cut.mark for cut in program.cuts])
    end = failure.until if failure else result.counters
    # A board counts, but cannot be stopped at a mark.
    marked = len(result.marks) == len(program.cuts)
    times = add_up(groups, program.cuts, result.marks, end) if end and marked else {}
    log = executed(result, program.expanded, program.operators) if result.log else None
    whole = Measurement(
        name=name,
        macs=sum(group.macs for group in groups),
        entries=len(compiled.program),
        failure=failure,
        until_stopped=failure.until if failure else {},
        least_traffic=program.least_traffic,
        executed=log,
        predicted_cycles=program.prediction.cycles,
        limit=program.limit,
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, program.commands, lambda: program.work),
    )
    return GraphMeasurement(
        program=program,
        run=run,
        whole=whole,
        groups=tuple(
            Measurement(
                **program.parts[group.name],
                **_counted(times.get(group.name, {}), stopped=failure is not None),
            )
            for group in groups
        ),
        outputs={name: run.read(name) for name in program.graph.outputs},
    )


def _counted(counts: Mapping[str, int], *, stopped: bool) -> dict[str, Any]:
    """What a `Measurement` has of a group's share of the counters."""
    if stopped:
        return {"until_stopped": counts}
    return {
        "cycles": counts.get("cycles"),
        "dram_read_bytes": counts.get("read_bytes", 0),
        "dram_write_bytes": counts.get("write_bytes", 0),
        "counters": counts,
    }
