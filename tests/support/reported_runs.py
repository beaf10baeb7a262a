"""Small runs whose instructions are followed."""

from contextlib import closing

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.profile.recorders.amaranth_logger import AmaranthLogDevice
from celosia.sim.run.checks import checked_product, checked_program
from celosia.sim.run.options.options import RunOptions, Target, Told, Watching
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.report import Report
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.product_workloads import matmul
from celosia.sw.driver.device import Issue
from celosia.sw.driver.program_file import parse_program

__all__ = ["STUCK", "amaranth_runs", "product_options", "product_run"]

UNNORMALIZED = ("normalization=false",)
"""A product needs no normalization unit, which is half of what `tiny` takes to be made."""

STUCK = """
.preset tiny
.set normalization=false
.memory 65536
.random 0x80001000 64 7
.check 0x80003000 16
config_ex
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[512] local_cols=4 local_rows=4
repeat count=4 length=2
mvin dram=0x80001010 local=sp[0] local_cols=4 local_rows=4
stride addend1=0 addend2=4
preload b=sp[512] b_cols=4 b_rows=4 c=acc[0] c_cols=4 c_rows=4
compute_preloaded a=sp[0] a_cols=4 a_rows=4 d=none
config_token wait=1 wait_id=3 count=1
mvin dram=0x80001020 local=sp[1024] local_cols=4 local_rows=4
preload b=sp[512] b_cols=4 b_rows=4 c=acc[0] c_cols=4 c_rows=4
compute_preloaded a=sp[1024] a_cols=4 a_rows=4 d=none
mvout dram=0x80003000 local=acc[0] local_cols=4 local_rows=4
"""
"""A load, the twelfth command when the loop is expanded, waits for a store that never comes."""

BUDGET = 300
"""Cycles after which `STUCK` is stopped."""


def product_options(
    simulator: str = "amaranth", shape: str = "13x9x10", issue: Issue = "stream", latency: int = 12
) -> RunOptions:
    """Of a product on `tiny`, in a memory that holds back."""
    return RunOptions(
        workload="matmul",
        details=Matmul(shape=shape),
        target=Target(
            simulator=simulator,
            preset="tiny",
            overrides=UNNORMALIZED,
            timing=MemoryTiming(latency=latency, stall_percent=20, seed=3),
            issue=issue,
        ),
        watching=Watching(log=True),
        told=Told(command_line=("celosia", "run", "matmul", "--shape", shape)),
    )


def product_run(simulator: str = "amaranth", issue: Issue = "stream") -> Report:
    """The product, on a device of its own."""
    return run_workload(product_options(simulator, issue=issue)).report


def amaranth_runs() -> tuple[Report, Report]:
    """The product, and then `STUCK`, on the same device: to make it takes most of the time."""
    options, config = product_options(), resolve_config("tiny", UNNORMALIZED)
    timing = options.target.timing
    program = parse_program(STUCK)
    (operator,) = matmul(Matmul(shape="13x9x10"), timing.seed)
    setting = setting_of(options, "tiny", config)
    with (
        closing(AmaranthLogDevice(Setup(config, timing, 1 << 20, silent))) as device,
        closing(open_device("functional", config, memory_bytes=1 << 20)) as model,
    ):
        product, _ = checked_product(device, operator, timing)
        device.limit_cycles(BUDGET)
        stuck = checked_program("stuck.cel", program, device, model)
    first, second = (
        Report(setting=setting, operators=(part,), elapsed_seconds=part.elapsed_seconds)
        for part in (product, stuck)
    )
    return first, second
