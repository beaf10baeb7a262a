"""What makes a combination of two matrices legal."""

from collections.abc import Iterator

from celosia.sw.ir.graph import Combination
from celosia.sw.planning.forms.stages import CombineStage
from celosia.sw.planning.rules.common import Rule, StageRules

__all__ = ["combine_rules"]


def combine_rules(stage: CombineStage, rules: StageRules, op: Combination) -> Iterator[Rule]:
    """The rules of a stage that combines matrices from memory."""
    yield from rules.block_rows(stage.rows, op.out.rows)
    yield "combine-tiles", stage.tiles > 0, f"{stage.tiles} tiles are none"
    if op.entry.rotates:
        across, dim = rules.tiles(op.out.cols), rules.machine.dim
        legal = stage.tiles >= across and op.out.cols == across * dim
        text = f"rows of {op.out.cols} columns are not whole tiles, at once in {stage.tiles}"
        yield "combine-halves", legal, text
    most = min(stage.tiles, rules.tiles(op.out.cols))
    roles = (stage.a, op.a), (stage.b, op.b), (stage.results, op.out)
    for ring, view in roles:
        taken = max(stage.rows) * rules.blocks(view, most)
        yield from rules.fits("combine-fits", ring, "scratchpad", taken)
    yield from rules.apart(*((ring,) for ring, _ in roles))
