"""The run of a program file."""

import time
from contextlib import closing
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_program
from celosia.sim.run.measure import measure_program
from celosia.sim.run.opening import Opener, open_for
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.outcome import Outcome, setting_of
from celosia.sim.run.report import Report
from celosia.sim.support.display import Steps
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.driver.device import Device
from celosia.sw.driver.expansion import check_program
from celosia.sw.driver.program_file import ProgramFile, load_program

__all__ = ["run_program"]


def run_program(options: RunOptions, tell: Progress, opener: Opener) -> Outcome:
    """Run the program, and unless nothing is to be compared, the functional model beside it.

    Raises what `run_workload` raises.
    """
    compiling, target = options.compiling, options.target
    compiling.check_no_graph(options.workload)
    if compiling.given.options:
        raise InputError(f"{compiling.given.options[0]}: {options.workload} is compiled already")
    start = time.perf_counter()
    program = _configured(load_program(options.workload), target)
    check = options.watching.check
    if not program.checks and check != "none":
        raise InputError(
            f"{options.workload}: nothing to compare: name the results with .check ADDRESS SIZE, "
            "such as .check 0x80000080 64 in examples/product.cel, or run it with --check none"
        )
    config = program.config
    try:
        check_program(program.commands, config)
    except ValueError as error:
        raise InputError(f"{options.workload}: {error}") from None
    steps = Steps(tell, 1)
    steps.begin(options.workload)
    size = program.memory_bytes
    with closing(open_for(opener, target, config, size, steps)) as device:
        if check == "none":
            measured = measure_program(options.workload, program, device, target.issue)
        else:
            with closing(_model(target.timing, config, size, steps)) as model:
                measured = checked_program(options.workload, program, device, model, target.issue)
    return Outcome(
        Report(
            setting=setting_of(options, program.preset, config),
            operators=(measured,),
            elapsed_seconds=time.perf_counter() - start,
        )
    )


def _configured(program: ProgramFile, target: Target) -> ProgramFile:
    """`program` for the configuration of the target: a preset there replaces all of its own."""
    if target.preset is not None:
        program = replace(program, preset=target.preset, overrides=())
    return replace(program, overrides=program.overrides + target.overrides)


def _model(timing: MemoryTiming, config: AcceleratorConfig, size: int, tell: Progress) -> Device:
    """The functional model to compare with.

    Its local memories start with other garbage than the device's, so that a program whose results
    depend on that is found, also if the device is a functional model itself.
    """
    other = replace(timing, seed=timing.seed + 1)
    return open_device("functional", config, other, size, progress=tell)
