"""Runs something on a device, and measures it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypedDict

from numpy.typing import NDArray

from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.sim.profile.executed import executed
from celosia.sim.profile.log import RunLog
from celosia.sim.run.programs.failure import Failure
from celosia.sim.run.programs.program_work import ProgramWork, program_work
from celosia.sim.run.programs.traffic import product_traffic
from celosia.sim.run.report import Measurement
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.driver.device import Device, DeviceError, Issue, RunResult
from celosia.sw.driver.program_file import ProgramFile
from celosia.sw.driver.runtime import Compiled, compile_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.timeline.product_limits import matmul_limit

__all__ = ["begun_commands", "execute", "measure_product", "measure_program", "run_values"]

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

    It is computed as `plan` says, or the best plan that is found, with a scale that the device
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
        predicted_cycles=compiled.prediction.cycles,
        limit=matmul_limit(problem, device.config, timing),
        least_traffic=product_traffic(problem),
        problem=problem,
        failure=failure,
        until_stopped=failure.until if failure else {},
        executed=executed(result, issued, operator.name, print_plan(compiled.plan)),
        entries=len(compiled.commands),
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, len(issued), lambda: program_work(issued, device.config)),
    )
    return measurement, c


def measure_program(
    name: str, program: ProgramFile, device: Device, issue: Issue = "stream"
) -> Measurement:
    """Run `program` on `device`."""
    start = time.perf_counter()
    device.write(MEMORY_BASE, program.memory_image())
    result, failure = execute(device, program.commands, issue)
    begun = begun_commands(program, failure, result.log)
    work = program_work(program.commands, device.config, begun)
    return Measurement(
        name=name,
        macs=work.macs,
        failure=failure,
        until_stopped=failure.until if failure else {},
        executed=executed(result, _issued(program, result, begun), name),
        elapsed_seconds=time.perf_counter() - start,
        **run_values(result, len(program.commands), lambda: work),
    )


def begun_commands(program: ProgramFile, failure: Failure | None, log: object | None) -> int | None:
    """Commands that had begun when the device was stopped; None: it was not."""
    if failure is None:
        return None
    queues = log.queues.values() if isinstance(log, RunLog) else ()
    logged = [int(queue.command.max()) + 1 for queue in queues if len(queue)]
    known = [number for number in (failure.begun, failure.command, *logged) if number is not None]
    return max(known, default=len(program.commands))


class RunValues(TypedDict):
    """What `Measurement` has of a run."""

    cycles: int | None
    dram_read_bytes: int
    dram_write_bytes: int
    commands: int
    cpu_seconds: float
    counters: dict[str, int]


def run_values(result: RunResult, commands: int, work: Callable[[], ProgramWork]) -> RunValues:
    """What the counters say, or without a clock the `work` of the commands."""
    if counters := result.counters:
        read, written = counters["read_bytes"], counters["write_bytes"]
    else:
        done = work()
        read, written = done.read_bytes, done.write_bytes
    return {
        "cycles": result.cycles,
        "dram_read_bytes": read,
        "dram_write_bytes": written,
        "commands": commands,
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
    problem, name = operator.operands.problem, operator.name
    try:
        return compile_product(device, problem, plan=plan, timing=timing, name=name)
    except ValueError as error:
        raise InputError(f"{operator.name}: {error}") from error
