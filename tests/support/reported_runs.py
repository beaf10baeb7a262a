"""Small runs whose instructions are followed."""

from celosia.sim.report import Report
from celosia.sim.run import RunOptions, run_workload
from celosia.sim.workload_options import WorkloadOptions
from celosia.sw.driver.device import Issue, MemoryTiming

__all__ = ["product_run"]


def product_run(
    simulator: str = "amaranth", shape: str = "13x9x22", issue: Issue = "stream", latency: int = 12
) -> Report:
    """A product on `tiny`, in a memory that holds back."""
    return run_workload(
        RunOptions(
            workload="matmul",
            simulator=simulator,
            preset="tiny",
            details=WorkloadOptions(shape=shape),
            timing=MemoryTiming(latency=latency, stall_percent=20, seed=3),
            issue=issue,
            log=True,
            command_line=("celosia", "run", "matmul", "--shape", shape),
        )
    ).report
