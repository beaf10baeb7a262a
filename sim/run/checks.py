"""What compares a run: each of these measures something, and looks at what it leaves in memory.

What runs and what measures knows nothing of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.run.measure import begun_commands, execute, measure_product, measure_program
from celosia.sim.run.measure_graph import GraphMeasurement, measure_graph
from celosia.sim.run.options.options import Check
from celosia.sim.run.programs.failure import Failure
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.report import Measurement
from celosia.sim.workloads.operands import Operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.driver.device import Device, Issue
from celosia.sw.driver.program_file import ProgramFile, Region
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.reference.matmul import matmul_reference

__all__ = ["checked_graph", "checked_product", "checked_program", "compare_graph", "expected_of"]

_Values = Mapping[str, NDArray[Any]]


def checked_product(
    device: Device,
    operator: Operator,
    timing: MemoryTiming,
    issue: Issue = "stream",
    plan: Plan | None = None,
) -> tuple[Measurement, NDArray[Any]]:
    """What `measure_product` does, compared with `celosia.sw.reference.matmul`.

    That has the operands as they were given, and a scale that the device takes.
    """
    measured, c = measure_product(device, operator, timing, issue, plan)
    expected = _expected(operator.with_short_scale(device.config).operands)
    return _compared(measured, {"c": c}, {"c": expected}), c


def checked_program(
    name: str, program: ProgramFile, device: Device, model: Device, issue: Issue = "stream"
) -> Measurement:
    """What `measure_program` does, compared in the ``.check`` regions with `model`, byte by byte.

    Each byte is compared once, also where regions overlap.  A model that stops while the device
    does not is a failure too.  Where the device was stopped, the model executes no more commands
    than had begun there: a program may stand for billions.
    """
    measured = measure_program(name, program, device, issue)
    log = measured.executed and measured.executed.log
    model.write(MEMORY_BASE, program.memory_image())
    expected = _follow(model, program, begun_commands(program, measured.failure, log))
    if expected and not measured.failure:
        failure = Failure(
            message=f"only the functional model stops: {expected.message}",
            cause=expected.cause,
            command=expected.command,
        )
        measured = replace(measured, failure=failure)
    regions = _merged(program.checks)
    ours, theirs = (
        {str(region.address): _bytes(each, region) for region in regions}
        for each in (device, model)
    )
    return _compared(measured, ours, theirs)


def checked_graph(
    name: str,
    device: Device,
    compiled: CompiledGraph,
    case: Case,
    issue: Issue = "stream",
    timing: MemoryTiming | None = None,
) -> GraphMeasurement:
    """The run of a compiled `case`, of which every tensor in memory is compared.

    What is predicted is for commands that stream, on a memory with this `timing`.  Raises
    `ValueError` if it does not fit into the device's memory.
    """
    program = KnownProgram(case.graph, compiled, timing)
    measured = measure_graph(name, device, program, case.inputs, issue)
    return compare_graph(measured, expected_of(case, device.config))


def expected_of(case: Case, config: AcceleratorConfig) -> dict[str, NDArray[Any]]:
    """Every tensor by the integer graph, with scales as short as the accelerator takes them."""
    return interpret(short_scales(case.graph, config), case.inputs)


def compare_graph(
    measured: GraphMeasurement, expected: _Values, check: Check = "all"
) -> GraphMeasurement:
    """What was measured, compared with the integer graph's tensors while the device is open."""
    if check == "none":
        return measured
    names = measured.run.written if check == "all" else measured.outputs
    found = {name: measured.run.read(name) for name in names}
    groups = zip(measured.groups, measured.program.groups, strict=True)
    return replace(
        measured,
        whole=_compared(measured.whole, found, expected),
        groups=tuple(
            _compared(
                part, {name: found[name] for name in group.tensors if name in found}, expected
            )
            for part, group in groups
        ),
    )


def _compared(measured: Measurement, found: _Values, expected: _Values) -> Measurement:
    """`measured`, with the elements that differ of all that were `found`, if there are any."""
    if not found:
        return measured
    differing = (np.count_nonzero(each != expected[name]) for name, each in found.items())
    return replace(
        measured,
        mismatches=int(sum(differing)),
        elements_checked=sum(each.size for each in found.values()),
    )


def _expected(operands: Operands) -> NDArray[Any]:
    problem = operands.problem
    b = operands.b.T if problem.b_transposed else operands.b
    return matmul_reference(operands.a, b, operands.bias, scale=problem.scale, relu=problem.relu)


def _follow(model: Device, program: ProgramFile, begun: int | None) -> Failure | None:
    """Run `program` on `model`, or so many commands of it; why it stopped before its end."""
    if begun == 0:
        return None
    model.limit_cycles(begun or 0)
    return execute(model, program.commands, "stream")[1]


def _bytes(device: Device, region: Region) -> NDArray[Any]:
    return np.frombuffer(device.read(region.address, region.size), np.uint8)


def _merged(regions: Iterable[Region]) -> list[Region]:
    """Regions that hold the same bytes as `regions`, each once."""
    merged: list[Region] = []
    for region in sorted(regions, key=lambda region: region.address):
        if merged and region.address <= merged[-1].end:
            last = merged.pop()
            merged.append(Region(last.address, max(last.end, region.end) - last.address))
        else:
            merged.append(region)
    return merged
