"""Plans in words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.forms.plan import Plan, RingPlan, head_groups, only_stage, simple_stages
from celosia.sw.planning.forms.stages import HeadGroup, LinearStage, NormStage
from celosia.sw.planning.queues import loads_ahead

__all__ = ["describe_graph", "describe_product"]

_RINGS: Final = {
    "weights": "weights",
    "activations": "activations",
    "bytes": "results of bytes",
    "wide": "wide results",
    "normalized": "normalized results",
    "residuals": "residuals",
    "added": "sums to normalize",
    "words": "int16 from memory",
    "columns": "biases and scales",
    "affines": "gamma and beta",
}
"""What is in the rings that operators share."""


def describe_product(plan: Plan, config: AcceleratorConfig) -> Iterator[tuple[str, str]]:
    """What is decided about, and how, for a `plan` of one product."""
    stage = only_stage(plan)
    a, w, last = stage.a, stage.w, "+".join(map(str, stage.parts)) or "at once"
    blocks = f"rows {_runs(stage.rows)}, tiles {_runs(stage.tiles)}"
    yield "blocks", f"{blocks}, {stage.outer} outermost"
    pieces = f"pieces of {a.tiles or w.k_tiles} tiles (first {a.first or a.tiles or w.k_tiles})"
    yield "A", f"{pieces}, {_kept(a.keep)}, {_ring(plan.rings[a.ring])}"
    pieces = f"pieces of {w.k_tiles}x{w.columns} tiles"
    yield "B", f"{pieces}, {_kept(w.keep)}, {_ring(plan.rings[w.ring])}"
    yield "C", f"{stage.drain.tiles} tiles leave together; last block: {last}"
    ahead = f"{loads_ahead(config)} loads ahead of their use"
    yield "double-buffered", f"accumulator, by halves; {ahead}"


def describe_graph(plan: Plan, graph: Graph) -> Iterator[tuple[str, str]]:
    """What is decided about, and how, for the `plan` of a `graph` of stages with transforms."""
    ops = {op.name: op for op in graph.ops if isinstance(op, MatMul)}
    groups = [*head_groups(plan)]
    stages = [stage for stage in simple_stages(plan) if isinstance(stage, LinearStage | NormStage)]
    yield "block rows", str(max(max(each.rows) for each in (*groups, *stages)))
    for value in dict.fromkeys(_heads(group, ops) for group in groups):
        yield "heads", value
    for name, text in _RINGS.items():
        if ring := plan.rings.get(name):
            turns = f", in {len(ring.spans)} banks by turns" if len(ring.spans) > 1 else ""
            yield f"ring of {text}", f"{ring.least} rows of the {ring.space}{turns}"


def _heads(group: HeadGroup, ops: Mapping[str, MatMul]) -> str:
    scores, context = (ops[name] for name in group.heads[0])
    shape = f"{scores.out.rows} queries and {scores.out.cols} keys of {scores.a.cols}"
    keys = "all scores of a block at once"
    if len(group.keys) > 1:
        back = "once again" if group.spill is None else "back from memory, where they wait as int16"
        keys = f"scores of {max(group.keys)} keys at a time, for the maximum and {back}"
    streams = group.k.ring == group.v.ring
    stay = "are streamed for each block" if streams else "stay until the next head"
    return (
        f"{shape}, values of {context.out.cols}: blocks of up to {max(group.rows)} rows; {keys}; "
        f"keys and values {stay}"
    )


def _kept(keep: bool) -> str:
    return "kept" if keep else "streamed"


def _ring(ring: RingPlan) -> str:
    spans = " and ".join(f"{first}..{first + rows - 1}" for first, rows in ring.spans)
    return f"rows {spans} of the {ring.space}"


def _runs(sizes: Sequence[int]) -> str:
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    return " + ".join(f"{count} x {size}" if count > 1 else f"{size}" for size, count in runs)
