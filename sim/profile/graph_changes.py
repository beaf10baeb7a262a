"""What the cost model expects of a graph's program on other memories and with deeper queues."""

from collections.abc import Iterator
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.memory import MemoryTiming
from celosia.isa.registers.queues import QUEUES
from celosia.sim.profile.whatif import DEEPER_QUEUES, Change
from celosia.sw.pipeline import CompiledGraph, predict_graph

__all__ = ["graph_changes"]


def graph_changes(
    compiled: CompiledGraph, config: AcceleratorConfig, timing: MemoryTiming, before: int
) -> tuple[Change, ...]:
    """Cycles that the same program would save, `before` being what is expected of it as it is."""
    return tuple(
        Change(what, before - predict_graph(compiled, other, memory).cycles, before)
        for what, other, memory in _candidates(config, timing)
    )


def _candidates(
    config: AcceleratorConfig, timing: MemoryTiming
) -> Iterator[tuple[str, AcceleratorConfig, MemoryTiming]]:
    latency, rate = max(1, timing.latency // 2), 2 * timing.bytes_per_cycle
    yield f"memory of half the latency, {latency}", config, replace(timing, latency=latency)
    deeper = {f"{name}_queue": 2 * getattr(config, f"{name}_queue") for name in QUEUES}
    for what, values, memory in (
        (
            f"memory of {rate} bytes per cycle",
            {"bus_bits": max(config.bus_bits, 8 * rate)},
            replace(timing, bytes_per_cycle=rate),
        ),
        (f"twice the requests in flight, {2 * config.read_requests}", _requests(config), timing),
        (DEEPER_QUEUES, deeper, timing),
    ):
        try:
            yield what, config.with_values(values), memory
        except ConfigError:
            continue  # There is no such accelerator.


def _requests(config: AcceleratorConfig) -> dict[str, int]:
    return {name: 2 * getattr(config, name) for name in ("read_requests", "write_requests")}
