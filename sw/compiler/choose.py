"""The choices of a graph, by predicted cycles: one after the other, from the defaults on.

Each prediction follows a program of the whole graph, or of a probe, so that few can be compared:
unlike those of a product (`celosia.sw.planning.decisions.decide`), of which a rougher model ranks
all combinations.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.descent import PlanCosts, descended
from celosia.sw.compiler.passes import planned
from celosia.sw.compiler.probe import is_much_of, probe_graph, product_tiles
from celosia.sw.compiler.scores import choose_scores
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph, most_rows
from celosia.sw.planning.forms.plan import head_groups
from celosia.sw.timeline.graphs import GraphCycles

__all__ = ["choices_by_rows", "choose", "searched_choices"]

SEARCHED_TILES: Final = 8_192
"""Graphs whose probe has more products of tiles take the default choices: they are long ones."""
GAIN: Final = 0.01
"""An alternative must be better by this share: predictions have errors, too."""
_SEARCHED: Final = ("piece_tiles", "block_tiles", "fused_norms", "overlap", "spare_tiles")
"""Choices that depend on sizes; two pieces of weights are 32 tiles of spare."""
_BLOCKS: Final = (4, 2)
"""Blocks that are compared with each order of loads, and with results that stay or do not."""


def choose(
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None = None,
    known: dict[Hashable, GraphCycles] | None = None,
) -> Choices:
    """The choices with which `graph` is expected to be fastest, one after the other.

    Where scores wait is compared for heads alone (`celosia.sw.compiler.scores`).  Of all else, only
    a probe is looked at, and if that is long, not even its cycles: the defaults are made for these.
    Programs of `graph` itself that are followed join `known`, as `predict` has them.
    """
    probe = probe_graph(graph, config)
    if is_much_of(probe, graph, config):
        probe = graph
    chosen = choose_scores(graph, config, timing, choices_by_rows(graph, config), GAIN)
    if product_tiles(probe, config) > SEARCHED_TILES:
        return chosen
    if probe is not graph and _spills(graph, config, chosen):
        return chosen

    # Results of few rows may stay where those of all have no room.
    first = _together if most_rows(probe) == most_rows(graph) else None
    known = known if probe is graph else None
    return searched_choices(
        probe, config, timing, chosen, _SEARCHED, first=first, gain=GAIN, known=known
    )


def searched_choices(
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None,
    start: Choices,
    names: Sequence[str],
    *,
    first: Callable[[Choices], Iterator[Choices]] | None = None,
    gain: float = 0.0,
    known: dict[Hashable, GraphCycles] | None = None,
) -> Choices:
    """The best by predicted cycles of what choices of these `names` lead to from `start`.

    `first`: a decision that comes before those of one choice each; `known`: as `predict` has them.
    """
    cost = PlanCosts(graph, config, timing)
    if known is not None:
        cost = replace(cost, programs=known)

    def cycles(choices: Choices) -> int | None:
        with suppress(ValueError):
            return cost(planned(graph, config, choices))
        return None

    decisions = [partial(_others, name) for name in names]
    return descended(start, [first, *decisions] if first else decisions, cycles, gain=gain)


def _together(choices: Choices) -> Iterator[Choices]:
    """Alternatives of what pays in one way with small blocks, and in another with large ones."""
    for stay, need, block in product((False, True), (False, True), _BLOCKS):
        yield replace(choices, results_stay=stay, schedule_loads=need, block_tiles=block)


def _others(name: str, choices: Choices) -> Iterator[Choices]:
    """All alternatives to one of `choices`."""
    yield from (others for other, _, others in choices.others() if other == name)


def choices_by_rows(graph: Graph, config: AcceleratorConfig) -> Choices:
    """The choices of long graphs, by rows that stream through each tile; a search begins with them.

    With no more than the array has, a tile serves for no longer than its load takes: loads set the
    pace.  With no more than twice as many, a load that waits for stores may still hold up weights.
    """
    rows = most_rows(graph)
    return replace(DEFAULT, schedule_loads=0 < rows <= 2 * config.dim)


def _spills(graph: Graph, config: AcceleratorConfig, choices: Choices) -> bool:
    """Whether scores of `graph` wait in memory, which those of a probe with few rows never do."""
    with suppress(ValueError):
        plan = decide_graph(graph, config, choices)
        return any(group.spill is not None for group in head_groups(plan))
    return False
