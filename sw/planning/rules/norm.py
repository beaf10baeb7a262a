"""What makes a layer normalization legal."""

from collections.abc import Iterator
from typing import Final

from celosia.sw.ir.graph import LayerNorm
from celosia.sw.planning.forms.stages import NormPlan, NormStage
from celosia.sw.planning.rules.common import Rule, StageRules

__all__ = ["norm_rules", "norm_stage_rules"]

_PARAMETER_ROWS: Final = 4
"""Parameter rows for each tile of columns: gamma and beta, for half a tile each."""


def norm_stage_rules(stage: NormStage, rules: StageRules, op: LayerNorm) -> Iterator[Rule]:
    """The rules of a stage that normalizes rows from memory."""
    yield from rules.block_rows(stage.rows, op.source.rows)
    yield from norm_rules(stage.norm, op, max(stage.rows), rules)
    yield from rules.fits("slots-fit", stage.slots, "statistics", max(stage.rows))


def norm_rules(norm: NormPlan, op: LayerNorm, rows: int, rules: StageRules) -> Iterator[Rule]:
    """The rules of the normalization of blocks of so many rows."""
    parameters = [view for output in op.outputs for view in (output.gamma, output.beta)]
    yield from rules.given(parameters, inputs=False)
    yield "norm-tiles", norm.tiles > 0, f"{norm.tiles} tiles are none"
    most = min(norm.tiles, rules.tiles(op.source.cols))
    taken = rows * rules.blocks(op.source, most)
    yield from rules.fits("norm-source-fits", norm.source, "scratchpad", taken)
    legal = len(norm.results) == len(op.outputs)
    yield "norm-results", legal, f"rings {norm.results}, but {len(op.outputs)} outputs"
    for name, output in zip(norm.results, op.outputs, strict=True):
        taken = rows * rules.blocks(output.out, most)
        yield from rules.fits("norm-results-fit", name, "scratchpad", taken)
    taken = _PARAMETER_ROWS * most
    yield from rules.fits("affines-fit", norm.affines, "parameters", taken)
    yield from rules.apart((norm.source,), *((name,) for name in norm.results))
