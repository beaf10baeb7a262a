"""What the cost model expects of a graph's program elsewhere."""

from dataclasses import replace

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.profile import graph_changes as module
from celosia.sim.profile.graph_changes import graph_changes
from celosia.sim.profile.whatif import Hardware, what_if
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Attention, Softmax
from celosia.sim.workloads.workload_kinds import GraphWorkload
from celosia.sim.workloads.workloads import WORKLOADS
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph

CONFIG = PRESETS["tiny"]
LOST = {"workload": "attention", "counters": {"drain": 10_000_000}}
"""A run that has lost enough."""


def test_a_slow_memory_is_what_others_would_help_against():
    workload = WORKLOADS["attention"]
    assert isinstance(workload, GraphWorkload)
    job = workload.make(Attention(heads=2, seq=16, dim=8), 0, silent)
    compiled = compile_graph(job.case.graph, CONFIG)
    slow = MemoryTiming(latency=400)
    before = compiled.expected(slow).cycles
    said = []
    hardware = Hardware(CONFIG, slow)
    changes = graph_changes(job.graphs, hardware, before, lambda *what: said.append(what))
    assert len(said) >= len(changes) > 1
    text = "the run is over; compiling for other hardware, to see what it would save (1 of 7)"
    assert said[0] == (text, 0)
    assert {change.before for change in changes} == {before}
    best = max(changes, key=lambda change: change.saved)
    assert "latency" in best.what
    assert best.saved >= 200  # At least one way to memory is half as long.
    stored = [vars(change) for change in changes]
    told = what_if({"changes": stored, "operators": [LOST]})
    assert told
    assert told[0] == best
    assert best.options == ("--mem-latency", "200")


def test_graphs_that_are_alike_are_compiled_once(monkeypatch):
    """Each counts as often as it is there."""
    workload = WORKLOADS["softmax"]
    assert isinstance(workload, GraphWorkload)
    one, alike, other = (
        workload.make(Softmax(shape=shape), seed, silent).case.graph
        for shape, seed in (("16x48", 0), ("16x48", 1), ("8x48", 0))
    )
    compiled, hardware = [], Hardware(CONFIG, MemoryTiming())
    find = module.find_plan
    monkeypatch.setattr(module, "find_plan", lambda *what: compiled.append(what[0]) or find(*what))
    apart = [graph_changes([each], hardware, 0) for each in (one, other)]
    together = graph_changes([one, other, alike], hardware, 0)
    assert [compiled.count(each) for each in (one, other, alike)] == [14, 14, 0]
    assert [each.saved for each in together] == [
        2 * first.saved + second.saved for first, second in zip(*apart, strict=True)
    ]


def test_a_change_is_compiled_for_as_it_is_when_somebody_follows_it():
    """With half the latency, other choices are made; what is expected is of those."""
    workload = WORKLOADS["softmax"]
    assert isinstance(workload, GraphWorkload)
    graph = workload.make(Softmax(shape="16x48"), 0, silent).case.graph
    timing = MemoryTiming()
    for change in graph_changes([graph], Hardware(CONFIG, timing), 10_000):
        config = resolve_config("tiny", change.options[1::2] if "--set" in change.options else ())
        latency = 20 if "--mem-latency" in change.options else 40
        other = replace(timing, latency=latency)
        compiled = compile_graph(graph, config, Decide(choose(graph, config, other)))
        assert 10_000 - change.saved == compiled.expected(other).cycles
