"""What the cost model expects of a graph's program elsewhere."""

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import what_if
from celosia.sim.support.progress import silent
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sim.workloads.workloads import WORKLOADS, GraphWorkload
from celosia.sw.pipeline import compile_graph, predict_graph

CONFIG = PRESETS["tiny"]
LOST = {"workload": "attention", "counters": {"drain": 10_000_000}}
"""A run that has lost enough."""


def test_a_slow_memory_is_what_others_would_help_against():
    workload = WORKLOADS["attention"]
    assert isinstance(workload, GraphWorkload)
    job = workload.make(WorkloadOptions(heads=2, seq=16, dim=8), 0, silent)
    compiled = compile_graph(job.case.graph, CONFIG)
    slow = MemoryTiming(latency=400)
    before = predict_graph(compiled, CONFIG, slow).cycles
    changes = graph_changes(compiled, CONFIG, slow, before)
    assert {change.before for change in changes} == {before}
    best = max(changes, key=lambda change: change.saved)
    assert "latency" in best.what
    assert best.saved >= 200  # At least one way to memory is half as long.
    stored = [vars(change) for change in changes]
    told = what_if({"changes": stored, "operators": [LOST]})
    assert told[0] == best
    assert [change.saved for change in told] == sorted((c.saved for c in told), reverse=True)
