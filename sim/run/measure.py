"""Runs something on a device, and compares what it leaves in device memory."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.sim.profile.executed import executed
from celosia.sim.profile.log import RunLog
from celosia.sim.run.program_work import program_work
from celosia.sim.run.report import Failure, Measurement
from celosia.sim.run.traffic import product_traffic
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.operands import Operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.driver.device import Device, DeviceError, Issue, RunResult
from celosia.sw.driver.program_file import ProgramFile, Region
from celosia.sw.driver.runtime import Compiled, compile_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.reference.matmul import matmul_reference
from celosia.sw.timeline.limits import matmul_limit

__all__ = ["execute", "measure_product", "measure_program", "run_values"]

_AHEAD: Final = 1 << 12
"""Commands behind the last one that began that a listing of a stopped program shows at most."""


def measure_product(
    device: Device,
    operator: Operator,
    timing: MemoryTiming,
    issue: Issue = "stream",
    plan: Plan | None = None,
) -> tuple[Measurement, NDArray[Any]]:
    """Run one product on `device`; its result as it stands in device memory comes back, too.

    It is computed as `plan` says, or the best plan that is found, and compared with
    `celosia.sw.reference.matmul` on the operands as they were given, with a scale that the device
    takes.  Raises `InputError` for a product that does not fit.
    """
    start = time.perf_counter()
    operator = operator.with_short_scale(device.config)
    operands = operator.operands
    compiled = _compile(device, operator, timing, plan)
    compiled.load(operands.a, operands.b, operands.bias)
    result, failure = execute(device, compiled.commands, issue)
    c = compiled.result()
    issued = [command for _, command in expand(compiled.commands, device.config)]
    problem = operands.problem
    measurement = Measurement(
        name=operator.name,
        shape=f"{problem.m}x{problem.n}x{problem.k}",
        macs=problem.macs,
        mismatches=int(np.count_nonzero(c != _expected(operands))),
        elements_checked=c.size,
        predicted_cycles=compiled.prediction.cycles,
        limit=matmul_limit(problem, device.config, timing),
        least_traffic=product_traffic(problem),
        problem=problem,
        failure=failure,
        until_stopped=failure.until if failure else {},
        executed=executed(result, issued, operator.name, print_plan(compiled.plan)),
        entries=len(compiled.commands),
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, issued, device.config),
    )
    return measurement, c


def measure_program(
    name: str, program: ProgramFile, device: Device, model: Device, issue: Issue = "stream"
) -> Measurement:
    """Run `program` on `device` and on `model`, and compare the ``.check`` regions byte by byte.

    Each byte is compared once, also where regions overlap.  A model that stops while the device
    does not is a failure too.  Where the device was stopped, the model executes no more commands
    than had begun there: a program may stand for billions.
    """
    start = time.perf_counter()
    image = program.memory_image()
    for each in (device, model):
        each.write(MEMORY_BASE, image)
    result, failure = execute(device, program.commands, issue)
    begun = _begun(program, result, failure)
    expected = _follow(model, program, begun)
    if expected and not failure:
        failure = Failure(
            message=f"only the functional model stops: {expected.message}",
            cause=expected.cause,
            command=expected.command,
        )
    regions = _merged(program.checks)
    return Measurement(
        name=name,
        macs=program_work(program.commands, device.config, begun).macs,
        mismatches=sum(_differences(device, model, region) for region in regions),
        elements_checked=sum(region.size for region in regions),
        failure=failure,
        until_stopped=failure.until if failure else {},
        executed=executed(result, _issued(program, result, begun), name),
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, program.commands, device.config, begun),
    )


def _begun(program: ProgramFile, result: RunResult, failure: Failure | None) -> int | None:
    """Commands that had begun when the device was stopped; None: it was not."""
    if failure is None:
        return None
    queues = result.log.queues.values() if isinstance(result.log, RunLog) else ()
    logged = [int(queue.command.max()) + 1 for queue in queues if len(queue)]
    known = [number for number in (failure.begun, failure.command, *logged) if number is not None]
    return max(known, default=len(program.commands))


def _follow(model: Device, program: ProgramFile, begun: int | None) -> Failure | None:
    """Run `program` on `model`, or so many commands of it; why it stopped before its end."""
    if begun == 0:
        return None
    model.limit_cycles(begun or 0)
    return execute(model, program.commands, "stream")[1]


class RunValues(TypedDict):
    """What `Measurement` has of a run."""

    cycles: int | None
    dram_read_bytes: int
    dram_write_bytes: int
    commands: int
    cpu_seconds: float
    counters: dict[str, int]


def run_values(
    result: RunResult,
    commands: Sequence[Command],
    config: AcceleratorConfig,
    begun: int | None = None,
) -> RunValues:
    """What the counters say, or without a clock the commands, or as many of them as had begun."""
    if counters := result.counters:
        read, written = counters["read_bytes"], counters["write_bytes"]
    else:
        work = program_work(commands, config, begun)
        read, written = work.read_bytes, work.write_bytes
    return {
        "cycles": result.cycles,
        "dram_read_bytes": read,
        "dram_write_bytes": written,
        "commands": len(commands),
        "cpu_seconds": result.seconds,
        "counters": counters,
    }


def execute(
    device: Device, commands: Sequence[Command], issue: Issue, marks: Sequence[int] = ()
) -> tuple[RunResult, Failure | None]:
    """Run `commands`; an accelerator that stops is a failure.

    The result of a run that was stopped has its marks and its log, but neither cycles nor counters:
    those are of the failure.
    """
    try:
        return device.run(commands, issue, marks), None
    except DeviceError as error:
        until = error.stopped.result if error.stopped else RunResult(cycles=None)
        return replace(until, cycles=None, counters={}), Failure.of(error)


def _issued(program: ProgramFile, result: RunResult, begun: int | None) -> Sequence[Command]:
    """The commands that a log of `program` numbers, loops expanded, with some that never began."""
    if result.log is None:
        return program.commands
    most = None if begun is None else begun + _AHEAD
    return [command for _, command in islice(expand(program.commands, program.config), most)]


def _compile(
    device: Device, operator: Operator, timing: MemoryTiming, plan: Plan | None
) -> Compiled:
    try:
        return compile_product(device, operator.operands.problem, plan=plan, timing=timing)
    except ValueError as error:
        raise InputError(f"{operator.name}: {error}") from error


def _expected(operands: Operands) -> NDArray[Any]:
    problem = operands.problem
    b = operands.b.T if problem.b_transposed else operands.b
    return matmul_reference(operands.a, b, operands.bias, scale=problem.scale, relu=problem.relu)


def _differences(left: Device, right: Device, region: Region) -> int:
    ours, theirs = (
        np.frombuffer(device.read(region.address, region.size), np.uint8)
        for device in (left, right)
    )
    return int(np.count_nonzero(ours != theirs))


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
