"""A graph to its plan: how each group of operators is cut, and which rings it uses.

Guarantees a plan that `celosia.sw.planning.rules.verify` accepts, for every graph that it does not
refuse.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import AddResidual, Combination, Graph, LayerNorm, MatMul
from celosia.sw.ir.graphs.tensors import ELEMENT_BYTES
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_combine import decide_combine
from celosia.sw.planning.decisions.decide_heads import decide_heads
from celosia.sw.planning.decisions.decide_linear import decide_linear
from celosia.sw.planning.decisions.decide_norm import decide_norm
from celosia.sw.planning.decisions.decided import Decided
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.finish import beyond_stores
from celosia.sw.planning.forms.groups import Heads, Linear, groups
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.memory_map import (
    CACHED,
    FEW_ROWS,
    SEVERAL_ROWS,
    SEVERAL_TEXTS,
    Layout,
    MemoryMap,
)
from celosia.sw.planning.rules.verify import machine_of, verify_plan

__all__ = ["DECIDE", "decide_graph", "most_rows"]

DECIDE: Final[Mapping[type, Callable[[Any, Decided], Stage]]] = {
    Heads: decide_heads,
    Linear: decide_linear,
    LayerNorm: decide_norm,
    Combination: decide_combine,
}
"""What decides the stage of each kind of group of operators."""


def decide_graph(graph: Graph, config: AcceleratorConfig, choices: Choices = DEFAULT) -> Plan:
    """The plan of a verified `graph`, as far as `choices` leave anything to decide.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    for name, reason in () if config.normalization else beyond_stores(graph):
        raise ValueError(f"{name}: {reason}")
    layout = _layout(graph, config, choices)
    if layout is not None:
        with suppress(ValueError):  # Something does not fit there.
            return _planned(graph, MemoryMap(config, choices, layout))
    return _planned(graph, MemoryMap(config, choices))


def most_rows(graph: Graph) -> int:
    """The rows of the largest product; 0: there is none."""
    return max((op.out.rows for op in graph.ops if isinstance(op, MatMul)), default=0)


def _layout(graph: Graph, config: AcceleratorConfig, choices: Choices) -> Layout | None:
    """Where results may stay on the chip, if no product has too many rows for that.

    Graphs with caches have a layout of their own: by how wide their streams are.
    """
    rows = most_rows(graph)
    if 0 < rows <= config.dim:
        return _of_few_rows(graph, config, choices)
    several = rows and (choices.results_stay or rows <= 2 * config.dim)
    return SEVERAL_ROWS if several and not graph.appended else None


def _of_few_rows(graph: Graph, config: AcceleratorConfig, choices: Choices) -> Layout:
    """Where results stay of products that have no more rows than the array."""
    if not graph.appended:
        return FEW_ROWS
    adding = (op for op in graph.ops if isinstance(getattr(op, "finish", None), AddResidual))
    streams, size = (op.results[0] for op in adding), ELEMENT_BYTES["int16"]
    most = max((size * view.rows * tiles(view.cols, config.dim) for view in streams), default=0)
    room = MemoryMap(config, choices, CACHED).rows("wide")
    return CACHED if most <= room else SEVERAL_TEXTS


def _planned(graph: Graph, places: MemoryMap) -> Plan:
    config, choices = places.config, places.choices
    together = tuple(groups(graph, fused_norms=choices.fused_norms))
    decided = Decided(graph, places, together)
    plan = Plan(
        graph=graph.name,
        machine=machine_of(config),
        scheduler="need" if choices.schedule_loads else "regular",
        spare_tiles=choices.spare_tiles,
        defer=choices.overlap,
        rings=places.rings,
        stages=tuple(_decide(group)(group, decided) for group in together),
    )
    return verify_plan(plan, graph, config)


def _decide(group: object) -> Callable[[Any, Decided], Stage]:
    return next(decide for kind, decide in DECIDE.items() if isinstance(group, kind))
