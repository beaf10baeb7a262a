"""What standard workloads take on a configuration, without a run."""

from collections.abc import Mapping
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.export.silicon.timing.times import Workload
from celosia.sim.run.graph_run import compile_for
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.workloads import details_for

__all__ = ["WORKLOADS", "predict_standard"]

WORKLOADS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "BERT-base layer, l = 128": ("encoder-layer", {"model": "bert-base", "seq": 128}),
    "GPT-2 small layer, a step behind 128 tokens": (
        "decoder-layer",
        {"model": "gpt2-small", "context": "128"},
    ),
    "product of 512x768x768": ("matmul", {"shape": "512x768x768"}),
}
"""What people compare accelerators by: prefill, decoding, and a product alone."""


def predict_standard(config: AcceleratorConfig, tell: Progress) -> list[Workload]:
    """The cycles of each of `WORKLOADS` that `config` can compute, with memory's defaults."""
    timing = MemoryTiming()
    target = Target(timing=timing).on(config)
    found = []
    for name, (workload, details) in WORKLOADS.items():
        tell(f"predicting {name}", None)
        options = RunOptions(
            workload=workload, details=details_for(workload, dict(details)), target=target
        )
        try:
            graphs = options.job(tell).graphs
            compiled = [compile_for(graph, config, timing) for graph in graphs]
        except InputError:
            continue
        found.append(Workload(name, sum(each.expected(timing).cycles for each in compiled)))
    return found
