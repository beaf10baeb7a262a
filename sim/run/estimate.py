"""How long a run is expected to take, from the cycles that the cost model predicts."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.probe import product_tiles
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of

__all__ = ["LONG", "announce_products", "compiling_text", "estimate_text"]

LONG: Final = 60
"""Seconds from which on an estimate is worth a line."""
CYCLES_PER_SECOND: Final = {"verilator": 700_000, "amaranth": 300}
"""Simulated cycles per second of processor time, about: measured with `base` in Verilator and with
`tiny` in Amaranth's simulator."""
LONG_COMPILING: Final = 10
"""Seconds from which on it is said how long compiling takes."""
GRAPH_TILES_PER_SECOND: Final = 12_000
"""Tiles of a graph's products that are planned, scheduled and encoded in a second, about."""
TILES_PER_SECOND: Final = 150_000
"""Products of tiles that are compiled in a second, about."""


def estimate_text(simulator: str, cycles: int, tiles: int = 0) -> str | None:
    """What to say before a run of so many cycles; None: it is short, or has no clock.

    `tiles` are the products of tiles that have to be compiled yet.
    """
    if simulator not in CYCLES_PER_SECOND:
        return None
    rate = CYCLES_PER_SECOND[simulator]
    seconds = cycles / rate + tiles / TILES_PER_SECOND
    if seconds < LONG:
        return None
    minutes = seconds / 60
    length = f"{minutes:,.0f} minutes" if minutes < 120 else f"{minutes / 60:,.0f} hours"
    return (
        f"this takes about {length}: {cycles:,} cycles are predicted, at about {rate:,} per second"
    )


def compiling_text(graph: Graph, config: AcceleratorConfig, name: str = "") -> str:
    """What to say while `graph` is compiled: with about how long that takes, if it is long."""
    what = f"compiling {name}".rstrip()
    length = compiling_time([graph], config)
    return f"{what}, which takes about {length}" if length else what


def compiling_time(
    graphs: Iterable[Graph], config: AcceleratorConfig, *, times: int = 1
) -> str | None:
    """How long compiling `graphs` so many times takes, in words; None: it is not long."""
    tiles = times * sum(product_tiles(each, config) for each in graphs)
    seconds = tiles / GRAPH_TILES_PER_SECOND
    if seconds < LONG_COMPILING:
        return None
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} minutes"


def announce_products(
    say: Callable[[str], None],
    simulator: str,
    problems: Sequence[MatMul],
    config: AcceleratorConfig,
    timing: MemoryTiming,
) -> int:
    """Say how long `problems` take, one after the other, if that is long; the cycles of all."""
    cycles = tiles = 0
    for problem in problems:
        try:
            graph = graph_of("matmul", problem)
            stage = only_stage(decide(graph, config, timing))
        except ValueError:
            continue  # Whoever compiles it says why.
        prediction = predict_stage(only_product(graph), graph, config, stage, timing)
        cycles += prediction.cycles
        tiles += prediction.array_cycles // max(*stage.rows, config.dim)
    if text := estimate_text(simulator, cycles, tiles):
        say(text)
    return cycles
