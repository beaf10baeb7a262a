"""What makes a stage of sums legal, and the normalization of its results."""

from collections.abc import Iterator

from celosia.sw.ir.graph import (
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    LayerNorm,
    MatMul,
    Softmax,
    Sums,
    Transform,
    View,
)
from celosia.sw.planning.forms.stages import LinearStage, SumsDrain
from celosia.sw.planning.rules.common import Rule, StageRules
from celosia.sw.planning.rules.norm import norm_rules

__all__ = ["drain_rules", "linear_rules"]


def linear_rules(
    stage: LinearStage, op: MatMul | Transform, norm: LayerNorm | None, rules: StageRules
) -> Iterator[Rule]:
    """The rules of a stage that computes `op`, and the normalization that it names, if any."""
    if isinstance(op.finish, DeferredSoftmax | DivideBySums):
        yield "kind", False, f"{op.finish} is one half of a head of attention"
    yield from rules.given([op.bias], inputs=True)
    yield from rules.block_rows(stage.rows, op.out.rows)
    yield from rules.cut("tiles", stage.tiles, rules.tiles(op.out.cols))
    yield from _operands(stage, op, rules)
    block = max(stage.rows) * max(stage.tiles)
    yield from rules.fits("sums-fit", stage.sums, "accumulator", block)
    yield from drain_rules(stage.drain, op, max(stage.rows), max(stage.tiles), rules)
    needed = isinstance(op.finish, Softmax) or norm is not None
    yield "slots", bool(stage.slots) == needed, f"slots {stage.slots!r}, but {op} and {norm}"
    if needed:
        yield from rules.fits("slots-fit", stage.slots, "statistics", max(stage.rows))
    yield from _norm(stage, op, norm, rules)
    if stage.w is not None:
        yield from rules.apart((stage.a,), (stage.w.ring,))
    if stage.drain.residuals:
        yield from rules.apart((stage.drain.results,), (stage.drain.residuals,))


def _operands(stage: LinearStage, op: MatMul | Transform, rules: StageRules) -> Iterator[Rule]:
    product = isinstance(op, MatMul)
    legal = bool(stage.a) == product == (stage.w is not None)
    yield "operands", legal, f"a {stage.a!r}, w {stage.w}, but the operator is {op}"
    if isinstance(op, MatMul) and stage.w is not None:
        yield from rules.pieces(stage.w, op.a.cols, transposed=op.b_transposed)
        yield from rules.pieces_of_a(stage.a, stage.w, op.a.cols, max(stage.rows))


def drain_rules(
    drain: SumsDrain,
    op: MatMul | Transform,
    rows: int,
    tiles: int,
    rules: StageRules,
    *,
    biased: bool = False,
) -> Iterator[Rule]:
    """The rules of a drain of blocks of so many rows and tiles of the sums of `op`.

    With `biased`, something else adds a bias that has passed the ring of parameters.
    """
    plain = isinstance(op.finish, Sums) and op.bias is None
    legal = plain == (drain.by == "mvout")
    yield "drain", legal, f"{drain.by} is not how {op} is finished"
    names = (drain.results, drain.parameters, drain.residuals)
    if plain:
        yield "drain", not any(names), f"mvout takes no rings, but {names} are given"
        return
    yield "drain-tiles", drain.tiles > 0, f"{drain.tiles} tiles are none"
    most = min(drain.tiles, tiles)
    results = rows * rules.blocks(op.out, most)
    yield from rules.fits("results-fit", drain.results, "scratchpad", results)
    kinds = (op.bias is not None) + isinstance(getattr(op.finish, "scale", None), View)
    legal = bool(drain.parameters) == bool(kinds or biased)
    yield "parameters", legal, f"ring {drain.parameters!r}, but {kinds} kinds of parameters"
    yield from rules.parameters(drain.parameters, kinds, most)
    added = isinstance(op.finish, AddResidual)
    legal = bool(drain.residuals) == added
    yield "residuals", legal, f"ring {drain.residuals!r}, but the finish is {op.finish}"
    if isinstance(op.finish, AddResidual):
        count = rows * rules.blocks(op.finish.residual, most)
        yield from rules.fits("residuals-fit", drain.residuals, "scratchpad", count)


def _norm(
    stage: LinearStage, op: MatMul | Transform, norm: LayerNorm | None, rules: StageRules
) -> Iterator[Rule]:
    if norm is None or stage.norm is None:
        yield "tail", not stage.tail, f"{stage.tail}, but nothing is normalized"
        return
    fused = isinstance(op.finish, AddResidual) and norm.source == op.out
    yield "norm", fused, f"{norm} does not normalize the sums of {op} and a residual"
    yield from norm_rules(stage.norm, norm, max(stage.rows), rules)
    if stage.tail:
        yield from rules.cut("tail", tuple(part.rows for part in stage.tail), stage.rows[-1])
    for part in stage.tail:
        other = part.source or stage.norm.source
        yield from norm_rules(stage.norm, norm, part.rows, rules, tiles=part.tiles, source=other)
