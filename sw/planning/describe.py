"""The plan of a product in words."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from celosia.isa.config import AcceleratorConfig
from celosia.sw.planning.forms.plan import Plan, RingPlan, only_stage
from celosia.sw.planning.queues import loads_ahead

__all__ = ["describe_product"]


def describe_product(plan: Plan, config: AcceleratorConfig) -> Iterator[tuple[str, str]]:
    """What is decided about, and how, for a `plan` of one product."""
    stage = only_stage(plan)
    a, b, last = stage.a, stage.b, "+".join(map(str, stage.tail)) or "at once"
    blocks = f"rows {_runs(stage.rows)}, tiles {_runs(stage.tiles)}"
    yield "blocks", f"{blocks}, {stage.outer} outermost"
    pieces = f"pieces of {a.tiles} tiles (first {a.first})"
    yield "A", f"{pieces}, {_kept(a.keep)}, {_ring(plan.rings[a.ring])}"
    pieces = f"pieces of {b.k_tiles}x{b.n_tiles} tiles"
    yield "B", f"{pieces}, {_kept(b.keep)}, {_ring(plan.rings[b.ring])}"
    yield "C", f"{stage.drain.tiles} tiles leave together; last block: {last}"
    ahead = f"{loads_ahead(config)} loads ahead of their use"
    yield "double-buffered", f"accumulator, by halves; {ahead}"


def _kept(keep: bool) -> str:
    return "kept" if keep else "streamed"


def _ring(ring: RingPlan) -> str:
    spans = " and ".join(f"{first}..{first + rows - 1}" for first, rows in ring.spans)
    return f"rows {spans} of the {ring.space}"


def _runs(sizes: Sequence[int]) -> str:
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    return " + ".join(f"{count} x {size}" if count > 1 else f"{size}" for size, count in runs)
